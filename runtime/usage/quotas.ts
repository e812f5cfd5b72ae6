import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "../store/database.ts"
import { dropEndedQuotas, type QuotaPeriod, reserveQuota } from "../store/quotas.ts"

/** A volume that can be used up; see runtime/policies/quotas.ts. */
interface Terms {
  readonly counter: string
  readonly callsMax: number | undefined
  readonly bytesMax: number | undefined
  readonly periodSeconds: number
}

type Answer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly out: "calls" | "bytes"; readonly resetSeconds: number | null }

/** What quotas work with. */
export interface QuotasSettings {
  readonly database: Database
  readonly now?: () => number
  /** How often bytes and late calls are written. */
  readonly everyMs?: number
}

interface Entry {
  readonly period: QuotaPeriod
  /** Calls reserved in the database and not used yet. */
  granted: number
  /** Used by all processes, as last read; reserved calls are in it. */
  calls: number
  bytes: number
  /** Used here and not written yet. */
  owedCalls: number
  owedBytes: number
  /** Nothing was left, at this maximum: not asked again before. */
  emptyUntilMs: number
  emptyMax: number
  usedAtMs: number
  /** Calls that wait for more. */
  waiting: number
  asking: Promise<void> | undefined
}

const everyMsDefault = 1_000
const idleMs = 60_000
const emptyMs = 1_000
const portionShare = 200
const portionMax = 1_000
const allowed: Answer = { allowed: true }

/**
 * Quotas that last. Calls are reserved in the database in portions of half a percent, and used from memory: never more than the quota passes, and as long as a process holds a
 * portion others may be refused that much too early (a percent for each process; nothing with one process, nothing with quotas of 200 or less). What a killed process
 * held is lost to the caller. While the database is away calls pass up to what is known to be left, and are written when it is back.
 */
export class Quotas {
  readonly #settings: QuotasSettings
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  #timers: NodeJS.Timeout[] = []
  #error: string | undefined

  constructor(settings: QuotasSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
  }

