import * as z from "zod"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import { addUsage, tidyUsage, type UsageRow } from "../store/usage.ts"
import { batchId, Spool } from "./spool.ts"
import { type MeteredCall, UsageTally } from "./tally.ts"

const count = z.number().int().min(0)
/** Rows with an id, by which the database counts them once. */
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

/** Dependencies and settings of a recorder. */
export interface UsageRecorderSettings {
  readonly database: Database
  /** Folder for batches that cannot be written to the database. */
  readonly spoolFolder: string
  readonly spoolBytesMax?: number
  /** How often sums are written. Calls counted since the last write are lost if the process is killed. */
  readonly everyMs?: number
  /** How often old rows are merged. */
  readonly tidyEveryMs?: number
  readonly rowsMax?: number
  /** How many users without subscription are counted by name per hour. */
  readonly usersMax?: number
  /** Called after a change of `error`. */
  readonly onChange?: (error: string | undefined) => void
}

const everyMsDefault = 2_000
const tidyEveryMsDefault = 3_600_000
const spoolBytesMaxDefault = 64 * 2 ** 20
const rowsMaxDefault = 100_000
const retryBatches = 50

/**
 * Meters calls: keeps sums in memory and writes them to the database in batches every two seconds. The database counts each batch once, even if it is
 * sent several times. While the database is unavailable, batches are kept on disk and counted later. `close` writes everything.
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
  /** Batches for which the disk had no room. */
  readonly #pending: Batch[] = []
  #pendingRows = 0

  constructor(settings: UsageRecorderSettings) {
    this.#settings = settings
    this.#tally = new UsageTally(settings.rowsMax ?? rowsMaxDefault, settings.usersMax)
    this.#spool = new Spool(settings.spoolFolder, settings.spoolBytesMax ?? spoolBytesMaxDefault, batchShape)
  }

  /** Why sums are not in the database; undefined if they are written within two seconds. */
  get error(): string | undefined {
    return this.#error
  }

  /** Calls that could not be counted: neither memory nor spool had room. */
  get lost(): number {
    return this.#lost
  }

  /** Number of batches in the spool, as far as known. */
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
    // Writes the batches of an earlier process.
    void this.flush()
  }

  /** Counts a call. Never waits and never fails. */
  add(call: MeteredCall): void {
    if (!this.#tally.add(call)) this.#lost += 1
  }

  /** Writes the current sums and the batches of the spool. Does not reject: unwritten sums are kept. */
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
    this.#report(fault)
  }

  /** Returns why the rows could not be written to the database. */
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

  /** The failed write may have succeeded: the id prevents a double count. */
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

  #report(error: string | undefined): void {
    if (error === this.#error) return
    this.#error = error
    this.#settings.onChange?.(error)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
