import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { firstCommit, type TupleRow } from "../../runtime/check/ports.ts"
import { type BulkResult, bulkWrite } from "../../runtime/store/bulk-write.ts"
import type { Database, Transaction } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createStore, deleteStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { type WriteResult, writeTupleGroup } from "../../runtime/store/write-tuples.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { unpackRows } from "../support/unpack-rows.ts"
import { describeDatabase } from "./databases.ts"

/** The statement before which the tuples of a bulk are inserted, and other writers still have their turn. */
const lock = "write-lock-store"

const row = (n: number, condition = "", context = ""): TupleRow => [
  ...([`doc:${n}`, "viewer", "user:a", ""] as const),
  ...([condition, context] as const),
]
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => row(from + at))
const written = (result: unknown) => (result as BulkResult).changes.map((change) => change.row)

async function all(database: Database, storeId: string): Promise<readonly string[]> {
  const found: string[] = []
  await createTupleSource(database).load(storeId, (batch) => {
    found.push(...unpackRows(batch).map(([object]) => object))
  })
  return found.sort()
}

/** Each transaction calls `before` before it sends this statement. */
function pausing(database: Database, name: string, before: () => Promise<unknown>): Database {
  const transaction: Database["transaction"] = (work, options) =>
    database.transaction((inner) => {
      const paused: Transaction = {
        script: inner.script,
        query: async (statement, parameters) => {
          if (statement.name === name) await before()
          return inner.query(statement, parameters)
        },
        commitWith: async (statements) => {
          if (statements.some(([statement]) => statement.name === name)) await before()
          return inner.commitWith(statements)
        },
      }
      return work(paused)
    }, options)
  return Object.create(database, { transaction: { value: transaction } }) as Database
}

describeDatabase("bulk write", (database) => {
  test.each([true, false])(
    "writes what does not exist, in the order of the rows; new expected: %s",
    async (isNew) => {
      const { id } = await createStore(database(), "bulk")
      const reversed = [...rows(0, 300)].reverse()
      const first = (await bulkWrite(database(), id, reversed, isNew)) as BulkResult
      expect([first.at.revision, written(first)]).toEqual([1, reversed])
      const second = (await bulkWrite(database(), id, rows(290, 310), isNew)) as BulkResult
      expect([second.at.revision, written(second)]).toEqual([2, rows(300, 310)])
      const third = (await bulkWrite(database(), id, rows(0, 310), isNew)) as BulkResult
      expect(third).toEqual({ at: second.at, changes: [] })
      const feed = await createTupleSource(database()).changes(id, firstCommit, 1_000)
      expect(feed.map((change) => [change.revision, change.row])).toEqual([
        ...reversed.map((each) => [1, each]),
        ...rows(300, 310).map((each) => [2, each]),
      ])
    },
  )

  test.each([true, false])("keeps every character; new expected: %s", async (isNew) => {
    const { id } = await createStore(database(), "bulk")
    const odd: TupleRow[] = [
      ['doc:"a"\\b,{}NULL', "viewer", "user:'é\u{1f600}", "member", "", ""],
      ["doc:null", "viewer", "user:NULL", "", "in_office", '{"a":"\\"x\\\\y"}'],
    ]
    expect(written(await bulkWrite(database(), id, odd, isNew))).toEqual(odd)
    const feed = await createTupleSource(database()).changes(id, firstCommit, 1_000)
    expect(feed.map((change) => change.row)).toEqual(odd)
  })

  test("refuses another condition, and a store that does not exist, and then writes nothing", async () => {
    const { id } = await createStore(database(), "bulk")
    await bulkWrite(database(), id, [row(1, "in_office", '{"floor":1}')])
    const other = row(1, "in_office", '{"floor":2}')
    for (const isNew of [true, false])
      expect(await bulkWrite(database(), id, [row(0), other], isNew)).toEqual({
        conflict: "other-condition",
        row: other,
      })
    expect(await all(database(), id)).toEqual(["doc:1"])
    await deleteStore(database(), id)
    for (const isNew of [true, false])
      expect(await bulkWrite(database(), id, rows(5, 7), isNew)).toBeUndefined()
  })
})

