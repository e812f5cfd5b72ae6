import type { BackendClient } from "./backends.ts"
import type { Target } from "./target.ts"

/** Maximum number of targets to try instead of unreachable ones: when all of hundreds are down, a request must not try each. */
const movesMax = 10

/** The targets that a request of one backend has tried, and the next one. `key`: the key of `balance hash`. */
export class TriedTargets {
  readonly #backend: BackendClient
  readonly #key: string | undefined
  /** Value: whether the target responded. */
  #tried: Map<Target, boolean> | undefined
  #repetitions = 0
  #moves = 0

  constructor(backend: BackendClient, key: string | undefined) {
    this.#backend = backend
    this.#key = key
  }

  /** Number of retries made by `again`. */
  get repetitions(): number {
    return this.#repetitions
  }

  /**
   * The next target for a request that did not reach `target`. Nothing was sent, so this is not a retry: it needs no `retry` statement, uses none of
   * its budget, and works for every method. Each other target is tried once, then one that responded before. Undefined: there is none.
   */
  instead(target: Target): Target | undefined {
    if (this.#backend.targets.length === 1 || this.#moves >= movesMax) return undefined
    const next = this.#backend.pickOther(this.#key, this.#with(target, false), false)
    if (next === undefined || next.isOverloaded) return undefined
    this.#moves += 1
    return next
  }

  /** The target for a retry after `target`, limited by the number and the budget of `retry`. `hasAnswer`: there is a response that would be given up. */
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
