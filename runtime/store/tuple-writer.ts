import type { TupleChange } from "../check/ports.ts"
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

interface Waiting {
  readonly request: WriteRequest
  readonly resolve: (outcome: WriteResult | WriteConflict | undefined) => void
  readonly reject: (error: unknown) => void
}

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
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(storeId)
      if (waiting !== undefined) {
        waiting.push({ request, resolve, reject })
        return
      }
      const queue = [{ request, resolve, reject }]
      this.#waiting.set(storeId, queue)
      void this.#drain(storeId, queue)
    })
  }

  async #drain(storeId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) await this.#writeGroup(storeId, takeGroup(queue))
    this.#waiting.delete(storeId)
  }

  async #writeGroup(storeId: string, group: readonly Waiting[]): Promise<void> {
    try {
      const written = await writeTupleGroup(
        this.#database,
        storeId,
        group.map(({ request }) => request),
      )
      if (written !== undefined && written.changes.length > 0) {
        this.#applied(storeId, written.changes)
        noticesOf(this.#database).announce(`store ${storeId}`)
      }
      group.forEach(({ resolve }, index) => {
        resolve(written?.results[index])
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

/** Takes as many requests as fit from the head of the queue, up to the first that shares a key with an earlier one. */
function takeGroup(queue: Waiting[]): readonly Waiting[] {
  const keys = new Set<string>()
  let length = 0
  for (const { request } of queue) {
    const rows = [...request.deletes, ...request.writes]
    if (length > 0 && keys.size + rows.length > groupTuplesMax) break
    const identities = rows.map(tupleIdentity)
    if (length > 0 && identities.some((identity) => keys.has(identity))) break
    for (const identity of identities) keys.add(identity)
    length += 1
  }
  return queue.splice(0, length)
}