describePostgres("bulk write beside other writers", () => {
  let created: TestDatabase
  let database: Database
  let other: Database
  beforeAll(async () => {
    created = await createMigratedDatabase()
    database = openPostgres(created.url)
    // New connections have it.
    await database.query({
      name: "",
      text: `do $$ begin execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$`,
    })
    other = openPostgres(created.url)
  })
  afterAll(async () => {
    await Promise.all([database.close(), other.close()])
    await created.drop()
  })

  const write = async (id: string, writes: readonly TupleRow[], deletes: readonly TupleRow[] = []) => {
    const group = await writeTupleGroup(other, id, [
      { writes, deletes, onDuplicate: "error", onMissing: "error" },
    ])
    return group === "apart" ? undefined : group?.results[0]
  }

  test("its insertion holds nobody up: a write meanwhile is the older commit", async () => {
    const { id } = await createStore(database, "beside")
    let meanwhile: unknown
    const paused = pausing(database, lock, async () => {
      meanwhile = await write(id, [row(500)])
      expect(await all(other, id)).toEqual(["doc:500"])
    })
    const bulk = (await bulkWrite(paused, id, rows(0, 100), true)) as BulkResult
    expect([(meanwhile as WriteResult).at.revision, bulk.at.revision]).toEqual([1, 2])
    expect(bulk.changes[0]?.previous).toBe((meanwhile as WriteResult).at.stamp)
    expect(await all(other, id)).toHaveLength(101)
  })

  test("a tuple that is deleted before the bulk has the lock is written again", async () => {
    const { id } = await createStore(database, "deleted")
    await bulkWrite(database, id, rows(0, 3))
    const paused = pausing(database, lock, async () => {
      if ((await all(other, id)).length === 3) await write(id, [], [row(1)])
    })
    const bulk = (await bulkWrite(paused, id, rows(0, 5))) as BulkResult
    expect([bulk.at.revision, written(bulk)]).toEqual([3, [row(1), row(3), row(4)]])
    expect(await all(database, id)).toHaveLength(5)
  })

  test("a store that is deleted before the bulk has the lock gets no tuple", async () => {
    const { id } = await createStore(database, "gone")
    const paused = pausing(database, lock, () => deleteStore(other, id))
    expect(await bulkWrite(paused, id, rows(0, 100), true)).toBeUndefined()
    const count = { name: "", text: `select count(*) from sallyport.tuples where store_id = '${id}'` }
    expect(await database.query(count)).toEqual([[0]])
  })

  test("a writer of the same tuple and the bulk wait for each other: the server ends one, which is repeated", async () => {
    const { id } = await createStore(database, "same")
    let meanwhile: Promise<unknown> | undefined
    const paused = pausing(database, lock, async () => {
      meanwhile ??= write(id, [row(7)])
      let ended = false
      void meanwhile.finally(() => {
        ended = true
      })
      // Until the writer waits for the bulk's tuple, or the server has ended the bulk and this is its second attempt.
      const waiting = {
        name: "",
        text: "select 1 from pg_locks where not granted and locktype = 'transactionid'",
      }
      while (!ended && (await database.query(waiting)).length === 0) await sleep(1)
    })
    const bulk = (await bulkWrite(paused, id, rows(0, 10), true)) as BulkResult
    const single = (await meanwhile) as WriteResult | { conflict: string }
    const isFirst = "at" in single
    expect(written(bulk)).toHaveLength(isFirst ? 9 : 10)
    expect("at" in single ? single.at.revision : single.conflict).toEqual(isFirst ? 1 : "exists")
    expect(await all(database, id)).toHaveLength(10)
  })
})
