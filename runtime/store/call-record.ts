/** Calls of the last seconds that failed because of the database; `reason` is that of the last one. */
export interface FailedCalls {
  readonly failed: number
  readonly calls: number
  readonly reason: string
}

/** Calls are counted in two halves, so the record covers the last 5 to 10 seconds. */
const halfMs = 5_000

interface Half {
  readonly startedMs: number
  calls: number
  failed: number
}

/** Counts how the calls of the last seconds ended, so that readiness says what callers see. */
export class CallRecord {
  #now: Half = { startedMs: 0, calls: 0, failed: 0 }
  #before: Half = { startedMs: 0, calls: 0, failed: 0 }
  #reason = ""

  succeeded(): void {
    this.#half().calls += 1
  }

  failed(reason: string): void {
    const half = this.#half()
    half.calls += 1
    half.failed += 1
    this.#reason = reason
  }

  /** Undefined when none failed. */
  get failures(): FailedCalls | undefined {
    const halves = [this.#half(), this.#before]
    const sum = (of: "calls" | "failed") => halves.reduce((total, half) => total + half[of], 0)
    return sum("failed") === 0
      ? undefined
      : { failed: sum("failed"), calls: sum("calls"), reason: this.#reason }
  }

  #half(): Half {
    const nowMs = performance.now()
    const ageMs = nowMs - this.#now.startedMs
    if (ageMs < halfMs) return this.#now
    const none = { startedMs: nowMs, calls: 0, failed: 0 }
    this.#before = ageMs < 2 * halfMs ? this.#now : none
    this.#now = { ...none }
    return this.#now
  }
}
