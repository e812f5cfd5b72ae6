/**
 * The result of a counter. `remaining`: calls left now. `resetSeconds`: time until the oldest counted call leaves the window; for a refused call, until
 * enough calls have left. It is at least 1 and at most the period.
 */
export interface Taken {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
  /** The limit is shared, but this process counted on its own, because the server with the counts is unavailable. */
  readonly local?: boolean
}

/** Counts calls per key over a sliding window: never allows more than `callsMax` in any window. In memory of one process, or shared in Redis. */
export interface Limiter {
  /**
   * Counts `amount` calls (default: 1) of `key` in the table `counter`, and returns whether they are allowed. A refused call is not counted. An amount
   * of 0 counts nothing, and returns whether one more call would be allowed.
   */
  take(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount?: number,
  ): Taken | Promise<Taken>
  /** Counts calls that have already been allowed, even above the limit. */
  add(counter: string, key: string, periodSeconds: number, amount: number): void
  /** Takes one of `max` slots of `key` in `counter`; undefined if all are taken. Call the returned function to release the slot; repeated calls have no effect. */
  enter(
    counter: string,
    key: string,
    max: number,
  ): (() => void) | undefined | Promise<(() => void) | undefined>
}

/** The counts of limits in this process. `evicted`: keys that were given up since the start while they had calls in the window. */
export interface LimiterStats {
  readonly keys: number
  readonly evicted: number
  /** Memory of the counts. */
  readonly bytes: number
}

/** Counters with a bound on their keys. */
export interface BoundedLimiter extends Limiter {
  /** Keys per counter. Beyond it a new key takes the place of the one with the fewest calls. May change at any time. */
  keysMax: number
  stats(): LimiterStats
}

/** Counters of one process, which reply at once. */
export interface LocalLimiter extends BoundedLimiter {
  /** `resetSeconds` of the last take before rounding, in milliseconds. */
  readonly resetMs: number
  take(counter: string, key: string, callsMax: number, periodSeconds: number, amount?: number): Taken
  enter(counter: string, key: string, max: number): (() => void) | undefined
}

/** The state of counters that processes share. */
export interface SharedCounts {
  /** `host:port` of the server. */
  readonly name: string
  /** Why the server is unavailable, so that this process counts on its own; undefined: it is available. */
  readonly away: string | undefined
  /** Calls that this process counted on its own. */
  readonly localTakes: number
}
