/** Lines at once, and additional lines per second. */
interface LineRate {
  readonly burst: number
  readonly perSecond: number
}

/** So that a flood of refusals costs almost nothing. */
const rateByDefault: LineRate = { burst: 10, perSecond: 1 }

/** Limits the lines of one kind. Omitted lines are counted; the next line contains their number. */
export class LogBudget {
  readonly #now: () => number
  readonly #rate: LineRate
  #left: number
  #filledAt: number
  #skipped = 0

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now(), rate = rateByDefault) {
    this.#now = now
    this.#rate = rate
    this.#left = rate.burst
    this.#filledAt = now()
  }

  /** Whether one more line may be written. */
  take(): boolean {
    const now = this.#now()
    const { burst, perSecond } = this.#rate
    this.#left = Math.min(burst, this.#left + ((now - this.#filledAt) / 1000) * perSecond)
    this.#filledAt = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  skip(): void {
    this.#skipped++
  }

  /** Number of omitted lines since the last call. */
  skipped(): number {
    const skipped = this.#skipped
    this.#skipped = 0
    return skipped
  }
}
