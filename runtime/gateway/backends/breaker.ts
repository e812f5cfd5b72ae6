import type { BreakerPlan } from "../../plan/resources.ts"

/** Closed: requests pass. Open: none. Half-open: one passes to see whether it is over. */
export type BreakerState = "closed" | "open" | "half-open"

const slicesOfWindow = 10

interface Slice {
  start: number
  calls: number
  failures: number
}

/**
 * Keeps requests from a target that fails: opens after so many failures (or such a share of the calls) in a window, lets one request through when its
 * time is over, and closes when that succeeds.
 */
export class Breaker {
  readonly #plan: BreakerPlan
  readonly #slices: Slice[] = []
  #openedAt: number | undefined
  #trial = false

  constructor(plan: BreakerPlan) {
    this.#plan = plan
  }

  state(nowMs: number): BreakerState {
    if (this.#openedAt === undefined) return "closed"
    return nowMs - this.#openedAt >= this.#plan.openMs ? "half-open" : "open"
  }

  /** Whether a request may pass now. Asking changes nothing: `begin` does. */
  allows(nowMs: number): boolean {
    const state = this.state(nowMs)
    return state === "closed" || (state === "half-open" && !this.#trial)
  }

  /** How long until a request may pass, in milliseconds. */
  remainingMs(nowMs: number): number {
    return this.#openedAt === undefined ? 0 : Math.max(0, this.#openedAt + this.#plan.openMs - nowMs)
  }

  /** Whether an answer with this status is a failure. */
  counts(status: number): boolean {
    return this.#plan.statuses.includes(status)
  }

  /** A request is on its way. Answers whether it is the one that decides; each such must end in `abandon`, `succeeded` or `failed`. */
  begin(nowMs: number): boolean {
    if (this.#trial || this.state(nowMs) !== "half-open") return false
    this.#trial = true
    return true
  }

  /** A request has ended without a verdict: the client left. `isTrial` is what `begin` said of it, here and below. */
  abandon(isTrial: boolean): void {
    if (isTrial) this.#trial = false
  }

  succeeded(nowMs: number, isTrial: boolean): void {
    if (this.#openedAt !== undefined) {
      // It was sent before the breaker opened, and says nothing of now.
      if (!isTrial) return
      this.#trial = false
      this.#openedAt = undefined
      this.#slices.length = 0
    }
    if (this.#plan.percent !== undefined) this.#slice(nowMs).calls += 1
  }

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
