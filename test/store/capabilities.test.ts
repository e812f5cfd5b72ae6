import { randomBytes } from "node:crypto"
import { afterEach, expect, test } from "vitest"
import type { PackedRows, TupleRow } from "../../runtime/check/ports.ts"
import { type Capability, probeCapabilities } from "../../runtime/store/capabilities.ts"
import type { Database } from "../../runtime/store/database.ts"
import { MigrationError, migrate } from "../../runtime/store/migrate.ts"
import { noticesOf } from "../../runtime/store/notices.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { createDatabase, describePostgres } from "../postgres.ts"
import { unpackRows } from "../support/unpack-rows.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function open(url: string): Database {
  const database = openPostgres(url)
  ends.push(() => database.close())
  return database
}

/** A database of its own, where a role that is no superuser does without some functions. */
async function without(...functions: string[]): Promise<Database & { readonly url: string }> {
  const created = await createDatabase()
  ends.push(created.drop)
  const role = `r_${randomBytes(6).toString("hex")}`
  const admin = openPostgres(created.url)
  const run = (text: string) => admin.query({ name: "", text })
  await run(`create role ${role} login`)
  ends.push(async () => {
    const again = openPostgres(created.url)
    await again.query({ name: "", text: `drop owned by ${role}; drop role ${role}` })
    await again.close()
  })
  await run(`do $$ begin execute 'grant create on database ' || current_database() || ' to ${role}'; end $$`)
  for (const each of functions) await run(`revoke execute on function ${each} from public`)
  await admin.close()
  const url = created.url.replace("postgres@", `${role}@`)
  return Object.assign(open(url), { url })
}

async function migrated(database: Database): Promise<readonly Capability[]> {
  let capabilities: readonly Capability[] = []
  await migrate(database, {
    onCapabilities: (found) => {
      capabilities = found
    },
  })
  return capabilities
}

const missing = (capabilities: readonly Capability[]) => capabilities.filter(({ isPresent }) => !isPresent)

describePostgres("what the database server can do", () => {
  test("a plain role of PostgreSQL has everything, and the trials leave nothing", async () => {
    const database = await without()
    const capabilities = await migrated(database)
    expect(capabilities.length).toBeGreaterThan(10)
    expect(missing(capabilities)).toEqual([])
    expect([...database.missing]).toEqual([])
    const left = `select (select count(*) from sallyport.migrations where name = '~probe'), (select count(*) from sallyport.migration_lock)`
    expect(await database.query({ name: "", text: left })).toEqual([[0, 0]])
    const again = await probeCapabilities(database, "without tables")
    expect(missing(again)).toEqual([])
    expect(again.length).toBeLessThan(capabilities.length)
  })

  test("without notices: nothing is announced, no call fails", async () => {
    const database = await without("pg_notify(text, text)")
    expect(missing(await migrated(database))).toEqual([
      {
        name: "notices (`listen`, `pg_notify`)",
        isPresent: false,
        reason: "permission denied for function pg_notify (42501)",
        without: "changes of other processes are found by polling",
      },
    ])
    const { id } = await createStore(database, "s")
    noticesOf(database).announce(`store ${id}`)
    await database.query({ name: "", text: "select 1" })
    expect(database.state.failures).toMatchObject({ failed: 1 })
    const calls = database.state.failures?.calls ?? 0
    noticesOf(database).announce("plans")
    await database.query({ name: "", text: "select 1" })
    expect(database.state.failures).toMatchObject({ failed: 1, calls: calls + 1 })
  })

  test("without timelines: a server in a URL of several is used as before", async () => {
    const database = await without("pg_walfile_name(pg_lsn)")
    expect(missing(await migrated(database))).toMatchObject([{ name: "timelines (`pg_walfile_name`)" }])
    expect([...database.missing]).toEqual([])
    await database.query({ name: "", text: "select 1" })
  })

  test.each([
    ["unnest(anyarray)", "arrays as tables (`unnest … with ordinality`)"],
    ["current_setting(text)", "snapshots (repeatable read, read only)"],
  ])("without %s: refused by name, and nothing is applied", async (name, use) => {
    const database = await without(name)
    const failed = await migrate(database).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(MigrationError)
    const { message } = failed as Error
    const short = name.slice(0, name.indexOf("("))
    expect(message).toContain(`${use}: permission denied for function ${short} (42501)`)
    expect(message).toContain("Use PostgreSQL 14 or newer, or give the role the rights")
    expect(await database.query({ name: "", text: "select count(*) from sallyport.migrations" })).toEqual([
      [0],
    ])
  })

  test("without cursors: stores and parts of lists are read by ranges of keys, at one commit", async () => {
    const database = await without()
    await migrated(database)
    const { id } = await createStore(database, "s")
    const writer = new TupleWriter(database, () => undefined)
    const options = { deletes: [], onDuplicate: "error", onMissing: "error" } as const
    const rowsOf = (kind: string, from: number) =>
      Array.from({ length: 900 }, (_, at) =>
        rowOfTuple({ user: `user:${from + at}`, relation: "viewer", object: `doc:${kind}` }),
      )
    for (const kind of ["a", "b", "c"]) await writer.write(id, { writes: rowsOf(kind, 0), ...options })
    await writer.write(id, { writes: rowsOf("a", 900), ...options })
    // With less than a tenth of the table, the store is not read in the order of the file.
    const other = await createStore(database, "other")
    const fill = `insert into sallyport.tuples (store_id, object, relation, subject, revision)
      select $1, 'd:' || at, 'r', 'u:1', 0 from generate_series(1, 200000) at`
    await database.query({ name: "", text: fill }, [other.id])
    const among = { subjectType: "user", subjectRelation: "" }
    const part = { direction: "forward", object: "doc:a", relation: "viewer", among } as const
    const back = {
      direction: "reverse",
      subject: "user:5",
      subjectRelation: "",
      among: { objectType: "doc", relation: "viewer" },
    } as const
    const source = createTupleSource(database)
    const read = async () => {
      const sets: string[][] = []
      const sizes: number[] = []
      for (const key of [undefined, part, back]) {
        const rows: TupleRow[] = []
        const take = (batch: readonly TupleRow[]) => {
          sizes.push(batch.length)
          rows.push(...batch)
        }
        const takePacked = (packed: PackedRows) => take(unpackRows(packed))
        const at = key === undefined ? await source.load(id, takePacked) : await source.list(id, key, take)
        expect(at.revision).toBe(4)
        sets.push(rows.map((row) => row.join(" ")).sort())
      }
      return { sets, sizes }
    }
    const byCursor = await read()
    database.missing.add("cursors")
    expect(await read()).toEqual(byCursor)
    expect(byCursor.sets.map(({ length }) => length)).toEqual([3_600, 1_800, 3])
    // What another connection writes in between belongs to a later commit.
    let isWritten: Promise<unknown> | undefined
    const rows: TupleRow[] = []
    const elsewhere = new TupleWriter(open(database.url), () => undefined)
    const { revision } = await source.load(id, (batch) => {
      rows.push(...unpackRows(batch))
      const deletes = rowsOf("c", 0)
      isWritten ??= elsewhere.write(id, { writes: [], deletes, onDuplicate: "error", onMissing: "error" })
    })
    await isWritten
    expect([revision, rows.length]).toEqual([4, 3_600])
  })
})