  /** Why what is used cannot be written; undefined when it can. */
  get error(): string | undefined {
    return this.#error
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.flush(), this.#settings.everyMs ?? everyMsDefault),
      setInterval(() => void dropEndedQuotas(this.#settings.database).catch(() => undefined), 3_600_000),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  take(terms: Terms, key: string, anchorMs: number, calls: number): Answer | Promise<Answer> {
    const entry = this.#entry(terms, key, anchorMs)
    const need = Math.max(1, calls)
    if (entry.usedAtMs > 0 && (terms.callsMax === undefined || entry.granted >= need))
      return this.#use(entry, terms, calls)
    if (entry.usedAtMs > 0 && this.#isEmpty(entry, terms)) return this.#refused(entry, "calls")
    return this.#wait(entry, terms, calls, need)
  }

  add(
    terms: Terms,
    key: string,
    anchorMs: number,
    { calls, bytes }: { readonly calls: number; readonly bytes: number },
  ): void {
    const entry = this.#entry(terms, key, anchorMs)
    const reserved = Math.min(entry.granted, calls)
    entry.granted -= reserved
    entry.owedCalls += calls - reserved
    entry.owedBytes += bytes
  }

  /** What all processes used in the period, what was reserved and not used left out; undefined: the database is away. */
  async look(
    terms: Terms,
    key: string,
    anchorMs: number,
  ): Promise<
    { readonly calls: number; readonly bytes: number; readonly resetSeconds: number | null } | undefined
  > {
    const entry = this.#entry(terms, key, anchorMs)
    await entry.asking
    if ((await this.#write(entry, 0, 0, undefined)) === undefined) return undefined
    const { endsMs } = entry.period
    return {
      calls: entry.calls - entry.granted + entry.owedCalls,
      bytes: entry.bytes + entry.owedBytes,
      resetSeconds: endsMs === null ? null : Math.ceil((endsMs - this.#now()) / 1_000),
    }
  }

  /** Writes what was used, and gives back what nobody uses. Does not reject. */
  async flush(): Promise<void> {
    for (const [id, entry] of this.#entries) {
      const idle = this.#now() - entry.usedAtMs > idleMs || this.#isOver(entry)
      if (
        entry.asking === undefined &&
        (entry.owedCalls > 0 || entry.owedBytes > 0 || (idle && entry.granted > 0))
      )
        await this.#settle(entry, idle)
      if (idle && entry.granted === 0 && entry.owedCalls === 0 && entry.owedBytes === 0)
        this.#entries.delete(id)
    }
  }

  /** Writes everything, and gives back what was reserved. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    for (const entry of this.#entries.values()) {
      await entry.asking
      if (entry.granted > 0 || entry.owedCalls > 0 || entry.owedBytes > 0) await this.#settle(entry, true)
    }
  }

  #use(entry: Entry, terms: Terms, calls: number): Answer {
    const { callsMax, bytesMax } = terms
    entry.usedAtMs = this.#now()
    if (bytesMax !== undefined && entry.bytes + entry.owedBytes >= bytesMax)
      return this.#refused(entry, "bytes")
    if (callsMax === undefined) return allowed
    if (entry.granted >= Math.max(1, calls)) {
      entry.granted -= calls
      // The next portion comes while this one lasts, so that nobody waits for it.
      const portion = portionOf(callsMax)
      if (portion > 1 && entry.granted < portion / 2 && entry.calls < callsMax) void this.#ask(entry, terms)
      return allowed
    }
    if (this.#error !== undefined && entry.calls - entry.granted + entry.owedCalls + calls <= callsMax) {
      entry.owedCalls += calls
      return allowed
    }
    return this.#refused(entry, "calls")
  }

  #refused({ period }: Entry, out: "calls" | "bytes"): Answer {
    const resetSeconds = period.endsMs === null ? null : Math.ceil((period.endsMs - this.#now()) / 1_000)
    return { allowed: false, out, resetSeconds }
  }

  #isEmpty(entry: Entry, { callsMax }: Terms): boolean {
    return this.#error === undefined && entry.emptyMax === callsMax && this.#now() < entry.emptyUntilMs
  }

  #isOver({ period }: Entry): boolean {
    return period.endsMs !== null && period.endsMs <= this.#now()
  }

  /** One question at a time for a key: who comes meanwhile waits for it, and asks again where it was not enough for all. */
  async #wait(entry: Entry, terms: Terms, calls: number, need: number): Promise<Answer> {
    entry.waiting += need
    try {
      for (;;) {
        await this.#ask(entry, terms)
        const enough = terms.callsMax === undefined || entry.granted >= need
        if (enough || this.#error !== undefined || this.#isEmpty(entry, terms))
          return this.#use(entry, terms, calls)
      }
    } finally {
      entry.waiting -= need
    }
  }

  #ask(entry: Entry, terms: Terms): Promise<void> {
    entry.asking ??= this.#reserve(entry, terms).finally(() => {
      entry.asking = undefined
    })
    return entry.asking
  }

  async #reserve(entry: Entry, { callsMax }: Terms): Promise<void> {
    const wanted = callsMax === undefined ? 0 : Math.max(entry.waiting, portionOf(callsMax))
    const granted = await this.#write(entry, 0, wanted, callsMax)
    if (granted === undefined || callsMax === undefined) return
    entry.granted += granted
    if (granted < wanted) {
      entry.emptyMax = callsMax
      entry.emptyUntilMs = this.#now() + emptyMs
    }
  }

  async #settle(entry: Entry, giveBack: boolean): Promise<void> {
    const back = giveBack ? entry.granted : 0
    entry.granted -= back
    const written = await this.#write(entry, back, 0, undefined)
    if (written === undefined) entry.granted += back
  }

  /** Writes what is owed, less `back`; answers what was granted, undefined when the database is away. */
  async #write(
    entry: Entry,
    back: number,
    wanted: number,
    callsMax: number | undefined,
  ): Promise<number | undefined> {
    const owed = { calls: entry.owedCalls, bytes: entry.owedBytes }
    try {
      const spent = { calls: owed.calls - back, bytes: owed.bytes }
      const { calls, bytes, granted } = await reserveQuota(
        this.#settings.database,
        entry.period,
        spent,
        wanted,
        callsMax,
      )
      entry.owedCalls -= owed.calls
      entry.owedBytes -= owed.bytes
      entry.calls = calls
      entry.bytes = bytes
      this.#error = undefined
      return granted
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#error = `quotas count in memory${error instanceof SourceUnavailable ? "" : " (not a fault of the connection)"}: ${reason}`
      return undefined
    }
  }

  #entry({ counter, periodSeconds }: Terms, key: string, anchorMs: number): Entry {
    const period = periodOf(counter, key, periodSeconds, anchorMs, this.#now())
    const id = `${counter}\n${key}\n${period.startMs}`
    let entry = this.#entries.get(id)
    if (entry === undefined) {
      const nothing = { granted: 0, waiting: 0, calls: 0, bytes: 0, owedCalls: 0, owedBytes: 0 }
      entry = { period, ...nothing, emptyUntilMs: 0, emptyMax: 0, usedAtMs: 0, asking: undefined }
      this.#entries.set(id, entry)
    }
    return entry
  }
}

function periodOf(
  counter: string,
  key: string,
  periodSeconds: number,
  anchorMs: number,
  nowMs: number,
): QuotaPeriod {
  if (periodSeconds === 0) return { counter, key, startMs: anchorMs, endsMs: null }
  const lengthMs = periodSeconds * 1_000
  const startMs = anchorMs + Math.floor((nowMs - anchorMs) / lengthMs) * lengthMs
  return { counter, key, startMs, endsMs: startMs + lengthMs }
}

function portionOf(callsMax: number): number {
  return Math.max(1, Math.min(portionMax, Math.floor(callsMax / portionShare)))
}
