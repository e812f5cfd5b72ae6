import { IntList } from "../evaluate/int-list.ts"
import { type EvaluationProblem, errorOfProblem, worseProblem } from "../evaluate/problem.ts"
import { isError, isMiss, isTrue } from "../evaluate/question.ts"
import type { NamePlace } from "../graph/names.ts"
import type { Commit } from "../ports.ts"
import type { ListEnd, Paging } from "../questions.ts"
import { isPaged } from "./kept-walk.ts"
import { type NameBytes, NameHeap } from "./named-ids.ts"
import type { Candidates } from "./ordered-names.ts"
import type { Outcomes } from "./verification.ts"

/** In addition to the truth values: belongs in the list's second column. */
export const isAside = 4

/** Receives names. */
export interface NameSink {
  add(name: NamePlace, suffix: Uint8Array): void
}

/** The parts of a list. */
export interface ListingParts {
  readonly paging: Paging
  readonly bytes: NameBytes
  readonly names: NameSink
  /** Second column, for items to separate from the others. */
  readonly aside?: NameSink | undefined
  /** Work done so far. */
  readonly steps: () => number
  /** The outcomes of some candidates, in their order. */
  readonly decide: (ids: readonly number[]) => Generator<void, Outcomes>
}

/**
 * Number of candidates decided together: undecided ones share one pass of the slow path. Costly candidates are taken a few at a time,
 * because a list can only be cut between chunks.
 */
const chunkMin = 64
const chunkMax = 1_024
const chunkSteps = 5_000
const yieldEvery = 512
/** Finding the next name walks through a heap. */
const shiftsBetween = 128
/** After this many steps candidates are decided in order of name, so that a deadline can cut the list. */
const unorderedSteps = 20_000

function sizeAfter(size: number, steps: number): number {
  return steps < chunkSteps ? Math.min(2 * size, chunkMax) : Math.max(size >> 1, 1)
}

/**
 * Makes a list of candidates: decides each one and adds the names of members. A whole list is in the order of discovery. A page, or a list
 * that takes long, is in order of name, so that it can end anywhere and name the position to continue from.
 */
export class Listing {
  end: Omit<ListEnd, keyof Commit> = {}
  readonly #parts: ListingParts
  /** Number of names that may still be added. */
  #left: number
  /** Decided before the list was sorted, and not added yet. `#earlyAside` contains those of the second column. */
  readonly #early: NameHeap
  readonly #earlyAside = new Set<number>()
  #isOrdered = false
  /** The last decided candidate; the last added one. */
  #last = -1
  #named = -1
  #problem: EvaluationProblem | undefined
  #missed = false

  constructor(parts: ListingParts) {
    const { pageSize, resultsMax } = parts.paging
    this.#parts = parts
    this.#early = new NameHeap(parts.bytes, undefined)
    this.#left = Math.min(pageSize ?? Number.POSITIVE_INFINITY, resultsMax ?? Number.POSITIVE_INFINITY)
  }

  get #isPaged(): boolean {
    return isPaged(this.#parts.paging)
  }

  /**
   * Returns false when something was not in memory.
   * @throws CheckError when a candidate cannot be decided
   */
  *run(candidates: IntList): Generator<void, boolean> {
    const done = this.#isPaged ? 0 : yield* this.#inAnyOrder(candidates)
    if (done < candidates.length) yield* this.#inOrder(yield* this.#ordered(candidates, done))
    return this.#isDecided()
  }

  /** The same for sorted candidates. */
  *runOrdered(candidates: Candidates): Generator<void, boolean> {
    yield* this.#inOrder(candidates)
    return this.#isDecided()
  }

