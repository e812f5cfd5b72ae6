import { LRUCache } from "lru-cache"

/** How many requests may come at once, and how fast more are allowed. */
export interface Pace {
  readonly burst: number
  readonly everyMs: number
}

const callersMax = 10_000

/** Limits requests of each caller. It uses bounded memory: callers that were not seen for the longest time are forgotten. */
export class RequestBudget {
  readonly #pace: Pace
  readonly #now: () => number
  /** When the bucket of a caller is empty again. */
  readonly #emptyAtMs = new LRUCache<string, number>({ max: callersMax })

  /** `now`: a monotonic clock in milliseconds. */
  constructor(pace: Pace, now: () => number = () => performance.now()) {
    this.#pace = pace
    this.#now = now
  }

  /** Counts a request. Returns 0, or the seconds after which the caller may send another one; such a request is not counted. */
  take(caller: string): number {
    const { burst, everyMs } = this.#pace
    const now = this.#now()
    const emptyAtMs = Math.max(this.#emptyAtMs.get(caller) ?? 0, now)
    const waitMs = emptyAtMs - now - (burst - 1) * everyMs
    if (waitMs > 0) return Math.ceil(waitMs / 1000)
    this.#emptyAtMs.set(caller, emptyAtMs + everyMs)
    return 0
  }
}
