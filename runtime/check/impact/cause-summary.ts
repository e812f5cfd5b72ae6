import {
  type AccessCause,
  type AccessChange,
  accessChanges,
  type GroupChange,
  type ImpactRow,
  type UserGroup,
} from "../access-change.ts"
import type { Graph } from "../graph/graph.ts"
import type { AccessCauses, CountedCause } from "./access-causes.ts"
import type { DifferenceCandidates } from "./candidates.ts"
import type { CausedRow } from "./differences.ts"
import type { PairedProgram } from "./paired-program.ts"

const causesMax = 10
/** Groups of each relation and kind of change. */
const groupsMax = 5
const kinds = accessChanges.length

interface SummaryTerms {
  readonly graph: Graph
  readonly program: PairedProgram
  readonly candidates: DifferenceCandidates
  readonly causes: AccessCauses
  /** By candidate: its pair, or -1. */
  readonly pairOf: Int32Array
  readonly pairs: number
}

/** A group, the objects on which it changes, and a row of one of its users. */
interface FoundGroup {
  readonly cause: CountedCause
  readonly change: AccessChange
  readonly set: string
  readonly row: ImpactRow
  objects: number
}

/** A row to show, and the group for which it stands. */
export interface GroupedRow {
  readonly row: ImpactRow
  readonly group?: UserGroup | undefined
}

/** What the counted causes say about the differences. */
export class CauseSummary {
  causes: readonly AccessCause[] = []
  readonly #terms: SummaryTerms
  /** By relation. */
  readonly #groups = new Map<number, FoundGroup[]>()

  constructor(terms: SummaryTerms) {
    this.#terms = terms
  }