  #isDecided(): boolean {
    if (this.#missed) return false
    if (this.#problem !== undefined) throw errorOfProblem(this.#problem)
    return true
  }

  /** Decides candidates in any order and adds their names at the end. When that takes long it returns the number of decided ones. */
  *#inAnyOrder(candidates: IntList): Generator<void, number> {
    const late = this.#parts.steps() + unorderedSteps
    const found = new IntList()
    let size = chunkMin
    for (let from = 0; from < candidates.length; ) {
      const steps = this.#parts.steps()
      if (steps > late) {
        for (let at = 0; at < found.length; at++) {
          this.#early.add(found.get(at))
          if (at % yieldEvery === 0) yield
        }
        return from
      }
      const ids = candidates.slice(from, from + size)
      const { values, problems } = yield* this.#parts.decide(ids)
      for (let at = 0; at < ids.length; at++) {
        const value = values[at] as number
        if (value === isTrue || value === isAside) found.push(ids[at] as number)
        else this.#note(value, problems.get(at))
        if (value === isAside) this.#earlyAside.add(ids[at] as number)
      }
      from += size
      size = sizeAfter(size, this.#parts.steps() - steps)
      yield
    }
    for (let at = 0; at < found.length; at++) {
      this.#add(found.get(at), this.#earlyAside.has(found.get(at)))
      if (at % yieldEvery === 0) yield
    }
    return candidates.length
  }

  *#ordered(candidates: IntList, from: number): Generator<void, Candidates> {
    const heap = new NameHeap(this.#parts.bytes, this.#parts.paging.after)
    for (let at = from; at < candidates.length; at++) {
      heap.add(candidates.get(at))
      if (at % yieldEvery === 0) yield
    }
    return heap
  }

  /** Decides candidates and adds names in order of name until the page is full. */
  *#inOrder(undecided: Candidates): Generator<void> {
    this.#isOrdered = true
    let size = chunkMin
    while (undecided.size > 0) {
      const steps = this.#parts.steps()
      const ids: number[] = []
      while (ids.length < size && undecided.size > 0) {
        ids.push(undecided.shift())
        if (ids.length % shiftsBetween === 0) yield
      }
      yield* this.#nameBefore(ids[0] as number)
      const outcomes = yield* this.#parts.decide(ids)
      if (yield* this.#takeInOrder(ids, outcomes)) return
      this.#last = ids[ids.length - 1] as number
      if (this.#missed && this.#isPaged) return
      size = sizeAfter(size, this.#parts.steps() - steps)
      yield
    }
    yield* this.#nameBefore(-1)
  }

  /** Returns true when the list ends here. */
  *#takeInOrder(ids: readonly number[], { values, problems }: Outcomes): Generator<void, boolean> {
    for (let at = 0; at < ids.length; at++) {
      const value = values[at] as number
      const belongs = value === isTrue || value === isAside
      if (!belongs) this.#note(value, problems.get(at))
      // A page contains the names before the first undecidable candidate, but none after it.
      const ends = belongs || (value === isError && this.#isPaged)
      if (ends && this.#left === 0) {
        this.#closePage()
        return true
      }
      if (belongs) yield* this.#name(ids[at] as number, value === isAside)
      else if (ends) return true
    }
    return false
  }

  #closePage(): void {
    const { pageSize = Number.POSITIVE_INFINITY, resultsMax = Number.POSITIVE_INFINITY } = this.#parts.paging
    this.#problem = undefined
    const next = this.#parts.bytes.text(this.#named)
    this.end = resultsMax < pageSize ? { next, truncated: "limit" } : { next }
  }

  /** Adds a name, preceded by early results that come before it. */
  *#name(id: number, aside: boolean): Generator<void> {
    if (this.#early.size > 0) yield* this.#nameBefore(id)
    this.#add(id, aside)
    this.#named = id
    this.#left--
  }

  /** Adds the early results before an id; all of them when the id is -1. */
  *#nameBefore(id: number): Generator<void> {
    const early = this.#early
    for (let count = 1; early.size > 0; count++) {
      if (id >= 0 && this.#parts.bytes.order(early.first, id) > 0) return
      this.#nameEarly()
      if (count % yieldEvery === 0) yield
    }
  }

  #nameEarly(): void {
    this.#named = this.#early.shift()
    this.#add(this.#named, this.#earlyAside.has(this.#named))
  }

  #add(id: number, aside: boolean): void {
    const { bytes, names, aside: others = names } = this.#parts
    if (aside) others.add(bytes.of(id), bytes.suffix)
    else names.add(bytes.of(id), bytes.suffix)
  }

  /** Records a value that excludes a candidate. */
  #note(value: number, problem: EvaluationProblem | undefined): void {
    if (value === isMiss) this.#missed = true
    if (value !== isError || problem === undefined) return
    this.#problem = this.#problem === undefined ? problem : worseProblem(this.#problem, problem)
  }

  /** Ends the list at the last decided candidate; false when none is decided. Early results that are not added yet come after the end. */
  cut(): boolean {
    if (!this.#isOrdered || this.#missed || this.#problem !== undefined) return false
    const { bytes } = this.#parts
    const isBehind = this.#last >= 0 && this.#early.size > 0 && bytes.order(this.#early.first, this.#last) < 0
    const isAhead = this.#last < 0 || (this.#named >= 0 && bytes.order(this.#named, this.#last) > 0)
    const last = isBehind || isAhead ? this.#named : this.#last
    if (last < 0) return false
    this.end = { next: bytes.text(last), truncated: "deadline" }
    return true
  }
}
