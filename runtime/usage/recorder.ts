import * as z from "zod"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { addUsage, tidyUsage, type UsageRow } from "../store/usage.ts"
import { batchId, Spool } from "./spool.ts"
import { type MeteredCall, UsageTally } from "./tally.ts"

const count = z.number().int().min(0)
/** Rows with the id under which they are counted once. */
interface Batch {
  readonly id: string
  readonly rows: readonly UsageRow[]
}

const batchShape: z.ZodType<Batch> = z.strictObject({
  id: batchId,
  rows: z.array(
    z.strictObject({
      bucketMs: count,
      subscription: z.string(),
      product: z.string(),
      api: z.string(),
      version: z.string(),
      operation: z.string(),
      status: count.max(5),
      price: z.string(),
      calls: count,
      billed: count,
      bytesIn: count,
      bytesOut: count,
      latency: z.array(count),
    }),
  ),
})

/** What a recorder works with. */
export interface UsageRecorderSettings {
  readonly database: Database
  /** Folder for what cannot be written to the database. */
  readonly spoolFolder: string
  readonly spoolBytesMax?: number
  /** How often sums are written. What was counted since is lost when the process is killed. */
  readonly everyMs?: number
  /** How often old rows are put together. */
  readonly tidyEveryMs?: number
  readonly rowsMax?: number
  /** How many users of calls without subscription are told by name in one hour. */
  readonly usersMax?: number
  /** Told after a change of `error`. */
  readonly onChange?: (error: string | undefined) => void
}

const everyMsDefault = 2_000
const tidyEveryMsDefault = 3_600_000
const spoolBytesMaxDefault = 64 * 2 ** 20
const rowsMaxDefault = 100_000
const retryBatches = 50

/**
 * Meters calls: sums in memory, written to the database in batches every two seconds, each counted once however often it is sent. While the database is away
 * they are kept on disk, and counted when it is back. `close` leaves nothing behind in memory.
 */
export class UsageRecorder {
  readonly #settings: UsageRecorderSettings
  readonly #tally: UsageTally
  readonly #spool: Spool<Batch>
  #turn: Promise<void> = Promise.resolve()
  #timers: NodeJS.Timeout[] = []
  #error: string | undefined
  #lost = 0
  #spooled = 0
  /** Batches for which there was no room on disk. */
  readonly #pending: Batch[] = []
  #pendingRows = 0

  constructor(settings: UsageRecorderSettings) {
    this.#settings = settings
    this.#tally = new UsageTally(settings.rowsMax ?? rowsMaxDefault, settings.usersMax)
    this.#spool = new Spool(settings.spoolFolder, settings.spoolBytesMax ?? spoolBytesMaxDefault, batchShape)
  }

  /** Why sums are not in the database; undefined when they are, within two seconds. */
  get error(): string | undefined {
    return this.#error
  }

  /** Calls that could not be counted: neither memory nor spool had room. */
  get lost(): number {
    return this.#lost
  }

  /** Batches in the spool, as far as known. */
  get spooled(): number {
    return this.#spooled
  }

  start(): void {
    const { everyMs = everyMsDefault, tidyEveryMs = tidyEveryMsDefault, database } = this.#settings
    this.#timers = [
      setInterval(() => void this.flush(), everyMs),
      setInterval(() => void tidyUsage(database).catch(() => undefined), tidyEveryMs),
    ]
    for (const timer of this.#timers) timer.unref()
    // What an earlier process left.
    void this.flush()
  }

  /** Counts a call. Does not wait and does not fail. */
  add(call: MeteredCall): void {
    if (!this.#tally.add(call)) this.#lost += 1
  }

  /** Writes what was counted until now, and what the spool has. Does not reject: what could not be written is kept. */
  flush(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#flush())
    return this.#turn
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  async #flush(): Promise<void> {
    const rows = this.#tally.drain()
    const fault = (await this.#write(rows)) ?? (await this.#replay())
    this.#told(fault)
  }

  /** The reason why it could not be written to the database. */
  async #write(rows: readonly UsageRow[]): Promise<string | undefined> {
    if (rows.length === 0) return undefined
    const batch = { id: newId(), rows }
    try {
      await addUsage(this.#settings.database, batch.id, rows)
      return undefined
    } catch (error) {
      return `${await this.#keep(batch)}: ${reasonOf(error)}`
    }
  }

  /** It may have been written all the same: under its id it is counted once. */
  async #keep(batch: Batch): Promise<string> {
    let why = "the spool is full"
    try {
      if (await this.#spool.put(batch)) {
        this.#spooled += 1
        return "usage is stored on disk"
      }
    } catch (error) {
      why = `the spool cannot be written (${reasonOf(error)})`
    }
    if (this.#pendingRows + batch.rows.length > (this.#settings.rowsMax ?? rowsMaxDefault)) {
      this.#lost += batch.rows.reduce((sum, { calls }) => sum + calls, 0)
      return `calls are no longer counted: ${why}`
    }
    this.#pending.push(batch)
    this.#pendingRows += batch.rows.length
    return `usage is kept in memory, ${why}`
  }

  async #replay(): Promise<string | undefined> {
    try {
      for (let batch = this.#pending[0]; batch !== undefined; batch = this.#pending[0]) {
        await addUsage(this.#settings.database, batch.id, batch.rows)
        this.#pendingRows -= batch.rows.length
        this.#pending.shift()
      }
      const ids = await this.#spool.list()
      this.#spooled = ids.length
      for (const id of ids.slice(0, retryBatches)) {
        const batch = await this.#spool.get(id)
        if (batch === undefined) continue
        await addUsage(this.#settings.database, batch.id, batch.rows)
        await this.#spool.remove(id)
        this.#spooled -= 1
      }
      return undefined
    } catch (error) {
      return `usage is kept ${this.#pending.length > 0 ? "in memory" : "on disk"}: ${reasonOf(error)}`
    }
  }

  #told(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#settings.onChange?.(error)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
