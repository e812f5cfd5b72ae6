import type { LocalLimiter } from "../limits/limiter.ts"
import type { CountedKeys, MachineTaken, PassedKeys, ToWorker } from "./calls.ts"

/** The allowances of all workers for a key are together at most this part of its limit. */
const limitParts = 8
const allowanceMax = 1_000
/** Longest wait for workers that do not reply. After it, a call is decided as if they had used their allowances. */
const patienceMs = 1_000
/** When calls have come only with another limit for this long, the counter gets that limit. */
const otherLimitMs = 10_000
/** With more keys near the limit there are no more advances: each such key takes memory in the parent and in all workers. */
const nearKeysMax = 65_536
/** Keys near the limit that are looked at again with each report. */
const sweptKeys = 4
/** Above every total, which is a 32-bit number. */
const noLimit = Number.MAX_SAFE_INTEGER

/** What the advances of all counters have in common. */
export interface AdvanceSettings {
  readonly limiter: LocalLimiter
  /** Largest number of workers at a time. */
  readonly workers: number
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

/** Identity of a counter. `id`: a number for messages. */
export interface CounterName {
  readonly id: number
  readonly counter: string
  readonly periodSeconds: number
}

/** A worker with an allowance. `endedAtMs`: when it ended. */
interface Holder {
  readonly worker: ToWorker
  readonly allowance: number
  endedAtMs: number | undefined
}

/** A key near its limit. `open`: holders that may have let calls pass which are not counted yet. */
interface NearKey {
  readonly open: Set<Holder>
  waiting: (() => void)[]
  /** Runs while a living worker is in `open` and has time left to reply. */
  patience: NodeJS.Timeout | undefined
}

/**
 * The calls of one counter, counted for all workers. Each worker may let calls pass in advance, and report them within milliseconds: of each key up to its
 * allowance.
 *
 * What holds: the count of a key and the allowances of all workers are together at most the limit. So the workers never let more calls pass. Before
 * the count of a key rises above that, the key becomes near: all workers report what they let pass, and ask for each further call. So no call is refused
 * because of a call that another worker could still have let pass.
 */
export class CounterAdvances {
  /** Time of the last call or report. */
  usedAtMs: number
  readonly #name: CounterName
  readonly #settings: AdvanceSettings
  readonly #holders = new Map<ToWorker, Holder>()
  readonly #near = new Map<string, NearKey>()
  #callsMax: number
  /** Calls of a key that may be uncounted while it is not near. */
  #reserve = 0
  /** When a call last came with `#callsMax`. */
  #sameLimitMs: number
  /** Before, a key may have a count above the reserve that was never seen here. */
  #offersFromMs: number
  /** When the first of the workers that ended is forgotten. */
  #forgetAtMs = Number.POSITIVE_INFINITY
  #isRevoking = false
  #isOff = false

  /** `countedMs`: until this time, calls of before may be in the window. */
  constructor(name: CounterName, callsMax: number, settings: AdvanceSettings, countedMs: number) {
    const nowMs = settings.now()
    this.#name = name
    this.#settings = settings
    this.#callsMax = callsMax
    this.#sameLimitMs = nowMs
    this.#offersFromMs = countedMs
    this.usedAtMs = nowMs
    this.#reserveAgain()
  }

