import {
  type AccessCause,
  type AccessChange,
  accessChanges,
  type GroupChange,
  type ImpactRow,
} from "./access-change.ts"
import { Graph } from "./graph/graph.ts"
import { AccessCauses } from "./impact/access-causes.ts"
import { DifferenceCandidates } from "./impact/candidates.ts"
import { CauseSummary } from "./impact/cause-summary.ts"
import { DecisionGraph } from "./impact/decision-graph.ts"
import { Differences, type RelationCounts } from "./impact/differences.ts"
import { IntBuffer } from "./impact/int-buffer.ts"
import { NamedSets } from "./impact/named-sets.ts"
import { PairedProgram } from "./impact/paired-program.ts"
import { type GraphTerms, PlanNodes } from "./impact/plan-nodes.ts"
import { type AccessSample, sampleOf } from "./impact/sample-proofs.ts"
import { type TupleShapeChange, tupleShapeChanges } from "./impact/tuple-changes.ts"
import type { LoadedModel } from "./loaded-model.ts"
import type { PackedRows } from "./ports.ts"

/** DifferenceCandidates that are added before the memory is measured again. */
const candidatesAtOnce = 512
const memoryBytesDefault = 1_000_000_000
/** Memory for the users of one batch. */
const batchBytesMax = 128 * 1024 * 1024

/** All tuples of a store at one commit, in memory. Nothing changes it once it is loaded. */
export class ImpactTuples {
  readonly graph = new Graph()

  /** Takes rows of a load; call it until all have been taken. */
  load(rows: PackedRows): void {
    for (let at = 0; at < rows.length; ) at = this.graph.loadRows(rows, at, Number.POSITIVE_INFINITY)
  }

  /** Ends the load; yields every few milliseconds. */
  *finish(): Generator<void> {
    yield* this.graph.finishLoad()
  }

  get count(): number {
    return this.graph.tuples
  }

  get bytes(): number {
    return this.graph.bytes
  }
}

/** A change of a model over the tuples of a store. */
export interface ImpactTerms {
  readonly tuples: ImpactTuples
  readonly before: LoadedModel
  readonly after: LoadedModel
  /** Values for conditions. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Memory for the comparison, without the tuples (default: 1 GB). What does not fit is not compared: `sample` tells how much was. */
  readonly memoryBytes?: number | undefined
  /** Maximum number of hops of a check (default: 25). */
  readonly depthMax?: number | undefined
  /** Samples of each relation and kind of change (default: 3). */
  readonly samplesMax?: number | undefined
  /** Gets every row; without it only samples are made. */
  readonly onRow?: ((row: ImpactRow) => void) | undefined
}

/** What a comparison does at the moment. `part` of this phase is done, from 0 to 1. */
export interface ImpactProgress {
  readonly phase: "objects" | "decisions" | "users" | "samples"
  readonly part: number
}

/** How the access by one relation changes. */
export interface RelationImpact {
  /** `doc#viewer`. */
  readonly relation: string
  /** The models that have the relation. */
  readonly in: "both" | "before" | "after"
  /** Objects on which somebody's access changes. */
  readonly objects: number
  /** Named users times objects, by kind of change. Whom `everyone` counts is not counted here. */
  readonly users: Readonly<Record<AccessChange, number>>
  /** The same for sets that tuples name (`group:eng#member`), as users of a check. */
  readonly sets: Readonly<Record<AccessChange, number>>
  /** Objects on which everybody of a type has a change, by type (sorted) and kind of change. */
  readonly everyone: readonly {
    readonly type: string
    readonly change: AccessChange
    readonly objects: number
  }[]
  /** Sets of users that change as a whole, the greatest first; at most five of each kind of change. */
  readonly groups: readonly GroupChange[]
  /** Named users times objects that a change of everybody does not concern. */
  readonly exceptions: number
  /** Conditions that decide the changes that are not certain, sorted. */
  readonly conditions: readonly string[]
  /** Objects of which a check may take more hops than it may, and fail. */
  readonly deep: number
  readonly samples: readonly AccessSample[]
}

