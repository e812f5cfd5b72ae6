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

/** What was used of a period, and what was known then to be used of it by all. */
export interface QuotaDebt extends QuotaPeriod {
  readonly calls: number
  readonly bytes: number
  readonly knownCalls: number
  readonly knownBytes: number
  /** Absent in what an earlier version left. */
  readonly knownReturned?: number | undefined
}

/** What of a period is not in the database yet, and how much of it is used at least. */
export interface Owing {
  calls: number
  bytes: number
  knownCalls: number
  knownBytes: number
  /** Batches it is in. */
  batches: number
  /** Somebody goes by this object. */
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
 * What quotas have used and could not write: batches on disk, each counted once however often it is sent, by this process or by the next one of the machine. What lies
 * there counts as used by all that read it.
 */
export class QuotaDebts {
  readonly #database: Database
  readonly #spool: Spool<Batch>
  readonly #written: (use: QuotaPeriod, used: StoredQuotaState) => void
  readonly #owing = new Map<string, Owing>()
  readonly #batches = new Map<string, Batch>()

  /** `written` is told of what is used of a period now. */
  constructor(
    database: Database,
    settings: { readonly folder: string; readonly bytesMax: number },
    written: (use: QuotaPeriod, used: StoredQuotaState) => void,
  ) {
    this.#database = database
    this.#spool = new Spool(settings.folder, settings.bytesMax, batchShape)
    this.#written = written
  }

  /** What is owed of a period: the same object until it is given up by `forget`. */
  of(id: string): Owing {
    const owing = this.#of(id)
    owing.held = true
    return owing
  }

  /** Nobody asks for this period any more. */
  forget(id: string): void {
    const owing = this.#of(id)
    owing.held = false
    if (owing.batches === 0) this.#owing.delete(id)
  }

  /** Writes what was used. When it cannot be written it is kept; `isKept` false: not even that, and it is still the caller's. Does not reject. */
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

  /** Knows what lies on disk, whoever has put it there. Rejects when the folder cannot be read. */
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

  /** Writes what lies on disk, oldest first, and answers whether there was any. Rejects when the database is away. */
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
  // Without what was returned nothing can be told of what was lost.
  if (knownReturned === undefined) return nothingUsed
  return { calls: knownCalls, bytes: knownBytes, returned: knownReturned }
}

/** What a period is known by in a process. */
export function periodId({ counter, key, startMs }: QuotaPeriod): string {
  return `${counter}\n${key}\n${startMs}`
}
