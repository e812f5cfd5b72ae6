import { expect, test } from "vitest"
import type { Commit, TupleRow } from "../../runtime/check/ports.ts"
import { HistoryLost } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import {
  countPrunable,
  type PruneCursor,
  type Pruned,
  prune,
  type Retention,
} from "../../runtime/store/prune.ts"
import { createStore, deleteStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { Random } from "../naive/random.ts"
import { describeDatabase } from "./databases.ts"

const day = 86_400

const row = (n: number, condition = ""): TupleRow => [
  "doc:1",
  "viewer",
  `user:${n}`,
  "",
  condition,
  condition && "{}",
]

/** Calls `prune` as a client does, until there is no cursor. */
async function pruneAll(database: Database, retention: Retention): Promise<Pruned & { calls: number }> {
  const total = { changes: 0, tuples: 0, stores: 0, subscriptions: 0, plans: 0, calls: 0 }
  let cursor: PruneCursor | undefined
  do {
    const { pruned, next } = await prune(database, retention, cursor)
    for (const key of Object.keys(pruned) as (keyof Pruned)[]) total[key] += pruned[key]
    total.calls += 1
    cursor = next
  } while (cursor !== undefined)
  return total
}

const run = (database: Database, text: string) => database.query<[number]>({ name: "", text })
const countOf = async (database: Database, table: string, store: string) =>
  (await run(database, `select count(*) from sallyport.${table} where store_id = '${store}'`))[0]?.[0]

describeDatabase("prune", (database) => {
  async function store() {
    const { id } = await createStore(database(), "pruned")
    const writer = new TupleWriter(database(), () => undefined)
    const write = async (writes: readonly TupleRow[], deletes: readonly TupleRow[] = []) => {
      const result = await writer.write(id, { writes, deletes, onDuplicate: "ignore", onMissing: "ignore" })
      if (result === undefined || "conflict" in result) throw new Error(JSON.stringify(result))
      return result.at
    }
    /** Makes the commits up to this revision two days old. */
    const age = (revision: number) =>
      run(
        database(),
        `update sallyport.changes set changed_at = changed_at - interval '2 days' where store_id = '${id}' and revision <= ${revision}`,
      )
    return { id, write, age }
  }

  test("deletes old changes, and never the newest commit or a tuple", async () => {
    const { id, write, age } = await store()
    const commits: Commit[] = []
    for (let n = 0; n < 10; n += 1) commits.push(await write([row(n)]))
    await age(7)
    expect((await countPrunable(database(), { changesSeconds: day })).changes).toBe(7)
    expect(await countOf(database(), "changes", id)).toBe(10)
    expect(await pruneAll(database(), { changesSeconds: day })).toMatchObject({
      changes: 7,
      tuples: 0,
      stores: 0,
    })
    expect(await countOf(database(), "changes", id)).toBe(3)
    await age(10)
    expect((await pruneAll(database(), { changesSeconds: day })).changes).toBe(2)
    expect(await countOf(database(), "tuples", id)).toBe(10)
    const source = createTupleSource(database())
    expect(await source.newest(id)).toEqual(commits[9])
    expect(await source.changes(id, commits[9] as Commit, 100)).toEqual([])
    const next = await write([row(11)])
    expect((await source.changes(id, commits[9] as Commit, 100)).map(({ revision }) => revision)).toEqual([
      next.revision,
    ])
    // It is not the newest any more.
    expect((await pruneAll(database(), { changesSeconds: day })).changes).toBe(1)
    expect((await pruneAll(database(), { changesSeconds: day })).changes).toBe(0)
  })

  test("a process that stands before the pruned changes is told, also where single ones of them are left", async () => {
    const { id, write, age } = await store()
    const first = await write([row(1, "c"), row(2)])
    const second = await write([row(3)])
    await write([row(4)])
    await write([row(5)])
    await age(3)
    // The first commit's tuple with a condition stays in the feed.
    expect((await pruneAll(database(), { changesSeconds: day })).changes).toBe(3)
    expect(await countOf(database(), "changes", id)).toBe(2)
    const source = createTupleSource(database())
    for (const held of [{ revision: 0, stamp: "" }, first, second])
      await expect(source.changes(id, held, 100)).rejects.toThrow(HistoryLost)
  })

  test("goes on from its cursor over more rows than one call deletes, and may be repeated", async () => {
    const { id, write, age } = await store()
    for (let n = 0; n < 50; n += 1) await write(Array.from({ length: 1_000 }, (_, at) => row(n * 1_000 + at)))
    await age(49)
    const { next } = await prune(database(), { changesSeconds: day }, undefined)
    // The cursor carries the end: the next call has no need to search it again.
    expect(next?.[3]).toBe(49)
    const { changes, calls } = await pruneAll(database(), { changesSeconds: day })
    expect(calls).toBeGreaterThan(0)
    expect(await countOf(database(), "changes", id)).toBe(1_000)
    expect(changes).toBeLessThan(49_000)
  })

  test("keeps what `stood` needs, compared with the whole feed", async () => {
    const random = new Random(7)
    for (let round = 0; round < 4; round += 1) {
      const pruned = await store()
      const whole = await store()
      let newest = 0
      for (let step = 0; step < 60; step += 1) {
        const n = random.below(6)
        const both = random.pick(["write", "conditioned", "delete"] as const)
        const target = [row(n), row(n, "c")] as const
        // A tuple keeps its condition until it is deleted, so each write follows a deletion.
        for (const each of [pruned, whole]) {
          await each.write([], [target[0]])
          if (both !== "delete") newest = (await each.write([target[both === "write" ? 0 : 1]])).revision
        }
        if (step % 15 === 14) {
          await pruned.age(newest - random.below(10))
          await pruneAll(database(), { changesSeconds: day })
        }
      }
      const source = createTupleSource(database())
      const keys = Array.from({ length: 6 }, (_, n) => row(n))
      const [from] = await run(
        database(),
        `select pruned_revision from sallyport.stores where id = '${pruned.id}'`,
      )
      const floor = from?.[0] ?? 0
      expect(floor).toBeGreaterThan(0)
      for (let revision = floor; revision <= newest; revision += 1)
        expect(await source.stood(pruned.id, revision, keys)).toEqual(
          await source.stood(whole.id, revision, keys),
        )
    }
  })

  test("deletes deleted stores with everything in them, after their time", async () => {
    const { id, write } = await store()
    const other = await store()
    await write(Array.from({ length: 900 }, (_, n) => row(n)))
    await other.write([row(1)])
    await run(
      database(),
      `insert into sallyport.models (store_id, id, schema_version, model) values ('${id}', 'm', '1.1', '{}')`,
    )
    await run(
      database(),
      `insert into sallyport.assertions (store_id, model_id, assertions) values ('${id}', 'm', '[]')`,
    )
    await deleteStore(database(), id)
    expect((await pruneAll(database(), { deletedSeconds: day })).stores).toBe(0)
    expect(await countPrunable(database(), { deletedSeconds: 0 })).toMatchObject({
      stores: 1,
      tuples: 900,
      changes: 900,
    })
    expect(await pruneAll(database(), { deletedSeconds: 0 })).toMatchObject({
      stores: 1,
      tuples: 900,
      changes: 900,
    })
    for (const table of ["tuples", "changes", "models", "assertions"])
      expect(await countOf(database(), table, id)).toBe(0)
    expect(await countOf(database(), "tuples", other.id)).toBe(1)
    expect(await run(database(), `select 1 from sallyport.stores where id = '${id}'`)).toEqual([])
  })

  test("keeps the newest plans and those that a process serves", async () => {
    await run(database(), "delete from sallyport.plans")
    for (let serial = 1; serial <= 10; serial += 1)
      await run(
        database(),
        `insert into sallyport.plans (serial, digest, plan, applied_by, git_commit, message) values (${serial}, 'd', '{}', 'a', '', '')`,
      )
    await run(
      database(),
      "insert into sallyport.processes (id, role, version, host, pid, active_serial) values ('p', 'gateway', '1', 'h', 1, 2)",
    )
    expect((await countPrunable(database(), { plansKept: 3 })).plans).toBe(6)
    expect((await pruneAll(database(), { plansKept: 3 })).plans).toBe(6)
    const serials = await run(database(), "select serial from sallyport.plans order by serial")
    expect(serials.map(([serial]) => serial)).toEqual([2, 8, 9, 10])
    await run(database(), "delete from sallyport.processes where id = 'p'")
    await run(database(), "delete from sallyport.plans")
  })

  test("deletes deleted subscriptions, and keeps everything when nothing is asked for", async () => {
    const insert = (name: string, deleted: string) =>
      run(
        database(),
        `insert into sallyport.subscriptions (name, scope_kind, state, revision, deleted_at) values ('${name}', 'all', 'active', 1, ${deleted})`,
      )
    await insert("kept", "null")
    await insert("gone", "now() - interval '2 days'")
    await insert("fresh", "now()")
    expect(await pruneAll(database(), {})).toMatchObject({
      changes: 0,
      plans: 0,
      subscriptions: 0,
      stores: 0,
    })
    expect((await pruneAll(database(), { deletedSeconds: day })).subscriptions).toBe(1)
    await run(database(), "delete from sallyport.subscriptions where name in ('kept', 'fresh')")
  })
})
