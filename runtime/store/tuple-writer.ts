import type { TupleChange } from "../check/ports.ts"
import { changeNotices } from "./change-notices.ts"
import type { Database } from "./database.ts"
import {
  tupleIdentity,
  type WriteConflict,
  type WriteRequest,
  type WriteResult,
  writeTupleGroup,
} from "./write-tuples.ts"

/** More tuples in one transaction gain nothing and hold the store's row longer. */
const groupTuplesMax = 1000

interface Waiting {
  readonly request: WriteRequest
  readonly resolve: (outcome: WriteResult | WriteConflict | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes of one process. While a store's transaction runs, requests for that store gather, and the next transaction takes them together: they
 * would only wait for each other on the store's row. Requests of one group don't touch each other's keys, so that each succeeds or
 * fails as if it were alone.
 */
export class TupleWriter {
  readonly #database: Database
  readonly #applied: (storeId: string, changes: readonly TupleChange[]) => void
  readonly #waiting = new Map<string, Waiting[]>()

  /** `applied` hears each committed revision once, whole and in order, before its requests are answered. */
  constructor(database: Database, applied: (storeId: string, changes: readonly TupleChange[]) => void) {
    this.#database = database
    this.#applied = applied
  }

  /** Undefined: there is no such store. Rejects with `SourceUnavailable`; whether it was written is then unknown. */
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
        changeNotices(this.#database).announce(storeId)
      }
      group.forEach(({ resolve }, index) => {
        resolve(written?.results[index])
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

/** From the head of the queue as many as fit, up to the first that shares a key with one before it. */
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
