import * as z from "zod"
import type { Database } from "../store/database.ts"
import { newId } from "../store/ids.ts"
import {
  addQuotaUses,
  nothingUsed,
  type QuotaPeriod,
  type QuotaUsed,
  type StoredQuotaState,
} from "../store/quotas.ts"
import { batchId, Spool } from "./spool.ts"

/** The usage of a period by this process, and the usage by all processes known at that time. */
export interface QuotaDebt extends QuotaPeriod {
  readonly calls: number
  readonly bytes: number
  readonly knownCalls: number
  readonly knownBytes: number
  /** Absent in files of earlier versions. */
  readonly knownReturned?: number | undefined
}

/** The usage of a period that is not in the database yet, and the known lower bound of the total usage. */
export interface Owing {
  calls: number
  bytes: number
  knownCalls: number
  knownBytes: number
  /** Number of batches that contain it. */
  batches: number
  /** Whether a caller holds this object. */
  held: boolean
}

interface Batch {
  readonly id: string
  readonly quotas: readonly QuotaDebt[]
}

const count = z.number().int().min(0)
const batchShape: z.ZodType<Batch> = z.strictObject({
  id: batchId,
  quotas: z.array(
    z.strictObject({
      counter: z.string(),
      key: z.string(),
      startMs: z.number().int(),
      endsMs: z.number().int().nullable(),
      calls: z.number().int(),
      bytes: count,
      knownCalls: count,
      knownBytes: count,
      knownReturned: count.optional(),
    }),
  ),
})

const batchesAtOnce = 50

/**
 * Usage of quotas that could not be written: batches on disk. The database counts each batch once, even if it is sent several times, by this process or
 * by the next one on the machine. All processes that read these files count them as used.
 */
export class QuotaDebts {
  readonly #database: Database
  readonly #spool: Spool<Batch>
  readonly #written: (use: QuotaPeriod, used: StoredQuotaState) => void
  readonly #owing = new Map<string, Owing>()
  readonly #batches = new Map<string, Batch>()

  /** `written` is called with the new total usage of a period. */
  constructor(
    database: Database,
    settings: { readonly folder: string; readonly bytesMax: number },
    written: (use: QuotaPeriod, used: StoredQuotaState) => void,
  ) {
    this.#database = database
    this.#spool = new Spool(settings.folder, settings.bytesMax, batchShape)
    this.#written = written
  }

  /** The unwritten usage of a period. Returns the same object until `forget`. */
  of(id: string): Owing {
    const owing = this.#of(id)
    owing.held = true
    return owing
  }

  /** Releases the object of a period. */
  forget(id: string): void {
    const owing = this.#of(id)
    owing.held = false
    if (owing.batches === 0) this.#owing.delete(id)
  }

  /** Writes usage to the database, or else to disk. `isKept` false: neither was possible, and the usage remains the caller's. Does not reject. */
  async settle(
    quotas: readonly QuotaDebt[],
  ): Promise<{ readonly fault: unknown; readonly isKept: boolean; readonly why: string } | undefined> {
    const batch = { id: newId(), quotas }
    this.#add(batch)
    try {
      await this.#write(batch)
      return undefined
    } catch (fault) {
      try {
        if (await this.#spool.put(batch)) return { fault, isKept: true, why: "" }
        this.#drop(batch.id)
        return { fault, isKept: false, why: "the spool is full" }
      } catch (error) {
        this.#drop(batch.id)
        return { fault, isKept: false, why: `the spool cannot be written (${(error as Error).message})` }
      }
    }
  }

  /** Reads the batches on disk, including those of other processes. Rejects if the folder cannot be read. */
  async read(): Promise<readonly string[]> {
    const ids = await this.#spool.list()
    const there = new Set(ids)
    for (const id of this.#batches.keys()) if (!there.has(id)) this.#drop(id)
    for (const id of ids) {
      if (this.#batches.has(id)) continue
      const batch = await this.#spool.get(id)
      if (batch !== undefined) this.#add(batch)
    }
    return ids
  }

  /** Writes the batches on disk to the database, oldest first. Returns whether there were any. Rejects if the database is unavailable. */
  async replay(): Promise<boolean> {
    let isAny = false
    for (const id of (await this.read()).slice(0, batchesAtOnce)) {
      const batch = this.#batches.get(id)
      if (batch === undefined) continue
      await this.#write(batch)
      await this.#spool.remove(id)
      isAny = true
    }
    return isAny
  }

  async #write(batch: Batch): Promise<void> {
    const uses = batch.quotas.map((debt) => ({ ...debt, seen: seenOf(debt) }))
    const used = await addQuotaUses(this.#database, batch.id, uses)
    this.#drop(batch.id)
    for (const [at, each] of batch.quotas.entries()) this.#written(each, used[at] as StoredQuotaState)
  }

  #of(id: string): Owing {
    let owing = this.#owing.get(id)
    if (owing === undefined) {
      owing = { calls: 0, bytes: 0, knownCalls: 0, knownBytes: 0, batches: 0, held: false }
      this.#owing.set(id, owing)
    }
    return owing
  }

  #add(batch: Batch): void {
    this.#batches.set(batch.id, batch)
    for (const debt of batch.quotas) {
      const owing = this.#of(periodId(debt))
      owing.batches += 1
      owing.calls += debt.calls
      owing.bytes += debt.bytes
      owing.knownCalls = Math.max(owing.knownCalls, debt.knownCalls)
      owing.knownBytes = Math.max(owing.knownBytes, debt.knownBytes)
    }
  }

  #drop(id: string): void {
    const batch = this.#batches.get(id)
    this.#batches.delete(id)
    for (const debt of batch?.quotas ?? []) {
      const owing = this.#of(periodId(debt))
      owing.batches -= 1
      owing.calls -= debt.calls
      owing.bytes -= debt.bytes
      if (owing.batches === 0 && !owing.held) this.#owing.delete(periodId(debt))
    }
  }
}

function seenOf({ knownCalls, knownBytes, knownReturned }: QuotaDebt): QuotaUsed {
  // Without the returned calls, lost counts cannot be detected.
  if (knownReturned === undefined) return nothingUsed
  return { calls: knownCalls, bytes: knownBytes, returned: knownReturned }
}

/** The id of a period within a process. */
export function periodId({ counter, key, startMs }: QuotaPeriod): string {
  return `${counter}\n${key}\n${startMs}`
}
