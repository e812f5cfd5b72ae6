/** What a counter answered. `remaining` calls are left now; `resetSeconds` until the oldest counted call leaves the window (at least 1 when refused). */
export interface Taken {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
}

/** Counts calls per key over a sliding window: never more than `callsMax` allowed in any window. Memory now, Redis behind the same interface later. */
export interface Limiter {
  /** Counts one call of `key` in the table `counter` and says whether it may pass. A refused call is not counted. */
  take(counter: string, key: string, callsMax: number, periodSeconds: number): Taken | Promise<Taken>
}
