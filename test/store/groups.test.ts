import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createStore, deleteStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { lockStore, type WriteRequest } from "../../runtime/store/write-tuples.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

const request = (n: number): WriteRequest => ({
  writes: [["doc:1", "viewer", `user:${n}`, "", "", ""]],
  ...{ deletes: [], onDuplicate: "error", onMissing: "error" },
})

describePostgres("groups of two processes", () => {
  let created: TestDatabase
  let one: Database
  let two: Database
  beforeAll(async () => {
    created = await createMigratedDatabase()
    one = openPostgres(created.url)
    two = openPostgres(created.url)
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close()])
    await created.drop()
  })

  /** The lock of a store, held by another process. */
  async function hold(id: string): Promise<() => Promise<void>> {
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    let locked: () => void = () => undefined
    const locking = new Promise<void>((resolve) => {
      locked = resolve
    })
    const holding = two.transaction(async (transaction) => {
      await transaction.query(lockStore, [id])
      locked()
      await ended
    })
    await locking
    return async () => {
      end()
      await holding
    }
  }

  const waiting = { name: "", text: "select count(*) from pg_locks where not granted" }
  async function untilWaiting(): Promise<void> {
    while ((await two.query<[number]>(waiting))[0]?.[0] === 0) await sleep(1)
  }

  /** A store to which both have just written, and the writer of the first. */
  async function shared() {
    const { id } = await createStore(one, "shared")
    const writer = new TupleWriter(one, () => undefined)
    const other = new TupleWriter(two, () => undefined)
    for (const n of [1, 2]) {
      await writer.write(id, request(n))
      await other.write(id, request(10 + n))
    }
    await writer.write(id, request(3))
    return { id, writer }
  }

  test("requests that come while a transaction waits for the lock are in its commit", async () => {
    const { id, writer } = await shared()
    const release = await hold(id)
    const first = writer.write(id, request(100))
    await untilWaiting()
    const rest = Array.from({ length: 9 }, (_, at) => writer.write(id, request(101 + at)))
    await release()
    const results = await Promise.all([first, ...rest])
    expect(results.map((result) => result && "at" in result && result.at.revision)).toEqual(
      Array.from({ length: 10 }, () => 6),
    )
    expect((await createTupleSource(one).newest(id)).revision).toBe(6)
  })

  test("a store that was deleted while they waited has none of them", async () => {
    const { id, writer } = await shared()
    const deleting = deleteStore(two, id)
    const all = [1, 2, 3].map((n) => writer.write(id, request(200 + n)))
    await deleting
    for (const result of await Promise.all(all)) if (result !== undefined) expect(result).toHaveProperty("at")
    expect(await writer.write(id, request(300))).toBeUndefined()
  })

  test("without a connection all requests of the group reject, and the next is written", async () => {
    const { id, writer } = await shared()
    const release = await hold(id)
    const first = writer.write(id, request(100))
    await untilWaiting()
    const settled = Promise.allSettled([first, writer.write(id, request(101))])
    const end = {
      name: "",
      text: "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'",
    }
    await two.query(end)
    expect(await settled).toMatchObject([{ status: "rejected" }, { status: "rejected" }])
    await release()
    expect(await writer.write(id, request(102))).toMatchObject({ at: { revision: 6 } })
  })
})
