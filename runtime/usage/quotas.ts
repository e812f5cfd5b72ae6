import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "../store/database.ts"
import { storedKey } from "../store/ids.ts"
import {
  dropEndedQuotas,
  nothingUsed,
  type QuotaPeriod,
  reserveQuota,
  type StoredQuotaState,
} from "../store/quotas.ts"
import { type Owing, periodId, type QuotaDebt, QuotaDebts } from "./quota-debts.ts"

/** The terms of a quota; see runtime/policies/limits/quotas.ts. */
interface Terms {
  readonly counter: string
  readonly callsMax: number | undefined
  readonly bytesMax: number | undefined
  readonly periodSeconds: number
}

type Answer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly out: "calls" | "bytes"; readonly resetSeconds: number | null }

/** Dependencies and settings of quotas. */
export interface QuotasSettings {
  readonly database: Database
  /** Folder for usage that cannot be written to the database. */
  readonly spoolFolder: string
  readonly spoolBytesMax?: number
  readonly now?: () => number
  /** Called when the database had lost counts that this process knew; they have been restored. */
  readonly onHistoryLost?: (period: QuotaPeriod) => void
  /** How often bytes and late calls are written. */
  readonly everyMs?: number
}

interface Entry {
  readonly period: QuotaPeriod
  /** Calls reserved in the database and not used yet. */
  granted: number
  /** Used by all processes, as last read; includes reserved calls. */
  calls: number
  bytes: number
  returned: number
  /** Used by this process and not written yet. */
  owedCalls: number
  owedBytes: number
  /** Used, and on the way to the database or on disk. */
  readonly owing: Owing
  /** At this maximum nothing was left. Before this time the database is not asked again. */
  emptyUntilMs: number
  emptyMax: number
  usedAtMs: number
  /** Number of calls that wait for a reservation. */
  waiting: number
  asking: Promise<void> | undefined
}

const everyMsDefault = 1_000
const idleMs = 60_000
/** Number of idle entries to keep: while the database is unavailable, only they know the usage. */
const idleMax = 10_000
const spoolBytesMaxDefault = 16 * 2 ** 20
/** Pause before the database is asked again about an exhausted quota. */
const emptyMs = 1_000
const portionShare = 200
const portionMax = 1_000
const allowed: Answer = { allowed: true }

/**
 * Durable quotas. Calls are reserved in the database in portions of half a percent, and used from memory: never more than the quota is allowed. While
 * one process holds a portion, others may be refused early (by up to a percent for each process; not with one process, and not with quotas of 200 or
 * less). The unused portion of a killed process is lost to the caller.
 * While the database is unavailable, calls are allowed up to the last known remainder. Their usage is saved to disk every second. This process or the
 * next one writes it when the database is available again.
 */
export class Quotas {
  readonly #settings: QuotasSettings
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  readonly #debts: QuotaDebts
  #timers: NodeJS.Timeout[] = []
  #flushing: Promise<void> | undefined
  #error: string | undefined

