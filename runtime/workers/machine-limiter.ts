import type { BoundedLimiter, LimiterStats, LocalLimiter, Taken } from "../limits/limiter.ts"
import { shortKey } from "../limits/memory.ts"
import type { ToParent, WorkerCalls } from "./calls.ts"
import { unlessClosed } from "./channel.ts"
import { type CallTerms, PassedCalls, secondsOf } from "./passed-calls.ts"
import { Refusals } from "./refusals.ts"

/**
 * How long calls that passed in advance wait for their report, and at most a sixtieth of their period: they are counted so much later. A report costs
 * about as much CPU time as half a request.
 */
const reportMs = 100
const partsPerPeriod = 60
/** With so many keys a report is worth its message, and their memory is free again soon. */
const keysPerReport = 100

/** The calls of the parent about limits. */
export type AllowanceCalls = Pick<WorkerCalls, "allow" | "revokeAllowance" | "nearLimit" | "farFromLimit">

/** Clock and timer of a worker's limits, for tests. */
export interface MachineLimiterOptions {
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
  /** Runs a report after these milliseconds. The returned function cancels it. */
  readonly later?: (report: () => void, ms: number) => () => void
}

/**
 * The limits of a worker, counted by the parent for all workers of the machine. Calls far from their limit pass in advance, within the allowance of
 * the worker; the others wait for the parent's reply. When the parent has ended, the worker ends as well; it counts its last requests on its own.
 */
export class MachineLimiter implements BoundedLimiter {
  /** Without effect: the parent sets the bound on its own counts. */
  keysMax = 0
  /** Called by the parent. */
  readonly calls: AllowanceCalls
  readonly #parent: ToParent
  readonly #local: LocalLimiter
  readonly #now: () => number
  readonly #later: Exclude<MachineLimiterOptions["later"], undefined>
  /** The counters with an allowance. */
  readonly #passed = new Map<string, PassedCalls>()
  readonly #byId = new Map<number, { readonly counter: string; readonly passed: PassedCalls }>()
  readonly #refusals = new Refusals()
  /** When the next report is due. */
  #dueMs = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined

  constructor(parent: ToParent, local: LocalLimiter, options: MachineLimiterOptions = {}) {
    this.#parent = parent
    this.#local = local
    this.#now = options.now ?? (() => performance.now())
    this.#later = options.later ?? afterTimeout
    this.calls = {
      allow: (allowance) => {
        const passed = new PassedCalls(allowance)
        this.#passed.set(allowance.counter, passed)
        this.#byId.set(allowance.id, { counter: allowance.counter, passed })
      },
      // What passed is reported before the reply.
      revokeAllowance: (id) => this.#revoke(id),
      nearLimit: (id, key) => {
        this.#byId.get(id)?.passed.near.add(key)
        this.#report()
      },
      farFromLimit: (id, key) => void this.#byId.get(id)?.passed.near.delete(key),
    }
  }

  take(
    counter: string,
    key: string,
    callsMax: number,
    periodSeconds: number,
    amount = 1,
  ): Taken | Promise<Taken> {
    const terms = { counter, key: shortKey(key), callsMax, periodSeconds, amount }
    const nowMs = this.#now()
    const refused = this.#refusals.find(terms, nowMs)
    if (refused !== undefined) return refused
    const passed = this.#passed.get(counter)
    const taken = passed?.take(terms, nowMs)
    if (taken !== undefined) {
      if (amount > 0) this.#reportBy(nowMs, periodSeconds)
      if (passed !== undefined && passed.unreportedKeys >= keysPerReport) this.#report()
      return taken
    }
    if (passed?.isUsedUp === true) this.#report()
    return this.#ask(terms, nowMs)
  }

  add(counter: string, key: string, periodSeconds: number, amount: number): void {
    const short = shortKey(key)
    if (this.#passed.get(counter)?.add(short, periodSeconds, amount) === true)
      this.#reportBy(this.#now(), periodSeconds)
    else this.#parent.tell("add", counter, short, periodSeconds, amount)
  }

  async enter(counter: string, key: string, max: number): Promise<(() => void) | undefined> {
    let slot: number | null
    try {
      slot = await this.#parent.ask("enter", counter, key, max)
    } catch (error) {
      return unlessClosed(() => this.#local.enter(counter, key, max))(error)
    }
    if (slot === null) return undefined
    const taken = slot
    let left = false
    return () => {
      if (left) return
      left = true
      this.#parent.tell("leave", taken)
    }
  }

  /** The counts are in the parent, which reports them. */
  stats(): LimiterStats {
    return { keys: 0, evicted: 0, bytes: 0 }
  }

  async #ask(terms: CallTerms, sentMs: number): Promise<Taken> {
    const { counter, key, callsMax, periodSeconds, amount } = terms
    try {
      const taken = await this.#parent.ask("take", counter, key, callsMax, periodSeconds, amount)
      this.#refusals.keep(terms, taken, sentMs, this.#now())
      const [allowed, remaining, resetMs] = taken
      return { allowed: allowed === 1, remaining, resetSeconds: secondsOf(resetMs) }
    } catch (error) {
      return unlessClosed(() => this.#local.take(counter, key, callsMax, periodSeconds, amount))(error)
    }
  }

  #revoke(id: number): void {
    this.#report()
    const revoked = this.#byId.get(id)
    if (revoked === undefined) return
    this.#byId.delete(id)
    if (this.#passed.get(revoked.counter) === revoked.passed) this.#passed.delete(revoked.counter)
  }

  #reportBy(nowMs: number, periodSeconds: number): void {
    const delayMs = Math.min(reportMs, (periodSeconds * 1000) / partsPerPeriod)
    if (nowMs + delayMs >= this.#dueMs) return
    this.#cancel()
    this.#dueMs = nowMs + delayMs
    this.#cancel = this.#later(() => {
      this.#dueMs = Number.POSITIVE_INFINITY
      this.#report()
    }, delayMs)
  }

  #report(): void {
    for (const [id, { passed }] of this.#byId) {
      const report = passed.report()
      if (report === undefined) continue
      this.#parent.ask("passed", id, report.keys).then(
        (reply) => report.counted(reply, this.#now()),
        () => this.#closed(),
      )
    }
  }

  /** The parent has ended: what it allowed is valid no more. */
  #closed(): void {
    this.#passed.clear()
    this.#byId.clear()
  }
}

function afterTimeout(report: () => void, ms: number): () => void {
  const timer = setTimeout(report, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
