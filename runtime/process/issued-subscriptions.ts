import { type Commit, firstCommit } from "../check/ports.ts"
import type { IssuedKeys, Subscriber } from "../identity/keys.ts"
import type { Database } from "../store/database.ts"
import { keysUsed, listenToSubscriptions, subscriptionsSince } from "../store/subscriptions.ts"
import { IssuedTable } from "./issued-table.ts"

/** The dependencies of `IssuedSubscriptions`. */
export interface IssuedSubscriptionsSettings {
  readonly database: Database
  readonly pollMs?: number
  /** Interval at which the times of use are written, in milliseconds. */
  readonly usedEveryMs?: number
  readonly now?: () => number
  /** Called when the database no longer contains the commit that this process holds. */
  readonly onHistoryLost?: (held: Commit, found: Commit) => void
  /** Called after a change of `error`. */
  readonly onChange?: (error: string | undefined) => void
}

/** A hundred thousand changes are fifty round trips; the rows of a page take about a megabyte. */
const pageRows = 2_000
/** Half a second, so that a change is known everywhere within a second even when the server sends no notices. */
const pollMsDefault = 500
const usedEveryMsDefault = 30_000

/**
 * The issued subscriptions that this process knows. It reads all of them once, and then the changes: at each notice, and twice a second
 * anyway. While the database is unavailable it keeps what it knows.
 */
export class IssuedSubscriptions implements IssuedKeys {
  readonly #settings: IssuedSubscriptionsSettings
  readonly #used = new Map<string, Date>()
  readonly #now: () => number
  #table = new IssuedTable()
  #held: Commit = firstCommit
  #complete = false
  #error: string | undefined
  #reading: Promise<void> | undefined
  #next: Promise<void> | undefined
  #timers: NodeJS.Timeout[] = []
  #unlisten: () => void = () => undefined
  #closed = false

  constructor(settings: IssuedSubscriptionsSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
  }

  /** False until all subscriptions were read once. */
  get complete(): boolean {
    return this.#complete
  }

  /** Why the subscriptions may be out of date; undefined when they are current. */
  get error(): string | undefined {
    return this.#error
  }

  /** The revision of the newest known change. */
  get revision(): number {
    return this.#held.revision
  }

  /** Number of keys that are valid or may become valid again. */
  get keys(): number {
    return this.#table.keys
  }

  /** Reads all subscriptions and follows from then on. Does not reject. */
  async start(): Promise<void> {
    const { database, pollMs = pollMsDefault, usedEveryMs = usedEveryMsDefault } = this.#settings
    this.#unlisten = listenToSubscriptions(database, () => void this.refresh())
    await this.refresh()
    this.#timers = [
      setInterval(() => void this.refresh(), pollMs),
      setInterval(() => void this.#writeUsed(), usedEveryMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  /** Reads the changes now. Does not reject: a failure is in `error`. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      // The read in progress may have started before the change that the caller knows of.
      this.#next ??= this.#reading.then(() => {
        this.#next = undefined
        return this.#closed ? undefined : this.refresh()
      })
      return this.#next
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** The subscription of a key. `look`: without noting the use, for explanations. */
  find(digest: string, look = false): Subscriber | string | undefined {
    const nowMs = this.#now()
    const found = this.#table.find(digest, nowMs)
    if (found === undefined) return undefined
    const { state, subscriber } = found
    if (state !== "active") return `the subscription \`${subscriber.name}\` is ${state}`
    if (look) return subscriber
    const last = this.#used.get(digest)
    // At most once a second, because this runs on every call.
    if (last === undefined || nowMs - last.getTime() >= 1_000) this.#used.set(digest, new Date(nowMs))
    return subscriber
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unlisten()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#reading
    await this.#writeUsed()
  }

  /** Reads changes page by page. If the database lost commits, everything is read again. */
  async #read(): Promise<void> {
    try {
      for (;;) {
        const { records, at, lost } = await subscriptionsSince(this.#settings.database, this.#held, pageRows)
        if (lost) {
          this.#startOver(at)
          continue
        }
        for (const record of records) this.#table.set(record)
        this.#held = at
        if (records.length < pageRows) break
      }
      this.#complete = true
      this.#failed(undefined)
    } catch (error) {
      this.#failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** The database's history no longer contains the commit held: no key is valid until all subscriptions are read again. */
  #startOver(found: Commit): void {
    const held = this.#held
    this.#complete = false
    this.#table = new IssuedTable()
    this.#held = firstCommit
    this.#settings.onHistoryLost?.(held, found)
  }

  #failed(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#settings.onChange?.(error)
  }

  async #writeUsed(): Promise<void> {
    const times = new Map(this.#used)
    this.#used.clear()
    const stored = new Map(
      [...times].map(([digest, at]) => [Buffer.from(digest, "latin1").toString("hex"), at]),
    )
    await keysUsed(this.#settings.database, stored).catch(() => {
      // Keep the times that could not be written, except where a later time is known.
      for (const [digest, at] of times) if (!this.#used.has(digest)) this.#used.set(digest, at)
    })
  }
}
