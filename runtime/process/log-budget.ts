/** Lines at once, and how many more a second: so that a flood of refusals costs next to nothing. */
const burst = 10
const perSecond = 1

/** How many lines of one kind may still be written. What is left out is counted, for the next line to say. */
export class LogBudget {
  readonly #now: () => number
  #left = burst
  #filledAt: number
  #skipped = 0

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#filledAt = now()
  }

  /** Whether one more may be written. */
  take(): boolean {
    const now = this.#now()
    this.#left = Math.min(burst, this.#left + ((now - this.#filledAt) / 1000) * perSecond)
    this.#filledAt = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  skip(): void {
    this.#skipped++
  }

  /** How many were left out since this was asked. */
  skipped(): number {
    const skipped = this.#skipped
    this.#skipped = 0
    return skipped
  }
}
