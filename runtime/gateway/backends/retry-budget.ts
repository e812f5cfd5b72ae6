/** Repetitions that may be made before the first request has earned any: a short failure at the start is what retries are for. */
const reserve = 10

/** Bounds repetitions to a share of the requests, so that retries cannot multiply the load on backends that fail. */
export class RetryBudget {
  readonly #earned: number
  #tokens = reserve

  constructor(percent: number) {
    this.#earned = percent / 100
  }

  /** A request was sent for the first time. */
  request(): void {
    this.#tokens = Math.min(reserve, this.#tokens + this.#earned)
  }

  /** Takes one repetition; false when there is none left. */
  take(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
