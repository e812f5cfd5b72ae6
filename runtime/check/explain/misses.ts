import { Evaluation, type EvaluationOptions } from "../evaluate/evaluation.ts"
import { Collector, Solver } from "../evaluate/fixpoint.ts"
import { EngineQuestion, type QuestionParts } from "../evaluate/question.ts"
import type { OverlayTuple } from "../graph/overlay.ts"
import type { NearestMiss } from "../ports.ts"
import { CheckError, type PageKey, type TupleKey } from "../ports.ts"
import { validateTuple } from "../tuple.ts"
import { missingNames } from "./conditions.ts"
import type { Decided } from "./proof.ts"
import { Repairs } from "./repairs.ts"
import { slotOf, tupleIn } from "./tuples.ts"
import { type Edit, editsMax, join, keyOf, type Repair } from "./ways.ts"

/** Limits of the search. */
const missesMax = 5
const triesMax = 400
const statesMax = 12
/** Number of nodes nearest to the question that proposals come from. */
const nodesMax = 3_000
const stepsMax = 400_000
/** Steps for checking whether the user has a relation elsewhere. */
const quickSteps = 2_000

interface Found {
  readonly repair: Repair
  /** Additional values that are needed; empty when none is. */
  readonly missing: readonly string[]
}

/** `conditional`: allowed if missing values make their conditions true. */
type Outcome = "allow" | "deny" | "conditional"

/** The truth values of the `nodesMax` nearest nodes that a question depends on; undefined when something was not in memory. */
export function* decide(
  question: EngineQuestion,
  { object, relation }: QuestionParts,
  nodesMax: number,
): Generator<void, Decided | undefined> {
  // A decided question is explained at any depth.
  const collector = new Collector(question, Number.POSITIVE_INFINITY, nodesMax)
  yield* collector.collect([object, relation])
  if (collector.missed) return undefined
  const solver = new Solver(collector.nodes, question)
  yield* solver.solve()
  return { question, collector, solver }
}

/**
 * Searches the smallest sets of tuples that turn a deny into an allow. The engine tries each proposal of the formulas on the graph under an
 * overlay. A proposal that is not enough, because it has side effects, is evaluated again and extended. Every subset is tried as well, so
 * that no set is larger than necessary.
 */
export class MissSearch {
  readonly misses = new Map<string, PageKey>()
  complete = true
  readonly #parts: QuestionParts
  readonly #limits: EvaluationOptions
  readonly #edits = new Map<string, Edit>()
  readonly #tried = new Map<string, Outcome>()
  readonly #found: Found[] = []
  readonly #evaluation = new Evaluation()
  #question!: EngineQuestion
  #hangsOnValues = false
  /** Steps of questions that have ended; the question in progress is counted separately. */
  #done = 0
  #at: EngineQuestion | undefined

  constructor(parts: QuestionParts, limits: EvaluationOptions) {
    this.#parts = parts
    this.#limits = { ...limits, stepsMax: Math.min(limits.stepsMax, stepsMax) }
  }

  get steps(): number {
    return this.#done + this.#evaluation.question.steps + (this.#at?.steps ?? 0)
  }

