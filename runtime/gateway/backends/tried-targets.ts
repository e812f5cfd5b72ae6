import type { BackendClient } from "./backends.ts"
import type { Target } from "./target.ts"

/** Targets a request is brought to instead of ones that could not be reached: a pool that is dead as a whole must not cost a connection for each of hundreds. */
const movesMax = 10

/** Where one request of a backend was, and where it goes next. `key` is what a backend with `balance hash` chooses by. */
export class TriedTargets {
  readonly #backend: BackendClient
  readonly #key: string | undefined
  /** Whether they had an answer. */
  #tried: Map<Target, boolean> | undefined
  #repetitions = 0
  #moves = 0

  constructor(backend: BackendClient, key: string | undefined) {
    this.#backend = backend
    this.#key = key
  }

  /** How often the request was sent again by `again`. */
  get repetitions(): number {
    return this.#repetitions
  }

  /**
   * Where a request goes that could not be brought to `target`: nothing of it was sent, so this is no repetition, asks for no `retry` and costs none of its
   * budget, whatever the method. Every other target once, then one that had an answer before; undefined: there is none.
   */
  instead(target: Target): Target | undefined {
    if (this.#backend.targets.length === 1 || this.#moves >= movesMax) return undefined
    const next = this.#backend.pickOther(this.#key, this.#with(target, false), false)
    if (next === undefined || next.isOverloaded) return undefined
    this.#moves += 1
    return next
  }

  /** Where a request is sent once more that was at `target`, by the number and the budget of `retry`. `hasAnswer`: there is an answer to give up for it. */
  again(target: Target, hasAnswer: boolean): Target | undefined {
    const { retry } = this.#backend
    if (retry === undefined || this.#repetitions >= retry.plan.times) return undefined
    const tried = this.#with(target, hasAnswer)
    const other = this.#backend.pickOther(this.#key, tried, hasAnswer)
    const next = other ?? (hasAnswer ? undefined : this.#backend.pick(this.#key))
    if (next === undefined || next.isOverloaded || !retry.budget.take()) return undefined
    this.#repetitions += 1
    return next
  }

  #with(target: Target, hasAnswer: boolean): ReadonlyMap<Target, boolean> {
    this.#tried ??= new Map()
    return this.#tried.set(target, hasAnswer)
  }
}