/** What a change of a model means for the users of a store. */
export interface AccessImpact {
  /** By name; only relations by which somebody's access changes. */
  readonly relations: readonly RelationImpact[]
  /** Number of different named users with each kind of change. */
  readonly users: Readonly<Record<AccessChange, number>>
  /** Number of different objects with a change. */
  readonly objects: number
  /** Objects and relations that were compared; fewer than `candidates` if the memory was not enough. */
  readonly compared: number
  /** Objects and relations that the change may concern. */
  readonly candidates: number
  /** What most of the changes come from, the greatest first; at most ten. */
  readonly causes: readonly AccessCause[]
  /** Stored tuples that only one of the models allows, the most first. */
  readonly tuples: readonly TupleShapeChange[]
  /** Nodes that decide them. */
  readonly nodes: number
  /** Memory used, in bytes, without the tuples. */
  readonly bytes: number
}

/**
 * Computes who gains or loses which relation on which object when a store's model changes, for all users: those that tuples name, the sets
 * (`group:eng#member`) that they name, and everybody else of a type. Yields every few milliseconds.
 *
 * Only what the change can concern is compared: from the objects that have tuples in a part of a plan that differs, along all hops that
 * lead to them. All that decides these is one graph over both models, in which equal decisions are one node; so most of them are known to
 * be equal without any user. Users are decided many at once, one bit each.
 */
export function* accessImpact(terms: ImpactTerms): Generator<ImpactProgress, AccessImpact> {
  const { tuples, before, after, context, memoryBytes = memoryBytesDefault } = terms
  const { graph } = tuples
  const program = new PairedProgram(graph, before, after)
  const sets = new NamedSets()
  for (const _ of sets.read(graph, program)) yield { phase: "objects", part: 0 }
  const candidates = new DifferenceCandidates(graph, program, sets)
  for (const _ of candidates.find()) yield { phase: "objects", part: 0 }
  const { count } = candidates
  const questions = { graph, program, candidates, sets, context }
  const chosen = yield* chooseCandidates(questions, memoryBytes - batchBytesMax)
  const decisions = new DecisionGraph(questions, chosen.plans)
  for (const _ of decisions.build()) yield { phase: "decisions", part: 0.5 }
  const relationNames = program.relations.map(({ name }) => name)
  const { depthMax = 25, samplesMax = 3, onRow } = terms
  const kinds = accessChanges.length
  const causes = new AccessCauses({ graph, program, candidates, decisions, kinds })
  const differences = new Differences({
    ...{ graph, candidates, decisions, causes, relationNames, batchBytesMax, depthMax, samplesMax, onRow },
  })
  for (let at = 0; at < chosen.numbers.length; at++) {
    if (at % candidatesAtOnce === 0) yield { phase: "decisions", part: 1 }
    const [old, next] = [chosen.roots.array[2 * at] as number, chosen.roots.array[2 * at + 1] as number]
    differences.add(chosen.numbers.array[at] as number, decisions.finalOf(old), decisions.finalOf(next))
  }
  const pairOf = differences.pairOfCandidates()
  for (const _ of causes.choose(pairOf, differences.pairs)) yield { phase: "decisions", part: 1 }
  chosen.plans.forget()
  for (const part of differences.count()) yield { phase: "users", part }
  const shapes = tupleShapeChanges(graph, before, after, program.pair.changedConditions)
  let shape = shapes.next()
  for (; shape.done !== true; shape = shapes.next()) yield { phase: "samples", part: 0 }
  const summary = new CauseSummary({ graph, program, candidates, causes, pairOf, pairs: differences.pairs })
  for (const _ of summary.sum()) yield { phase: "samples", part: 0 }
  const sampleTerms = { graph, models: [before, after] as const, context, depthMax }
  const samples = yield* samplesOf(differences, summary, samplesMax, (row) => sampleOf(row, sampleTerms))
  return {
    relations: relationsOf(program, differences, samples, {
      conditions: decisions.conditions,
      ...{ graph, summary },
    }),
    causes: summary.causes,
    tuples: shape.value,
    users: byChange(differences.distinctUsers),
    objects: differences.objects,
    compared: chosen.numbers.length,
    candidates: count,
    nodes: decisions.count,
    bytes: decisions.bytes + differences.bytes + causes.bytes,
  }
}