  constructor(settings: QuotasSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
    const { database, spoolFolder: folder, spoolBytesMax: bytesMax = spoolBytesMaxDefault } = settings
    this.#debts = new QuotaDebts(database, { folder, bytesMax }, (period, used) => {
      const entry = this.#entries.get(periodId(period))
      if (entry !== undefined) this.#saw(entry, used)
    })
  }

  /** Why usage cannot be written; undefined if it can. */
  get error(): string | undefined {
    return this.#error
  }

  /** Starts with the usage that an earlier process left on disk. */
  async start(): Promise<void> {
    await this.#debts
      .read()
      .catch((error: unknown) => this.#failed("in memory, the spool cannot be read", error))
    this.#timers = [
      setInterval(() => {
        if (this.#flushing === undefined) void this.flush()
      }, this.#settings.everyMs ?? everyMsDefault),
      setInterval(() => void dropEndedQuotas(this.#settings.database).catch(() => undefined), 3_600_000),
    ]
    for (const timer of this.#timers) timer.unref()
    void this.flush()
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

  /** The usage of the period by all processes, without unused reservations; undefined if the database is unavailable. */
  async look(
    terms: Terms,
    key: string,
    anchorMs: number,
  ): Promise<
    { readonly calls: number; readonly bytes: number; readonly resetSeconds: number | null } | undefined
  > {
    const entry = this.#entry(terms, key, anchorMs)
    await entry.asking
    if ((await this.#read(entry, 0, undefined)) === undefined) return undefined
    const { endsMs } = entry.period
    return {
      calls: entry.calls - entry.granted + entry.owedCalls + entry.owing.calls,
      bytes: entry.bytes + entry.owedBytes + entry.owing.bytes,
      resetSeconds: endsMs === null ? null : Math.ceil((endsMs - this.#now()) / 1_000),
    }
  }

  /** Writes the usage and returns idle reservations. Does not reject: unwritten usage is kept. */
  flush(): Promise<void> {
    return this.#inTurn(false)
  }

  /** Writes all usage and returns all reservations. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([...this.#entries.values()].map(({ asking }) => asking))
    await this.#inTurn(true)
  }

  #inTurn(isLast: boolean): Promise<void> {
    const turn = (this.#flushing ?? Promise.resolve())
      .then(() => this.#flush(isLast))
      .finally(() => {
        if (this.#flushing === turn) this.#flushing = undefined
      })
    this.#flushing = turn
    return turn
  }

  async #flush(isLast: boolean): Promise<void> {
    const settled = [...this.#entries.values()].filter((entry) => this.#isToSettle(entry, isLast))
    const debts = settled.map((entry) => this.#takeDebt(entry, isLast))
    if (debts.length > 0) {
      const writing = this.#settle(settled, debts)
      // A reservation during the write would count this usage twice, so it waits.
      const over = writing.then(() => {
        for (const entry of settled) entry.asking = undefined
      })
      for (const entry of settled) entry.asking = over
      await over
    }
    // After a failed write, the database is unavailable: a second attempt is useless.
    if (!isLast && (debts.length === 0 || this.#error === undefined)) await this.#replay()
    this.#forget()
  }

  #isToSettle(entry: Entry, isLast: boolean): boolean {
    if (entry.asking !== undefined) return false
    return entry.owedCalls > 0 || entry.owedBytes > 0 || (entry.granted > 0 && this.#isBack(entry, isLast))
  }

  /** Whether a reservation is returned. Not while the database is unavailable: the return would only fill the disk. */
  #isBack(entry: Entry, isLast: boolean): boolean {
    return isLast || (this.#error === undefined && this.#isIdle(entry))
  }

  #takeDebt(entry: Entry, isLast: boolean): QuotaDebt {
    const back = this.#isBack(entry, isLast) ? entry.granted : 0
    const debt = {
      ...entry.period,
      calls: entry.owedCalls - back,
      bytes: entry.owedBytes,
      knownCalls: entry.calls,
      knownBytes: entry.bytes,
      knownReturned: entry.returned,
    }
    entry.granted -= back
    entry.owedCalls = 0
    entry.owedBytes = 0
    return debt
  }

  async #settle(settled: readonly Entry[], debts: readonly QuotaDebt[]): Promise<void> {
    const trouble = await this.#debts.settle(debts)
    if (trouble === undefined) {
      this.#error = undefined
      return
    }
    const { fault, isKept, why } = trouble
    this.#failed(isKept ? "on disk" : `in memory, ${why}`, fault)
    if (isKept) return
    settled.forEach((entry, at) => {
      const { calls = 0, bytes = 0 } = debts[at] ?? {}
      // The reservation could not be returned, so it is available again.
      if (calls < 0) entry.granted -= calls
      else entry.owedCalls += calls
      entry.owedBytes += bytes
    })
  }

  async #replay(): Promise<void> {
    try {
      if (await this.#debts.replay()) this.#error = undefined
    } catch (error) {
      this.#failed("on disk", error)
      return
    }
    const [any] = this.#entries.values()
    if (this.#error !== undefined && any !== undefined) await this.#read(any, 0, undefined)
  }

  #forget(): void {
    let idle = 0
    for (const [id, entry] of this.#entries) {
      const { granted, owedCalls, owedBytes, asking } = entry
      if (granted > 0 || owedCalls > 0 || owedBytes > 0 || asking !== undefined || entry.waiting > 0) continue
      if (!this.#isOver(entry) && !(this.#isIdle(entry) && ++idle > idleMax)) continue
      this.#entries.delete(id)
      this.#debts.forget(id)
    }
  }

  #isIdle(entry: Entry): boolean {
    return this.#now() - entry.usedAtMs > idleMs || this.#isOver(entry)
  }

  #use(entry: Entry, terms: Terms, calls: number): Answer {
    const { callsMax, bytesMax } = terms
    entry.usedAtMs = this.#now()
    if (bytesMax !== undefined && this.#bytesOf(entry) >= bytesMax) return this.#refused(entry, "bytes")
    if (callsMax === undefined) return allowed
    if (entry.granted >= Math.max(1, calls)) {
      entry.granted -= calls
      // Reserves the next portion before the current one is used up, so that no call waits for it.
      const portion = portionOf(callsMax)
      if (portion > 1 && entry.granted < portion / 2 && entry.calls < callsMax) void this.#ask(entry, terms)
      return allowed
    }
    if (this.#error !== undefined && this.#callsOf(entry) + calls <= callsMax) {
      entry.owedCalls += calls
      return allowed
    }
    return this.#refused(entry, "calls")
  }

  /** The usage known to this process. While the database is unavailable, an earlier process may have known more. */
  #callsOf({ calls, granted, owedCalls, owing }: Entry): number {
    return Math.max(calls, owing.knownCalls) - granted + owedCalls + owing.calls
  }

  #bytesOf({ bytes, owedBytes, owing }: Entry): number {
    const known = this.#error === undefined ? bytes : Math.max(bytes, owing.knownBytes)
    return known + owedBytes + owing.bytes
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

  /** One reservation at a time per key. Concurrent calls wait for it, and reserve again if it was not enough for all. */
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
    const owed = entry.owedCalls + entry.owing.calls
    const granted = await this.#read(entry, wanted, callsMax === undefined ? undefined : callsMax - owed)
    if (granted === undefined || callsMax === undefined) return
    entry.granted += granted
    if (granted < wanted) {
      entry.emptyMax = callsMax
      entry.emptyUntilMs = this.#now() + emptyMs
    }
  }

  /** Reserves calls and reads the usage. Returns the number of granted calls; undefined if the database is unavailable. */
  async #read(entry: Entry, wanted: number, callsMax: number | undefined): Promise<number | undefined> {
    try {
      const used = await reserveQuota(this.#settings.database, entry.period, wanted, callsMax, entry)
      this.#saw(entry, used)
      this.#error = undefined
      return used.granted
    } catch (error) {
      this.#failed("in memory", error)
      return undefined
    }
  }

  #saw(entry: Entry, { calls, bytes, returned, lost }: StoredQuotaState): void {
    if (lost) this.#settings.onHistoryLost?.(entry.period)
    Object.assign(entry, { calls, bytes, returned })
  }

  #failed(where: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#error = `quotas count ${where}${error instanceof SourceUnavailable ? "" : " (not a fault of the connection)"}: ${reason}`
  }

  #entry({ counter, periodSeconds }: Terms, key: string, anchorMs: number): Entry {
    const period = periodOf(counter, storedKey(key), periodSeconds, anchorMs, this.#now())
    const id = periodId(period)
    let entry = this.#entries.get(id)
    if (entry === undefined) {
      const nothing = { granted: 0, waiting: 0, ...nothingUsed, owedCalls: 0, owedBytes: 0 }
      const owing = this.#debts.of(id)
      entry = { period, ...nothing, owing, emptyUntilMs: 0, emptyMax: 0, usedAtMs: 0, asking: undefined }
      this.#entries.set(id, entry)
    }
    return entry
  }
}

/** The period of a key at a time. Periods begin at `anchorMs`; `periodSeconds` 0: the one that never ends. */
export function periodOf(
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
