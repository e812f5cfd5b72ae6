import type { Taken } from "../limits/limiter.ts"
import type { MachineTaken } from "./calls.ts"
import { type CallTerms, secondsOf } from "./passed-calls.ts"

const refusalsMax = 10_000

interface Refusal {
  readonly callsMax: number
  readonly periodSeconds: number
  readonly remaining: number
  /** Until then no call of the window leaves it. The parent decided between the two times, so that one is too early and the other too late. */
  readonly validUntilMs: number
  readonly resetAtMs: number
}

/** Refusals of the parent, which stay valid until enough calls have left the window: a caller that keeps sending costs no further messages. */
export class Refusals {
  readonly #refusals = new Map<string, Refusal>()

  /** The refusal of the call, if it is certain. */
  find({ counter, key, callsMax, periodSeconds, amount }: CallTerms, nowMs: number): Taken | undefined {
    // For several calls at once more have to leave.
    if (this.#refusals.size === 0 || amount > 1) return undefined
    const name = nameOf(counter, key)
    const refusal = this.#refusals.get(name)
    if (refusal === undefined) return undefined
    if (nowMs >= refusal.validUntilMs) this.#refusals.delete(name)
    else if (refusal.callsMax === callsMax && refusal.periodSeconds === periodSeconds)
      return {
        allowed: false,
        remaining: refusal.remaining,
        resetSeconds: secondsOf(refusal.resetAtMs - nowMs),
      }
    return undefined
  }

  /** Keeps a reply of the parent, if it refuses even a single call. */
  keep(
    { counter, key, callsMax, periodSeconds, amount }: CallTerms,
    [allowed, remaining, resetMs, isCertain]: MachineTaken,
    sentMs: number,
    nowMs: number,
  ): void {
    if (allowed === 1 || isCertain === 0 || amount > 1) return
    const name = nameOf(counter, key)
    this.#refusals.delete(name)
    if (this.#refusals.size >= refusalsMax) {
      const [oldest] = this.#refusals.keys()
      this.#refusals.delete(oldest as string)
    }
    this.#refusals.set(name, {
      ...{ callsMax, periodSeconds, remaining },
      ...{ validUntilMs: sentMs + resetMs, resetAtMs: nowMs + resetMs },
    })
  }
}

function nameOf(counter: string, key: string): string {
  return `${counter}\n${key}`
}
