import type { TupleChange, TupleRow } from "../check/ports.ts"
import { type BulkResult, bulkWrite } from "./bulk-write.ts"
import type { Database } from "./database.ts"
import { knownMoves } from "./known-moves.ts"
import { noticesOf } from "./notices.ts"
import {
  type GroupResult,
  tupleIdentity,
  type WriteConflict,
  type WriteRequest,
  type WriteResult,
  writeTupleGroup,
} from "./write-tuples.ts"

/** More tuples in one transaction bring no gain and lock the store's row longer. */
const groupTuplesMax = 1000
/** Stores whose last write is remembered. */
const storesMax = 1_000
/** Bulks of the process that are written at the same time: the server inserts the tuples of one while it logs those of the other. */
const bulksMax = 2
/** A transaction that took longer waited for a slow server, not for the lock. */
const pauseMsMax = 20

interface WaitingWrite {
  readonly request: WriteRequest
  readonly resolve: (outcome: WriteResult | WriteConflict | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The requests of one store in order, while there are any. */
interface StoreQueue {
  readonly items: WaitingWrite[]
  /** Called after a request was added. */
  onAdded: () => void
}

/** The end of this process's last transaction in a store. */
interface LastWrite {
  readonly revision: number
  /** Requests that were in the transaction, or waiting at its end. */
  readonly requests: number
  /** Until when the next transaction waits for as many, by `performance.now()`. */
  readonly untilMs: number
}

/**
 * Writes of one process. While a transaction of a store runs, more requests for that store gather, and the next transaction writes them
 * together; separately they would only wait for the store's row. Requests of a group share no keys, so each succeeds or fails as if it were
 * alone.
 *
 * While other processes write to the store too, a transaction mostly waits for the lock. So the next one lets the clients of the last one
 * send their next requests before it begins: it waits for as many requests, for at most the time that the last one took. The others have the
 * lock meanwhile. Without the pause, each process would divide its few requests into groups of half the size, and groups take turns.
 */
export class TupleWriter {
  readonly #database: Database
  readonly #applied: (storeId: string, changes: readonly TupleChange[]) => void
  readonly #waiting = new Map<string, StoreQueue>()
  readonly #last = new Map<string, LastWrite>()
  readonly #waitingBulks: (() => void)[] = []
  #bulks = 0
  /** Whether all tuples of the last bulk were new. A repeated import finds existing ones in most. */
  #expectNew = true

  /** `applied` is called once for each committed revision, whole and in order, before its requests resolve. */
  constructor(database: Database, applied: (storeId: string, changes: readonly TupleChange[]) => void) {
    this.#database = database
    this.#applied = applied
  }

  /** Undefined: there is no such store. Rejects with `SourceUnavailable`; then it is unknown whether the write was committed. */
  write(storeId: string, request: WriteRequest): Promise<WriteResult | WriteConflict | undefined> {
    return new Promise((resolve, reject) => this.#add(storeId, { request, resolve, reject }))
  }

  /**
   * Writes the tuples that do not exist, see `bulkWrite`. It does not wait for the queue of its store, which has to wait for it only while it
   * has the lock.
   */
  async bulkWrite(
    storeId: string,
    rows: readonly TupleRow[],
  ): Promise<BulkResult | WriteConflict | undefined> {
    const moves = knownMoves(this.#database)
    if (moves.has(storeId)) return this.#writeOnce(storeId, rows)
    if (this.#bulks === bulksMax) await new Promise<void>((resolve) => this.#waitingBulks.push(resolve))
    else this.#bulks += 1
    try {
      const written = await bulkWrite(this.#database, storeId, rows, this.#expectNew)
      if (written === undefined && (await moves.read(storeId))) return await this.#writeOnce(storeId, rows)
      if (written === undefined || "conflict" in written) return written
      this.#expectNew = written.changes.length === rows.length
      this.#ended(storeId, written.at.revision, 0, 0)
      this.#committed(storeId, written.changes)
      return written
    } finally {
      const next = this.#waitingBulks.shift()
      if (next === undefined) this.#bulks -= 1
      else next()
    }
  }

  /** A bulk of a store with moves, in one request. */
  #writeOnce(storeId: string, writes: readonly TupleRow[]): Promise<WriteResult | WriteConflict | undefined> {
    return this.write(storeId, { writes, deletes: [], onDuplicate: "ignore", onMissing: "error" })
  }

  #add(storeId: string, item: WaitingWrite): void {
    const waiting = this.#waiting.get(storeId)
    if (waiting !== undefined) {
      waiting.items.push(item)
      waiting.onAdded()
      return
    }
    const queue: StoreQueue = { items: [item], onAdded: () => undefined }
    this.#waiting.set(storeId, queue)
    void this.#drain(storeId, queue)
  }

  async #drain(storeId: string, queue: StoreQueue): Promise<void> {
    const { items } = queue
    while (items.length > 0) {
      const gathering = gather(queue, this.#last.get(storeId))
      if (gathering !== undefined) await gathering
      await this.#writeGroup(storeId, items)
    }
    this.#waiting.delete(storeId)
  }

  async #writeGroup(storeId: string, items: WaitingWrite[]): Promise<void> {
    const isMoved = knownMoves(this.#database).has(storeId)
    const group = isMoved ? items.splice(0, 1) : takeGroup(items)
    const startMs = performance.now()
    try {
      const written = await writeTupleGroup(
        this.#database,
        storeId,
        group.map(({ request }) => request),
      )
      if (written === "apart") {
        items.unshift(...group)
        return
      }
      if (written !== undefined) {
        const tookMs = this.#isShared(storeId, written) ? performance.now() - startMs : 0
        this.#ended(storeId, written.after, group.length + items.length, tookMs)
        this.#committed(storeId, written.changes)
      }
      group.forEach(({ resolve }, index) => {
        resolve(written?.results[index])
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  /** Whether another process has written to the store since the last write of this one. */
  #isShared(storeId: string, { before }: GroupResult): boolean {
    const last = this.#last.get(storeId)
    return last !== undefined && last.revision !== before
  }

  #ended(storeId: string, revision: number, requests: number, pauseMs: number): void {
    // The map is in order of the last writes.
    this.#last.delete(storeId)
    const untilMs = performance.now() + Math.min(pauseMs, pauseMsMax)
    this.#last.set(storeId, { revision, requests, untilMs })
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= storesMax) break
      this.#last.delete(oldest)
    }
  }

  #committed(storeId: string, changes: readonly TupleChange[]): void {
    if (changes.length === 0) return
    this.#applied(storeId, changes)
    noticesOf(this.#database).announce(`store ${storeId}`)
  }
}

/** Waits until the queue has as many requests as the last transaction found, or until its time is over. Undefined: it is over. */
function gather(queue: StoreQueue, last: LastWrite | undefined): Promise<void> | undefined {
  const pauseMs = last === undefined ? 0 : last.untilMs - performance.now()
  if (last === undefined || pauseMs <= 0) return undefined
  return new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pauseMs)
    queue.onAdded = () => {
      if (queue.items.length < last.requests) return
      clearTimeout(timer)
      resolve()
    }
    queue.onAdded()
  }).finally(() => {
    queue.onAdded = () => undefined
  })
}

/** Takes as many requests as fit from the head of the queue, up to the first that shares a key with an earlier one. */
function takeGroup(queue: WaitingWrite[]): readonly WaitingWrite[] {
  const keys = new Set<string>()
  const group: WaitingWrite[] = []
  for (const waiting of queue) {
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
