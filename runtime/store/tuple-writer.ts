import type { TupleChange, TupleRow } from "../check/ports.ts"
import { type BulkResult, bulkWrite } from "./bulk-write.ts"
import type { Database } from "./database.ts"
import { noticesOf } from "./notices.ts"
import {
  tupleIdentity,
  type WriteConflict,
  type WriteRequest,
  type WriteResult,
  writeTupleGroup,
} from "./write-tuples.ts"

/** More tuples in one transaction bring no gain and lock the store's row longer. */
const groupTuplesMax = 1000

interface WaitingWrite {
  readonly request: WriteRequest
  readonly resolve: (outcome: WriteResult | WriteConflict | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Many tuples, which are a group by themselves. */
interface WaitingBulk {
  readonly rows: readonly TupleRow[]
  readonly resolve: (outcome: BulkResult | WriteConflict | undefined) => void
  readonly reject: (error: unknown) => void
}

type Waiting = WaitingWrite | WaitingBulk

/**
 * Writes of one process. While a transaction of a store runs, more requests for that store gather, and the next transaction writes them
 * together; separately they would only wait for the store's row. Requests of a group share no keys, so each succeeds or fails as if it were
 * alone.
 */
export class TupleWriter {
  readonly #database: Database
  readonly #applied: (storeId: string, changes: readonly TupleChange[]) => void
  readonly #waiting = new Map<string, Waiting[]>()

  /** `applied` is called once for each committed revision, whole and in order, before its requests resolve. */
  constructor(database: Database, applied: (storeId: string, changes: readonly TupleChange[]) => void) {
    this.#database = database
    this.#applied = applied
  }

  /** Undefined: there is no such store. Rejects with `SourceUnavailable`; then it is unknown whether the write was committed. */
  write(storeId: string, request: WriteRequest): Promise<WriteResult | WriteConflict | undefined> {
    return new Promise((resolve, reject) => this.#add(storeId, { request, resolve, reject }))
  }

  /** Writes the tuples that do not exist, see `bulkWrite`. It takes its turn among the writes, so that revisions are applied in order. */
  bulkWrite(storeId: string, rows: readonly TupleRow[]): Promise<BulkResult | WriteConflict | undefined> {
    return new Promise((resolve, reject) => this.#add(storeId, { rows, resolve, reject }))
  }

  #add(storeId: string, item: Waiting): void {
    const waiting = this.#waiting.get(storeId)
    if (waiting !== undefined) {
      waiting.push(item)
      return
    }
    const queue = [item]
    this.#waiting.set(storeId, queue)
    void this.#drain(storeId, queue)
  }

  async #drain(storeId: string, queue: Waiting[]): Promise<void> {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      if ("rows" in first) {
        queue.shift()
        await this.#writeBulk(storeId, first)
      } else await this.#writeGroup(storeId, takeGroup(queue))
    }
    this.#waiting.delete(storeId)
  }

  async #writeBulk(storeId: string, { rows, resolve, reject }: WaitingBulk): Promise<void> {
    try {
      const written = await bulkWrite(this.#database, storeId, rows)
      if (written !== undefined && "changes" in written) this.#committed(storeId, written.changes)
      resolve(written)
    } catch (error) {
      reject(error)
    }
  }

  #committed(storeId: string, changes: readonly TupleChange[]): void {
    if (changes.length === 0) return
    this.#applied(storeId, changes)
    noticesOf(this.#database).announce(`store ${storeId}`)
  }

  async #writeGroup(storeId: string, group: readonly WaitingWrite[]): Promise<void> {
    try {
      const written = await writeTupleGroup(
        this.#database,
        storeId,
        group.map(({ request }) => request),
      )
      if (written !== undefined) this.#committed(storeId, written.changes)
      group.forEach(({ resolve }, index) => {
        resolve(written?.results[index])
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

/** Takes as many requests as fit from the head of the queue, up to the first that shares a key with an earlier one. */
function takeGroup(queue: Waiting[]): readonly WaitingWrite[] {
  const keys = new Set<string>()
  const group: WaitingWrite[] = []
  for (const waiting of queue) {
    if ("rows" in waiting) break
    const { request } = waiting
    const rows = [...request.deletes, ...request.writes]
    if (group.length > 0 && keys.size + rows.length > groupTuplesMax) break
    const identities = rows.map(tupleIdentity)
    if (group.length > 0 && identities.some((identity) => keys.has(identity))) break
    for (const identity of identities) keys.add(identity)
    group.push(waiting)
  }
  queue.splice(0, group.length)
  return group
}
