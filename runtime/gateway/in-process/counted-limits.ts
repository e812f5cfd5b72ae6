import type { Limiter, LocalLimiter, Taken } from "../../limits/limiter.ts"
import { createMemoryLimiter } from "../../limits/memory.ts"
import type { QuotaAnswer, QuotaCounters, QuotaTerms } from "../../policies/ports.ts"
import type { VirtualClock } from "./virtual-clock.ts"

/** What a limit or quota has left for a caller after a request. */
export interface LimitLeft {
  readonly is: "limit" | "quota"
  /** Name of the counter in the plan. */
  readonly counter: string
  readonly key: string
  /** Undefined: the quota counts only bytes. */
  readonly callsMax: number | undefined
  readonly periodSeconds: number
  readonly allowed: boolean
  /** Calls that are left; undefined: the quota counts only bytes. */
  readonly left: number | undefined
}

/** The counters of limits in memory, by the virtual clock. What they answer is recorded. */
export class CountedLimits implements Limiter {
  readonly #clock: VirtualClock
  #counts: LocalLimiter
  /** It has counted since the last restart: making a limiter costs more than most requests. */
  #isUsed = false
  note: (left: LimitLeft) => void = () => undefined

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.#counts = createMemoryLimiter({ now: clock.monotonic })
  }

  restart(): void {
    if (this.#isUsed) this.#counts = createMemoryLimiter({ now: this.#clock.monotonic })
    this.#isUsed = false
  }

  take(counter: string, key: string, callsMax: number, periodSeconds: number, amount?: number): Taken {
    this.#isUsed = true
    const taken = this.#counts.take(counter, key, callsMax, periodSeconds, amount)
    const { allowed, remaining: left } = taken
    this.note({ is: "limit", counter, key, callsMax, periodSeconds, allowed, left })
    return taken
  }

  add(counter: string, key: string, periodSeconds: number, amount: number): void {
    this.#isUsed = true
    this.#counts.add(counter, key, periodSeconds, amount)
  }

  enter(counter: string, key: string, max: number): (() => void) | undefined {
    this.#isUsed = true
    return this.#counts.enter(counter, key, max)
  }
}

interface Used {
  calls: number
  bytes: number
}

/** Quotas in memory. Periods begin with the subscription, as in the database. */
export class CountedQuotas implements QuotaCounters {
  readonly #clock: VirtualClock
  readonly #used = new Map<string, Used>()
  note: (left: LimitLeft) => void = () => undefined

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  restart(): void {
    this.#used.clear()
  }

  take(terms: QuotaTerms, key: string, anchorMs: number, calls: number): QuotaAnswer {
    const { used, resetSeconds } = this.#period(terms, key, anchorMs)
    const { counter, callsMax, bytesMax, periodSeconds } = terms
    const out =
      bytesMax !== undefined && used.bytes >= bytesMax
        ? "bytes"
        : callsMax !== undefined && used.calls + Math.max(1, calls) > callsMax
          ? "calls"
          : undefined
    if (out === undefined && callsMax !== undefined) used.calls += calls
    const left = callsMax === undefined ? undefined : callsMax - used.calls
    this.note({ is: "quota", counter, key, callsMax, periodSeconds, allowed: out === undefined, left })
    return out === undefined ? { allowed: true } : { allowed: false, out, resetSeconds }
  }

  async look(terms: QuotaTerms, key: string, anchorMs: number) {
    const { used, resetSeconds } = this.#period(terms, key, anchorMs)
    return { ...used, resetSeconds }
  }

  add(terms: QuotaTerms, key: string, anchorMs: number, more: Used): void {
    const { used } = this.#period(terms, key, anchorMs)
    used.calls += more.calls
    used.bytes += more.bytes
  }

  /** The usage in the present period, and when it ends; `periodSeconds` 0: never. */
  #period({ counter, periodSeconds }: QuotaTerms, key: string, anchorMs: number) {
    const sinceMs = this.#clock.now() - anchorMs
    const periodMs = periodSeconds * 1000
    const index = periodMs === 0 ? 0 : Math.floor(sinceMs / periodMs)
    const id = JSON.stringify([counter, key, periodSeconds, anchorMs, index])
    let used = this.#used.get(id)
    if (used === undefined) {
      used = { calls: 0, bytes: 0 }
      this.#used.set(id, used)
    }
    const resetSeconds = periodMs === 0 ? null : Math.ceil(((index + 1) * periodMs - sinceMs) / 1000)
    return { used, resetSeconds }
  }
}
