/** What a counter answered. `remaining` calls are left now; `resetSeconds` until the oldest counted call leaves the window; when refused, until as many have left as keep this one out. 1 at least, the period at most. */
export interface Taken {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
}

/** Counts calls per key over a sliding window: never more than `callsMax` allowed in any window. Memory now, Redis behind the same interface later. */
export interface Limiter {
  /**
   * Counts `amount` calls (default 1) of `key` in the table `counter` and says whether they may pass. A refused call is not counted.
   * With the amount 0 nothing is counted: it is asked whether one call more would pass.
   */
  take(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount?: number,
  ): Taken | Promise<Taken>
  /** Counts calls that have been let through already, even above the limit. */
  add(counter: string, key: string, periodSeconds: number, amount: number): void
  /** Takes one of `max` places of `key` in `counter`; undefined: all are taken. Call the answer to leave, as often as you like. */
  enter(counter: string, key: string, max: number): (() => void) | undefined
}