  /** Counts calls before `worker` lets them pass. */
  take(
    worker: ToWorker,
    key: string,
    callsMax: number,
    amount: number,
  ): MachineTaken | Promise<MachineTaken> {
    const nowMs = this.#used()
    if (callsMax === this.#callsMax) {
      this.#sameLimitMs = nowMs
      this.#offer(worker, nowMs)
    } else if (nowMs - this.#sameLimitMs > otherLimitMs && this.revoke()) this.#change(callsMax, nowMs)
    return this.#take(key, callsMax, amount)
  }

  /** Counts calls that have passed, and returns the total of the key. */
  add(key: string, amount: number): number {
    const { limiter } = this.#settings
    const { counter, periodSeconds } = this.#name
    const total = noLimit - limiter.take(counter, key, noLimit, periodSeconds, amount).remaining
    if (total + this.#reserve > this.#callsMax && this.#reserve > 0 && !this.#near.has(key))
      this.#markNear(key)
    return total
  }

  /** Counts calls that a worker let pass in advance. */
  report(passed: PassedKeys): CountedKeys {
    this.#sameLimitMs = this.#used()
    const counted: number[] = []
    for (let at = 0; at < passed.length; at += 2) {
      const calls = passed[at + 1] as number
      const total = this.add(passed[at] as string, calls)
      // Most keys of many have no other calls, and the message stays short.
      if (total > calls) counted.push(at / 2, total, Math.round(this.#settings.limiter.resetMs))
    }
    this.#sweep()
    return counted
  }

  /** The worker has ended. For a period its allowance counts as used, because its last calls may not be counted. */
  ended(worker: ToWorker): void {
    const holder = this.#holders.get(worker)
    if (holder === undefined) return
    holder.endedAtMs = this.#settings.now()
    this.#forgetAtMs = Math.min(this.#forgetAtMs, holder.endedAtMs + this.periodMs)
    for (const near of this.#near.values()) this.#settle(near)
  }

  /** Withdraws all allowances. True: no worker has one, and everything is counted. */
  revoke(): boolean {
    if (this.#holders.size === 0) return true
    if (this.#isRevoking) return false
    this.#isRevoking = true
    const living = [...this.#holders.values()].filter(({ endedAtMs }) => endedAtMs === undefined)
    const replies = living.map(async (holder) => {
      await holder.worker.ask("revokeAllowance", this.#name.id)
      this.#forget(holder)
    })
    void Promise.allSettled(replies).then(() => {
      this.#isRevoking = false
    })
    return false
  }

  get id(): number {
    return this.#name.id
  }

  get periodMs(): number {
    return this.#name.periodSeconds * 1000
  }

  /** Returns the time. */
  #used(): number {
    const nowMs = this.#settings.now()
    this.usedAtMs = nowMs
    if (nowMs <= this.#forgetAtMs) return nowMs
    this.#forgetAtMs = Number.POSITIVE_INFINITY
    for (const holder of [...this.#holders.values()]) {
      const untilMs = (holder.endedAtMs ?? Number.POSITIVE_INFINITY) + this.periodMs
      if (nowMs > untilMs) this.#forget(holder)
      else this.#forgetAtMs = Math.min(this.#forgetAtMs, untilMs)
    }
    return nowMs
  }

  #take(key: string, callsMax: number, amount: number): MachineTaken | Promise<MachineTaken> {
    let near = this.#near.get(key)
    if (near === undefined) {
      if (this.#reserve === 0) return this.#decide(key, callsMax, amount, 0)
      const excess = Math.max(0, callsMax - this.#callsMax)
      const safe = this.#decide(key, callsMax, amount, excess + this.#reserve)
      if (safe[0] === 1) return safe
      near = this.#markNear(key)
    }
    const { waiting, patience, open } = near
    if (patience !== undefined)
      return new Promise((resolve) => waiting.push(() => resolve(this.#take(key, callsMax, amount))))
    const taken = this.#decide(key, callsMax, amount, sumOf(open))
    if (taken[0] === 1) this.#farIf(key, callsMax - taken[1])
    return taken
  }

  /** Counts the calls if they fit although `reserve` calls may be uncounted. */
  #decide(key: string, callsMax: number, amount: number, reserve: number): MachineTaken {
    const { limiter } = this.#settings
    const { counter, periodSeconds } = this.#name
    const { allowed, remaining } = limiter.take(counter, key, callsMax - reserve, periodSeconds, amount)
    // A refusal stays valid until then unless uncounted calls are the reason.
    const isCertain = reserve === 0 ? 1 : 0
    return [allowed ? 1 : 0, allowed ? remaining + reserve : remaining, limiter.resetMs, isCertain]
  }

  #offer(worker: ToWorker, nowMs: number): void {
    const { workers } = this.#settings
    const allowance = allowanceOf(this.#callsMax, workers)
    if (allowance === 0 || this.#isOff || this.#holders.has(worker)) return
    // The place of a worker that ended is free a period later.
    if (nowMs < this.#offersFromMs || this.#holders.size >= workers || this.#isRevoking) return
    this.#holders.set(worker, { worker, allowance, endedAtMs: undefined })
    worker.tell("allow", { ...this.#name, callsMax: this.#callsMax, allowance, near: [...this.#near.keys()] })
  }

  /** Another limit. After a period of counting one by one, all keys above the new reserve are known as near. */
  #change(callsMax: number, nowMs: number): void {
    this.#callsMax = callsMax
    this.#sameLimitMs = nowMs
    this.#offersFromMs = nowMs + this.periodMs
    this.#reserveAgain()
  }

  #markNear(key: string): NearKey {
    const near: NearKey = { open: new Set(this.#holders.values()), waiting: [], patience: undefined }
    this.#near.set(key, near)
    if (this.#near.size > nearKeysMax) {
      this.#isOff = true
      this.revoke()
    }
    const living = [...near.open].filter(({ endedAtMs }) => endedAtMs === undefined)
    for (const holder of living)
      holder.worker.ask("nearLimit", this.#name.id, key).then(
        () => {
          near.open.delete(holder)
          this.#settle(near)
        },
        // It has ended.
        () => undefined,
      )
    if (living.length > 0) near.patience = setTimeout(() => this.#proceed(near), patienceMs)
    return near
  }

  #settle(near: NearKey): void {
    if (near.patience === undefined) return
    for (const { endedAtMs } of near.open) if (endedAtMs === undefined) return
    this.#proceed(near)
  }

  #proceed(near: NearKey): void {
    clearTimeout(near.patience)
    near.patience = undefined
    for (const run of near.waiting.splice(0)) run()
  }

  /** Allows advances of the key again when its total is well below the limit. */
  #farIf(key: string, total: number): void {
    const near = this.#near.get(key)
    if (near === undefined || near.open.size > 0 || total + 2 * this.#reserve > this.#callsMax) return
    this.#near.delete(key)
    for (const { worker, endedAtMs } of this.#holders.values())
      if (endedAtMs === undefined) worker.tell("farFromLimit", this.#name.id, key)
  }

  /** Looks at the keys that have been near for longest. */
  #sweep(): void {
    const { limiter } = this.#settings
    const { counter, periodSeconds } = this.#name
    let looked = 0
    for (const [key, near] of this.#near) {
      if (++looked > sweptKeys) return
      this.#near.delete(key)
      this.#near.set(key, near)
      this.#farIf(key, noLimit - limiter.take(counter, key, noLimit, periodSeconds, 0).remaining)
    }
  }

  #forget(holder: Holder): void {
    this.#holders.delete(holder.worker)
    this.#reserveAgain()
    for (const near of this.#near.values()) if (near.open.delete(holder)) this.#settle(near)
    if (this.#reserve === 0) this.#near.clear()
  }

  /** Room for the allowances of all workers, also of those that may come. */
  #reserveAgain(): void {
    const { workers } = this.#settings
    const wanted = this.#isOff ? 0 : workers * allowanceOf(this.#callsMax, workers)
    this.#reserve = Math.max(wanted, sumOf(this.#holders.values()))
  }
}

/** How many calls of a key a worker may let pass in advance. */
function allowanceOf(callsMax: number, workers: number): number {
  return Math.min(allowanceMax, Math.floor(callsMax / (limitParts * workers)))
}

function sumOf(holders: Iterable<Holder>): number {
  let sum = 0
  for (const { allowance } of holders) sum += allowance
  return sum
}
