import { type Commit, firstCommit } from "../check/ports.ts"
import type { IssuedKeys, Subscriber } from "../identity/keys.ts"
import type { Database } from "../store/database.ts"
import {
  keysUsed,
  listenToSubscriptions,
  type SubscriptionRecord,
  stateOf,
  subscriptionsSince,
} from "../store/subscriptions.ts"

/** What an `IssuedSubscriptions` works with. */
export interface IssuedSubscriptionsSettings {
  readonly database: Database
  readonly pollMs?: number
  /** How often the times of use are written. */
  readonly usedEveryMs?: number
  readonly now?: () => number
  /** Told when the database does not have what was held here any more. */
  readonly onHistoryLost?: (held: Commit, found: Commit) => void
  /** Told after a change of `error`. */
  readonly onChange?: (error: string | undefined) => void
}

interface Entry {
  readonly hex: string
  readonly digest: Buffer
  readonly record: SubscriptionRecord
  readonly subscriber: Subscriber
}

const pageRows = 1_000
/** Half of the second in which a change is to be known everywhere, for servers that send no notices. */
const pollMsDefault = 500
const usedEveryMsDefault = 30_000

/**
 * The subscriptions that were issued, as this process knows them: read whole once, then what has changed, as soon as it is told and twice a second anyway. A
 * process that cannot ask the database keeps what it knows.
 */
export class IssuedSubscriptions implements IssuedKeys {
  readonly #settings: IssuedSubscriptionsSettings
  readonly #byDigest = new Map<string, Entry>()
  readonly #digestsOf = new Map<string, readonly string[]>()
  readonly #used = new Map<string, Date>()
  readonly #now: () => number
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

  /** False until all were read once. */
  get complete(): boolean {
    return this.#complete
  }

  /** Why they may be out of date; undefined when they are not. */
  get error(): string | undefined {
    return this.#error
  }

  /** The newest change known. */
  get revision(): number {
    return this.#held.revision
  }

  /** How many keys count or may count again. */
  get keys(): number {
    return this.#byDigest.size
  }

  /** Reads them and follows from then on. Does not reject. */
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

  /** Reads what has changed, now. Does not reject: what was wrong is in `error`. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      // What is being read may not hold yet what the caller knows of.
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

  find(
    digest: string,
    look = false,
  ): { readonly digest: Buffer; readonly owner: Subscriber | string } | undefined {
    const entry = this.#byDigest.get(digest)
    if (entry === undefined) return undefined
    const { record, subscriber } = entry
    const nowMs = this.#now()
    const state = stateOf(record, nowMs)
    if (state !== "active")
      return { digest: entry.digest, owner: `the subscription \`${record.name}\` is ${state}` }
    if (look) return { digest: entry.digest, owner: subscriber }
    const last = this.#used.get(entry.hex)
    // One time a second at most: this is on the way of every call.
    if (last === undefined || nowMs - last.getTime() >= 1_000) this.#used.set(entry.hex, new Date(nowMs))
    return { digest: entry.digest, owner: subscriber }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unlisten()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#reading
    await this.#writeUsed()
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { records, at, lost } = await subscriptionsSince(this.#settings.database, this.#held, pageRows)
        if (lost) {
          this.#startOver(at)
          continue
        }
        for (const record of records) this.#take(record)
        this.#held = at
        if (records.length < pageRows) break
      }
      this.#complete = true
      this.#failed(undefined)
    } catch (error) {
      this.#failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** What is held is in no history of the database (any more): no key counts before all are read again. */
  #startOver(found: Commit): void {
    const held = this.#held
    this.#complete = false
    this.#byDigest.clear()
    this.#digestsOf.clear()
    this.#held = firstCommit
    this.#settings.onHistoryLost?.(held, found)
  }

  #take(record: SubscriptionRecord): void {
    for (const digest of this.#digestsOf.get(record.name) ?? []) this.#byDigest.delete(digest)
    const { name, scope } = record
    const subscriber: Subscriber = {
      name,
      product: scope.kind === "product" ? scope.name : undefined,
      api: scope.kind === "api" ? scope.name : undefined,
      all: scope.kind === "all" || undefined,
      sinceMs: record.createdAt.getTime(),
      untilMs: record.expiresAt?.getTime(),
      owner: record.owner === "" ? undefined : record.owner,
    }
    const digests: string[] = []
    for (const key of Object.values(record.deleted ? {} : record.keys)) {
      const digest = Buffer.from(key.digest, "hex")
      digests.push(digest.toString("latin1"))
      this.#byDigest.set(digest.toString("latin1"), { hex: key.digest, digest, record, subscriber })
    }
    if (digests.length === 0) this.#digestsOf.delete(name)
    else this.#digestsOf.set(name, digests)
  }

  #failed(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#settings.onChange?.(error)
  }

  async #writeUsed(): Promise<void> {
    const times = new Map(this.#used)
    this.#used.clear()
    await keysUsed(this.#settings.database, times).catch(() => {
      // Times that could not be written are of no use to anybody later than those that follow.
      for (const [digest, at] of times) if (!this.#used.has(digest)) this.#used.set(digest, at)
    })
  }
}
