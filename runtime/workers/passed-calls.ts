import type { Taken } from "../limits/limiter.ts"
import type { Allowance, CountedKeys } from "./calls.ts"

/** A call to count. */
export interface CallTerms {
  readonly counter: string
  readonly key: string
  readonly callsMax: number
  readonly periodSeconds: number
  readonly amount: number
}

/** Keys with several calls whose counts a worker remembers for the headers of later responses. */
const keysMax = 10_000

/** What a worker knows of a key. */
interface KeyCalls {
  /** Calls that passed in advance and whose report has no reply yet. */
  uncounted: number
  /** Those of them that no report contains. */
  unreported: number
  /** Calls in the window as of the last reply, also those of other workers; it is 0 after `goneAtMs`. */
  total: number
  /** When the oldest of these calls leaves the window. */
  leavesAtMs: number
  goneAtMs: number
}

/** A report: for each key, the key, the number of calls, and where they were counted. */
interface Report {
  readonly keys: (string | number)[]
  readonly calls: KeyCalls[]
}

/** The calls of one counter that a worker lets pass in advance, within its allowance, and reports later. */
export class PassedCalls {
  /** Keys whose calls need the parent's reply. */
  readonly near: Set<string>
  /** A call did not pass because reports have no reply yet. */
  isUsedUp = false
  readonly #allowance: Allowance
  readonly #periodMs: number
  readonly #keys = new Map<string, KeyCalls>()
  #report: Report = { keys: [], calls: [] }

  constructor(allowance: Allowance) {
    this.#allowance = allowance
    this.#periodMs = allowance.periodSeconds * 1000
    this.near = new Set(allowance.near)
  }

  /** Lets a call pass; undefined: the parent has to decide. An amount of 0 only asks whether a call would pass. */
  take({ key, callsMax, periodSeconds, amount }: CallTerms, nowMs: number): Taken | undefined {
    const terms = this.#allowance
    if (callsMax !== terms.callsMax || periodSeconds !== terms.periodSeconds || this.near.has(key))
      return undefined
    const calls = this.#pass(key, amount)
    if (calls === undefined) return undefined
    const isGone = nowMs >= calls.goneAtMs
    const total = isGone ? 0 : calls.total
    let waitMs = this.#periodMs
    if (!isGone) waitMs = (nowMs < calls.leavesAtMs ? calls.leavesAtMs : calls.goneAtMs) - nowMs
    return {
      allowed: true,
      remaining: Math.max(0, callsMax - total - calls.uncounted),
      resetSeconds: secondsOf(waitMs),
    }
  }

  /** Counts calls that have already passed; false: the parent has to count them. */
  add(key: string, periodSeconds: number, amount: number): boolean {
    if (periodSeconds !== this.#allowance.periodSeconds || this.near.has(key)) return false
    return this.#pass(key, amount) !== undefined
  }

  /** Number of keys with calls that were not reported yet. */
  get unreportedKeys(): number {
    return this.#report.calls.length
  }

  /** The calls that were not reported yet, for the parent; undefined: none. Call `counted` with its reply. */
  report(): { readonly keys: Report["keys"]; counted(reply: CountedKeys, nowMs: number): void } | undefined {
    this.isUsedUp = false
    const { keys, calls } = this.#report
    if (calls.length === 0) return undefined
    this.#report = { keys: [], calls: [] }
    for (const [index, each] of calls.entries()) {
      keys[index * 2 + 1] = each.unreported
      each.unreported = 0
    }
    return { keys, counted: (reply, nowMs) => this.#counted({ keys, calls }, reply, nowMs) }
  }

  #counted({ keys, calls }: Report, reply: CountedKeys, nowMs: number): void {
    for (const [index, each] of calls.entries()) {
      const reported = keys[index * 2 + 1] as number
      each.uncounted -= reported
      each.total = reported
      each.leavesAtMs = nowMs + this.#periodMs
      each.goneAtMs = nowMs + this.#periodMs
      // To remember each key that calls once would cost more than to report it.
      if (each.uncounted === 0) this.#keys.delete(keys[index * 2] as string)
    }
    for (let at = 0; at < reply.length; at += 3) {
      const index = reply[at] as number
      const each = calls[index] as KeyCalls
      each.total = reply[at + 1] as number
      each.leavesAtMs = nowMs + (reply[at + 2] as number)
      this.#keys.set(keys[index * 2] as string, each)
    }
    this.#forgetOldest()
  }

  #pass(key: string, amount: number): KeyCalls | undefined {
    let calls = this.#keys.get(key)
    if ((calls?.uncounted ?? 0) + Math.max(1, amount) > this.#allowance.allowance) {
      this.isUsedUp = calls !== undefined && calls.uncounted > 0
      return undefined
    }
    if (calls === undefined) {
      calls = { uncounted: 0, unreported: 0, total: 0, leavesAtMs: 0, goneAtMs: Number.NEGATIVE_INFINITY }
      this.#keys.set(key, calls)
    }
    if (amount > 0) {
      if (calls.unreported === 0) {
        this.#report.keys.push(key, 0)
        this.#report.calls.push(calls)
      }
      calls.uncounted += amount
      calls.unreported += amount
    }
    return calls
  }

  #forgetOldest(): void {
    for (const [key, calls] of this.#keys) {
      if (this.#keys.size <= keysMax) return
      if (calls.uncounted === 0) this.#keys.delete(key)
    }
  }
}

/** A time as the headers of limits give it. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