  /** Yields now and then. */
  *sum(): Generator<void> {
    const { causes } = this.#terms
    const entryOf = new Int32Array(this.#terms.pairs)
    this.causes = yield* this.#causes(entryOf)
    const bySet = new Map<string, number[]>()
    for (const [number, cause] of causes.counted.entries()) {
      if (!isGroup(cause)) continue
      const key = `${cause.subject} ${cause.part.relation} ${cause.part.side}`
      bySet.set(key, [...(bySet.get(key) ?? []), number])
    }
    for (const numbers of bySet.values()) yield* this.#findGroups(numbers, entryOf)
    for (const [relation, groups] of this.#groups) {
      groups.sort((a, b) => b.cause.users * b.objects - a.cause.users * a.objects)
      // A set may have other users under the other model.
      const isFirst = ({ set, change }: FoundGroup, at: number) =>
        groups.findIndex((each) => each.set === set && each.change === change) === at
      this.#groups.set(relation, groups.filter(isFirst))
    }
  }

  /** The groups of a relation. */
  groupsOf(relation: number): GroupChange[] {
    const groups = this.#groups.get(relation) ?? []
    return accessChanges.flatMap((change) =>
      groups
        .filter((group) => group.change === change)
        .slice(0, groupsMax)
        .map(({ set, cause: { users }, objects }) => ({ set, users, change, objects })),
    )
  }

  /** Rows to show of a relation: one for each group, then those of users in none, or of sets if no user changes; at most `max` of each kind. */
  samplesOf(relation: number, all: readonly CausedRow[], max: number): GroupedRow[] {
    const isSet = ({ row: { user } }: CausedRow) => user.includes("#")
    const rows = all.filter(
      (each) => !isSet(each) || all.every((other) => other.row.change !== each.row.change || isSet(other)),
    )
    const groups = this.#groups.get(relation) ?? []
    return accessChanges.flatMap((change, kind) => {
      const own = groups.filter((group) => group.change === change)
      const single = rows.filter(
        ({ row, entries }) => row.change === change && !entries.some((entry) => this.#isGroup(entry, kind)),
      )
      const others = rows.filter((each) => each.row.change === change && !single.includes(each))
      return [
        ...own.map(({ row, set, cause: { users } }) => ({ row, group: { set, users } })),
        ...single,
        // A group that is not among the groups cannot be, but a change is never without an example.
        ...(own.length === 0 ? others : []),
      ]
        .slice(0, max)
        .map(({ row, ...more }) => ({ row, ...("group" in more ? { group: more.group } : {}) }))
    })
  }

  #isGroup(entry: number, kind: number): boolean {
    const { causes } = this.#terms
    const cause = causes.counted[causes.causes.array[entry] as number] as CountedCause
    return isGroup(cause) && causes.isWhole(entry, kind)
  }

  *#causes(entryOf: Int32Array): Generator<void, AccessCause[]> {
    const { causes } = this.#terms
    const changes = causes.counted.map(() => new Array<number>(kinds).fill(0))
    const everyone = new Array<number>(causes.counted.length).fill(0)
    for (let entry = 0; entry < causes.causes.length; entry++) {
      const cause = causes.causes.array[entry] as number
      const times = causes.candidates.array[entry] as number
      if (causes.everyoneHits.has(entry)) everyone[cause] = (everyone[cause] as number) + times
      const sums = changes[cause] as number[]
      for (let kind = 0; kind < kinds; kind++)
        sums[kind] = (sums[kind] as number) + times * (causes.hits[kinds * entry + kind] as number)
    }
    const weights = changes.map((sums) => sums.reduce((sum, each) => sum + each, 0))
    const largest = [...causes.counted.keys()]
      .filter((at) => (everyone[at] as number) + (weights[at] as number) > 0)
      .sort((a, b) => difference(everyone, a, b) || difference(weights, a, b))
      .slice(0, causesMax)
    const found: AccessCause[] = []
    for (const at of largest) {
      const objects = new Set<number>()
      yield* this.#eachReached(at, entryOf, (candidate, entry) => {
        const hits = causes.hits.subarray(kinds * entry, kinds * (entry + 1))
        if (causes.everyoneHits.has(entry) || hits.some((count) => count > 0))
          objects.add(this.#terms.candidates.nodes.array[2 * candidate] as number)
      })
      const counts = accessChanges.map((change, kind) => [change, changes[at]?.[kind] ?? 0])
      found.push({
        ...this.#told(causes.counted[at] as CountedCause),
        objects: objects.size,
        changes: Object.fromEntries(counts) as Record<AccessChange, number>,
      })
    }
    return found
  }

  /** The candidates that a cause reaches, with its entries for their pairs. */
  *#eachReached(
    number: number,
    entryOf: Int32Array,
    visit: (candidate: number, entry: number) => void,
  ): Generator<void> {
    const { causes, pairOf } = this.#terms
    entryOf.fill(-1)
    for (let entry = 0; entry < causes.causes.length; entry++)
      if (causes.causes.array[entry] === number) entryOf[causes.pairs.array[entry] as number] = entry
    const reached = yield* causes.reachOf(number)
    for (let at = 0; at < reached.length; at++) {
      const candidate = reached.array[at] as number
      const pair = pairOf[candidate] as number
      const entry = pair < 0 ? -1 : (entryOf[pair] as number)
      if (entry >= 0) visit(candidate, entry)
    }
  }

  #told({ part, subject, seeds, users, everyone }: CountedCause): Omit<AccessCause, "objects" | "changes"> {
    const { graph, candidates, program } = this.#terms
    const slot = graph.slots[part.slot]
    const reads = program.relations[part.relation]?.relation ?? null
    const isUserset = reads !== null && slot !== undefined && slot.subjectRelation === reads
    const name = graph.names.text(subject)
    return {
      in: part.side === 0 ? "before" : "after",
      subject: isUserset ? `${name}#${reads}` : name,
      reads: isUserset ? null : reads,
      relation: slot?.relation ?? null,
      object: graph.names.text(candidates.nodes.array[2 * (seeds[0] ?? 0)] as number),
      tuples: new Set(seeds.map((seed) => candidates.nodes.array[2 * seed] as number)).size,
      users,
      everyone: [...everyone].map((type) => graph.typeName(type)).sort(),
    }
  }

  /** Where all users of a set change, by any of the causes with this set. */
  *#findGroups(numbers: readonly number[], entryOf: Int32Array): Generator<void> {
    const { causes, graph, program } = this.#terms
    const met = new Set<number>()
    for (const number of numbers) {
      const cause = causes.counted[number] as CountedCause
      const set = `${graph.names.text(cause.subject)}#${program.relations[cause.part.relation]?.relation ?? ""}`
      yield* this.#eachReached(number, entryOf, (candidate, entry) => {
        if (met.has(candidate)) return
        met.add(candidate)
        for (const [kind, change] of accessChanges.entries())
          if (causes.isWhole(entry, kind)) this.#addGroup(candidate, { cause, change, set })
      })
    }
  }

  #addGroup(candidate: number, { cause, change, set }: Pick<FoundGroup, "cause" | "change" | "set">): void {
    const { graph, program, candidates } = this.#terms
    const { nodes } = candidates
    const relation = nodes.array[2 * candidate + 1] as number
    const groups = this.#groups.get(relation) ?? []
    this.#groups.set(relation, groups)
    const { side } = cause.part
    const known = groups.find(
      (each) => each.set === set && each.change === change && each.cause.part.side === side,
    )
    if (known !== undefined) {
      known.objects++
      return
    }
    const user = graph.names.text(cause.member)
    const object = graph.names.text(nodes.array[2 * candidate] as number)
    groups.push({
      ...{ cause, change, set, objects: 1 },
      row: { user, relation: program.relations[relation]?.name ?? "", object, change },
    })
  }
}

/** A set with several users; one with everybody of a type is covered by the change of everybody. */
function isGroup({ node, users, everyone }: CountedCause): boolean {
  return node >= 0 && users > 1 && everyone.size === 0
}

function difference(counts: readonly number[], a: number, b: number): number {
  return (counts[b] as number) - (counts[a] as number)
}