  /** The sets, once `run` has ended. */
  get nearest(): NearestMiss[] {
    const { model } = this.#parts
    const sets: NearestMiss[] = []
    const order = ({ repair, missing }: Found) => repair.cost + (missing.length > 0 ? 1 : 0)
    for (const { repair, missing } of [...this.#found].sort((a, b) => order(a) - order(b))) {
      const tuples = (adds: boolean) =>
        repair.edits.filter((edit) => edit.adds === adds).map((edit) => this.#tupleOf(edit))
      const add = tuples(true)
      // The name may be invalid in a written tuple.
      if (add.some((tuple) => validateTuple(model, tuple) !== undefined)) continue
      sets.push({ add, remove: tuples(false), ...(missing.length > 0 ? { missing_context: missing } : {}) })
    }
    sets.sort((a, b) => sizeOf(a) - sizeOf(b))
    if (sets.length > missesMax) this.complete = false
    return sets.slice(0, missesMax)
  }

  /** Returns false when it depends on pages that are not in memory. */
  *run(first: Decided): Generator<void, boolean> {
    this.#question = first.question
    const now = yield* this.#outcome([])
    if (now === undefined) return false
    this.#hangsOnValues = now === "conditional"
    const states: (readonly Edit[])[] = [[]]
    for (let at = 0; at < states.length; at++) {
      const state = states[at] as readonly Edit[]
      if (at >= statesMax || this.#exhausted()) {
        this.complete = false
        return true
      }
      const repairs = yield* this.#proposals(state, first)
      if (repairs === undefined) return false
      for (const proposed of repairs) {
        if (this.#exhausted()) break
        const repair = join({ edits: state, cost: 0 }, proposed)
        if (repair === undefined) this.complete = false
        // Nothing to add: the tuples would be enough if values were not missing.
        else if (repair.edits.length === state.length) continue
        else if (!(yield* this.#try(repair, states))) return false
      }
    }
    return true
  }

  *#proposals(state: readonly Edit[], first: Decided): Generator<void, readonly Repair[] | undefined> {
    let decided = first
    const parts = state.length > 0 ? this.#partsWith(state) : this.#parts
    if (state.length > 0) {
      const made = yield* this.#decide(parts)
      if (made === undefined) return undefined
      decided = made
    }
    const repairs = new Repairs(decided, this.#edits, (object, relation) =>
      this.#holds({ ...parts, object, relation }),
    )
    const proposed = yield* repairs.of(0)
    if (repairs.cut || decided.collector.overflowed) this.complete = false
    return proposed
  }

  /** Tries a set. A set that is not enough becomes a state to continue from. Returns false when something was not in memory. */
  *#try(repair: Repair, states: (readonly Edit[])[]): Generator<void, boolean> {
    const { edits } = repair
    if (this.#tried.has(keyOf(edits)) || this.#found.some((known) => isWithin(known.repair.edits, edits)))
      return true
    const outcome = yield* this.#outcome(edits)
    if (outcome === undefined) return false
    if (outcome === "deny") {
      if (edits.length < editsMax) states.push(edits)
      return true
    }
    let least = edits
    for (const part of properParts(edits)) {
      const other = yield* this.#outcome(part)
      if (other === undefined) return false
      if (other === "deny" || (other === "conditional" && outcome === "allow")) continue
      least = part
      break
    }
    if (this.#found.some((known) => isWithin(known.repair.edits, least))) return true
    const missing = outcome === "conditional" ? yield* this.#missingWith(least) : []
    if (missing === undefined) return false
    const cost = least === edits ? repair.cost : repair.cost - (edits.length - least.length) * 10_000
    if (outcome === "allow" || missing.length > 0)
      this.#found.push({ repair: { edits: least, cost }, missing })
    return true
  }

  *#outcome(edits: readonly Edit[]): Generator<void, Outcome | undefined> {
    const key = keyOf(edits)
    const known = this.#tried.get(key)
    if (known !== undefined) return known
    const parts = this.#partsWith(edits)
    yield
    let outcome = yield* this.#evaluate(parts)
    if (outcome === "conditional") {
      outcome = yield* this.#evaluate({ ...parts, missingHolds: true })
      // A question that already depends on missing values needs no tuples to become conditional.
      if (outcome === "allow") outcome = this.#hangsOnValues ? "deny" : "conditional"
    }
    if (outcome !== undefined) this.#tried.set(key, outcome)
    return outcome
  }

  /** A quick check; a node that takes too long counts as false. */
  #holds(parts: QuestionParts): boolean {
    const evaluation = this.#evaluation
    this.#done += evaluation.question.steps
    try {
      evaluation.begin(parts, { ...this.#limits, stepsMax: quickSteps })
      return evaluation.run(never).kind === "done" && evaluation.allowed
    } catch (error) {
      if (error instanceof CheckError) return false
      throw error
    }
  }

  /** An error that values could resolve is `conditional`; any other is a deny. */
  *#evaluate(parts: QuestionParts): Generator<void, Outcome | undefined> {
    const evaluation = this.#evaluation
    this.#done += evaluation.question.steps
    try {
      evaluation.begin(parts, this.#limits)
      let progress = evaluation.run(always)
      while (progress.kind === "suspended") {
        yield
        progress = evaluation.run(always)
      }
      if (progress.kind === "miss") return this.#missed(evaluation.question.misses)
      return evaluation.allowed ? "allow" : "deny"
    } catch (error) {
      if (!(error instanceof CheckError)) throw error
      return error.code === "validation_error" && parts.missingHolds !== true ? "conditional" : "deny"
    }
  }

  /** The values that a set additionally needs. */
  *#missingWith(edits: readonly Edit[]): Generator<void, readonly string[] | undefined> {
    const decided = yield* this.#decide(this.#partsWith(edits))
    if (decided === undefined) return undefined
    return decided.collector.overflowed ? [] : missingNames(decided)
  }

  *#decide(parts: QuestionParts): Generator<void, Decided | undefined> {
    const question = new EngineQuestion()
    question.begin(parts, this.#limits.partialConditions)
    this.#done += this.#at?.steps ?? 0
    this.#at = question
    return (yield* decide(question, parts, nodesMax)) ?? this.#missed(question.misses)
  }

  #missed(keys: ReadonlyMap<string, PageKey>): undefined {
    for (const [key, page] of keys) this.misses.set(key, page)
    return undefined
  }

  #exhausted(): boolean {
    if (this.#found.length <= missesMax && this.#tried.size < triesMax && this.steps < stepsMax) return false
    this.complete = false
    return true
  }

  #partsWith(edits: readonly Edit[]): QuestionParts {
    const tuples = (adds: boolean): OverlayTuple[] =>
      edits
        .filter((edit) => edit.adds === adds)
        .map(({ object, slot, other }) => ({ object, slot: slotOf(this.#question, slot), subject: other }))
    return { ...this.#parts, overlay: this.#question.overlayWith(tuples(true), tuples(false)) }
  }

  #tupleOf({ slot, object, other }: Edit): TupleKey {
    return tupleIn(this.#question, slot, object, other)
  }
}

const always = () => true
const never = () => false

function sizeOf({ add, remove }: NearestMiss): number {
  return add.length + remove.length
}

function isWithin(part: readonly Edit[], whole: readonly Edit[]): boolean {
  return part.every((edit) => whole.includes(edit))
}

/** All proper, non-empty subsets, smallest first. */
function properParts(edits: readonly Edit[]): (readonly Edit[])[] {
  const parts: Edit[][] = []
  for (let bits = 1; bits < (1 << edits.length) - 1; bits++)
    parts.push(edits.filter((_, at) => (bits >> at) & 1))
  return parts.sort((a, b) => a.length - b.length)
}