/** All candidates, or a sample that is spread over the whole store, with a reserve because objects differ. */
function* chooseCandidates(
  terms: GraphTerms,
  memoryMax: number,
): Generator<ImpactProgress, ChosenCandidates> {
  const all = new ChosenCandidates(terms, 1)
  yield* all.add(memoryMax)
  if (!all.isCut) return all
  const some = new ChosenCandidates(terms, Math.ceil((1.25 * terms.candidates.count) / all.numbers.length))
  yield* some.add(memoryMax)
  return some
}

/** Examples of each relation with their proofs. */
function* samplesOf(
  { byRelation }: Differences,
  summary: CauseSummary,
  samplesMax: number,
  prove: (row: ImpactRow) => AccessSample,
): Generator<ImpactProgress, Map<number, AccessSample[]>> {
  const samples = new Map<number, AccessSample[]>()
  for (const [relation, counts] of byRelation) {
    const found: AccessSample[] = []
    samples.set(relation, found)
    for (const { row, group } of summary.samplesOf(relation, counts.samples, samplesMax)) {
      found.push({ ...prove(row), ...(group === undefined ? {} : { group }) })
      yield { phase: "samples", part: 0.5 }
    }
  }
  return samples
}

/** The candidates that are compared: all of them, or every n-th. */
class ChosenCandidates {
  readonly plans: PlanNodes
  /** The numbers of the candidates. */
  readonly numbers = new IntBuffer()
  /** For each, its node of the plan in the old model and in the new one. */
  readonly roots = new IntBuffer()
  /** There was not enough memory for all of them. */
  isCut = false
  readonly #terms: GraphTerms
  readonly #step: number

  constructor(terms: GraphTerms, step: number) {
    this.#terms = terms
    this.#step = step
    this.plans = new PlanNodes(terms)
  }

  /** Adds them, with all that decides them, until this memory is full. */
  *add(bytesMax: number): Generator<ImpactProgress> {
    const { plans, numbers, roots } = this
    const { candidates } = this.#terms
    const { array } = candidates.nodes
    for (let candidate = 0; candidate < candidates.count; candidate += this.#step) {
      const [object, relation] = [array[2 * candidate] as number, array[2 * candidate + 1] as number]
      numbers.push(candidate)
      for (const side of [0, 1] as const) roots.push(plans.rootOf(object, relation, side))
      if (numbers.length % candidatesAtOnce !== 0) continue
      const progress = { phase: "decisions", part: candidate / candidates.count / 2 } as const
      for (const _ of plans.expand()) yield progress
      yield progress
      this.isCut = plans.bytes > bytesMax
      if (this.isCut) return
    }
    for (const _ of plans.expand()) yield { phase: "decisions", part: 0.5 }
  }
}

interface RelationTerms {
  readonly conditions: readonly string[]
  readonly graph: Graph
  readonly summary: CauseSummary
}

function relationsOf(
  program: PairedProgram,
  { byRelation }: Differences,
  samples: ReadonlyMap<number, readonly AccessSample[]>,
  { conditions, graph, summary }: RelationTerms,
): RelationImpact[] {
  return program.relations.flatMap(({ number, name, sides }) => {
    const counts = byRelation.get(number)
    if (counts === undefined || counts.objects === 0) return []
    return [
      {
        relation: name,
        in: sides[0] === undefined ? "after" : sides[1] === undefined ? "before" : "both",
        objects: counts.objects,
        users: byChange(counts.users),
        sets: byChange(counts.sets),
        everyone: everyoneOf(counts, graph),
        groups: summary.groupsOf(number),
        exceptions: counts.exceptions,
        conditions: conditions.filter((_, at) => (counts.conditions & (1 << Math.min(at, 30))) !== 0).sort(),
        deep: counts.deep,
        samples: samples.get(number) ?? [],
      } as const,
    ]
  })
}

function everyoneOf({ everyone }: RelationCounts, graph: Graph): RelationImpact["everyone"] {
  const found = [...everyone].flatMap(([type, counts]) =>
    counts.flatMap((objects, kind) => {
      const change = accessChanges[kind]
      return objects === 0 || change === undefined ? [] : [{ type: graph.typeName(type), change, objects }]
    }),
  )
  // By name: the numbers of types depend on the tuples that were read first.
  return found.sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0))
}

function byChange(counts: readonly number[]): Record<AccessChange, number> {
  return Object.fromEntries(accessChanges.map((change, kind) => [change, counts[kind] ?? 0])) as Record<
    AccessChange,
    number
  >
}
