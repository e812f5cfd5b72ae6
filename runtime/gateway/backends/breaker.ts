import type { BreakerPlan } from "../../plan/resources.ts"

/** Closed: requests pass. Open: no request passes. Half-open: one trial request passes. */
export type BreakerState = "closed" | "open" | "half-open"

const slicesOfWindow = 10

interface Slice {
  start: number
  calls: number
  failures: number
}

/**
 * Protects a failing target: it opens after a number of failures (or a share of failed calls) in a window, lets one trial request through after the
 * open time, and closes when that succeeds.
 */
export class Breaker {
  readonly #plan: BreakerPlan
  readonly #slices: Slice[] = []
  #openedAt: number | undefined
  #trial = false

  constructor(plan: BreakerPlan) {
    this.#plan = plan
  }

  /** As if no request had been made. */
  reset(): void {
    this.#slices.length = 0
    this.#openedAt = undefined
    this.#trial = false
  }

  state(nowMs: number): BreakerState {
    if (this.#openedAt === undefined) return "closed"
    return nowMs - this.#openedAt >= this.#plan.openMs ? "half-open" : "open"
  }

  /** Whether a request may pass now. It does not change the state; `begin` does. */
  allows(nowMs: number): boolean {
    const state = this.state(nowMs)
    return state === "closed" || (state === "half-open" && !this.#trial)
  }

  /** Time until a request may pass, in milliseconds. */
  remainingMs(nowMs: number): number {
    return this.#openedAt === undefined ? 0 : Math.max(0, this.#openedAt + this.#plan.openMs - nowMs)
  }

  /** Whether a response with this status counts as a failure. */
  counts(status: number): boolean {
    return this.#plan.statuses.includes(status)
  }

  /** A request starts. Returns whether it is the trial request; each trial must end in `abandon`, `succeeded` or `failed`. */
  begin(nowMs: number): boolean {
    if (this.#trial || this.state(nowMs) !== "half-open") return false
    this.#trial = true
    return true
  }

  /** A request ended without an outcome, for example because the client disconnected. `isTrial`: the result of `begin`, also in the methods below. */
  abandon(isTrial: boolean): void {
    if (isTrial) this.#trial = false
  }

  /** A success. A trial closes the breaker, and its counts restart. */
  succeeded(nowMs: number, isTrial: boolean): void {
    if (this.#openedAt !== undefined) {
      // The request was sent before the breaker opened, so it says nothing about the present state.
      if (!isTrial) return
      this.#trial = false
      this.#openedAt = undefined
      this.#slices.length = 0
    }
    if (this.#plan.percent !== undefined) this.#slice(nowMs).calls += 1
  }

  /** A failure. A failed trial keeps the breaker open for another period. */
  failed(nowMs: number, isTrial: boolean): void {
    if (this.#openedAt !== undefined) {
      if (!isTrial) return
      this.#trial = false
      this.#openedAt = nowMs
      return
    }
    const slice = this.#slice(nowMs)
    slice.calls += 1
    slice.failures += 1
    if (this.#isBroken()) {
      this.#openedAt = nowMs
      this.#slices.length = 0
    }
  }

  /** Whether enough calls failed: a number of them, or a share of at least so many calls. */
  #isBroken(): boolean {
    let calls = 0
    let failures = 0
    for (const slice of this.#slices) {
      calls += slice.calls
      failures += slice.failures
    }
    const { percent, calls: least } = this.#plan
    return percent === undefined ? failures >= least : calls >= least && failures * 100 >= percent * calls
  }

  /** The current slice of the window. Slices bound the memory: there are `slicesOfWindow` counts however many calls there are. */
  #slice(nowMs: number): Slice {
    const { windowMs } = this.#plan
    const length = windowMs / slicesOfWindow
    const slices = this.#slices
    while (slices.length > 0 && (slices[0] as Slice).start <= nowMs - windowMs) slices.shift()
    const last = slices.at(-1)
    if (last !== undefined && nowMs < last.start + length) return last
    const slice = { start: nowMs, calls: 0, failures: 0 }
    slices.push(slice)
    return slice
  }
}
