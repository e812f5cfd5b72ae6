import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { migrate, schemaState } from "../../runtime/store/migrate.ts"
import { type Migration, ownMigrations, readMigrations } from "../../runtime/store/migration-files.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

const migration = (name: string, sql: string, checksum = sql): Migration => ({ name, sql, checksum })
const one = migration("001_a.sql", "create table sallyport.a (x integer)")
const two = migration("002_b.sql", "create table sallyport.b (x integer); insert into sallyport.b values (1)")
const broken = migration("002_b.sql", "create table sallyport.b (x integer); select 1/0")

describePostgres("migrate", () => {
  let created: TestDatabase
  let database: Database
  const open = async () => {
    created = await createDatabase()
    database = openPostgres(created.url)
  }
  beforeAll(open)
  afterAll(async () => {
    await database.close()
    await created.drop()
  })
  const fresh = async () => {
    await database.query({ name: "", text: "drop schema if exists sallyport cascade" })
  }

  test("this version's own files, once", async () => {
    await fresh()
    expect(await schemaState(database)).toMatchObject({ state: "empty" })
    const progress: string[] = []
    expect(await migrate(database, { onProgress: (message) => progress.push(message) })).toEqual(
      ownMigrations().map(({ name }) => name),
    )
    expect(progress).toEqual(ownMigrations().map(({ name }) => `applying ${name}`))
    expect(await schemaState(database)).toEqual({ state: "ok" })
    expect(await migrate(database)).toEqual([])
  })

  test("four at once from an empty database: each file is applied once", async () => {
    await fresh()
    const runners = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const own = openPostgres(created.url)
        try {
          return await migrate(own)
        } finally {
          await own.close()
        }
      }),
    )
    expect(runners.flat().sort()).toEqual(ownMigrations().map(({ name }) => name))
    expect(await schemaState(database)).toEqual({ state: "ok" })
  })

  test("a connection that is lost in the second file: it goes on there, although the lock was never freed", async () => {
    await fresh()
    const counted = migration("001_a.sql", "create sequence sallyport.tries")
    // What a sequence has counted stays when its transaction is undone.
    const lost = migration(
      "002_b.sql",
      `create table sallyport.b (x integer);
       select pg_terminate_backend(pg_backend_pid()) where nextval('sallyport.tries') = 1`,
    )
    const progress: string[] = []
    const applied = await migrate(database, {
      migrations: [counted, lost],
      onProgress: (message) => progress.push(message),
    })
    expect(applied).toEqual(["001_a.sql", "002_b.sql"])
    expect(progress.filter((message) => message.endsWith("; trying again"))).toHaveLength(1)
    expect(progress.filter((message) => message === "applying 001_a.sql")).toHaveLength(1)
  })

  test("a file that fails leaves what came before, and the next run goes on there", async () => {
    await fresh()
    await expect(migrate(database, { migrations: [one, broken] })).rejects.toThrow(
      "migrations/002_b.sql: division by zero; nothing of it was applied",
    )
    expect(await schemaState(database, [one, two])).toMatchObject({
      state: "older",
      message: "the database has an older schema (002_b.sql missing): run `sallyport migrate`",
    })
    expect(await migrate(database, { migrations: [one, two] })).toEqual(["002_b.sql"])
  })

  test("an edited file and a newer schema are refused, with the names", async () => {
    await fresh()
    await migrate(database, { migrations: [one, two] })
    const edited = [one, { ...two, checksum: "other" }]
    await expect(migrate(database, { migrations: edited })).rejects.toThrow(
      "migrations/002_b.sql was changed after it was applied",
    )
    expect(await schemaState(database, edited)).toMatchObject({ state: "edited" })
    await expect(migrate(database, { migrations: [one] })).rejects.toThrow("newer schema")
    expect(await schemaState(database, [one])).toMatchObject({ state: "newer" })
  })

  test("the lock of a runner that died is taken over when it expires, not before", async () => {
    await fresh()
    await migrate(database, { migrations: [one] })
    const hold = (seconds: number) =>
      database.query({
        name: "",
        text: `insert into sallyport.migration_lock values (1, 'dead', now() + interval '${seconds} seconds')`,
      })
    await hold(60)
    const progress: string[] = []
    await expect(
      migrate(database, {
        migrations: [one, two],
        waitMs: 300,
        onProgress: (message) => progress.push(message),
      }),
    ).rejects.toThrow("another migration is running")
    expect(progress).toEqual(["another migration is running; waiting for it"])
    await database.query({ name: "", text: "delete from sallyport.migration_lock" })
    await hold(-1)
    expect(await migrate(database, { migrations: [one, two] })).toEqual(["002_b.sql"])
  })

  test("killed half-way: nothing of the file is there, and the next run goes on at once", async () => {
    await fresh()
    const slow = migration("002_b.sql", `${two.sql}; select pg_sleep(30)`, two.sql)
    let isRunning = true
    const running = migrate(database, { migrations: [one, slow] }).finally(() => {
      isRunning = false
    })
    running.catch(() => undefined)
    const kill =
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(30)%' and pid <> pg_backend_pid()"
    const other = openPostgres(created.url)
    try {
      // Each attempt of it, until it gives up.
      while (isRunning) await other.query({ name: "", text: kill })
    } finally {
      await other.close()
    }
    await expect(running).rejects.toMatchObject({ name: "SourceUnavailable" })
    expect(await schemaState(database, [one, two])).toMatchObject({ state: "older" })
    expect(await migrate(database, { migrations: [one, two] })).toEqual(["002_b.sql"])
  })

  test("a table somebody holds: refused after two seconds, nothing changed", async () => {
    await fresh()
    await migrate(database, { migrations: [one] })
    const alter = migration("002_alter.sql", "alter table sallyport.a add column y integer")
    let free = () => {}
    const holding = database.transaction(async (transaction) => {
      await transaction.query({ name: "", text: "select * from sallyport.a" })
      await new Promise<void>((resolve) => {
        free = resolve
      })
    })
    await expect(migrate(database, { migrations: [one, alter] })).rejects.toThrow("holds a lock")
    free()
    await holding
    expect(await migrate(database, { migrations: [one, alter] })).toEqual(["002_alter.sql"])
  })
})

describe("files of migrations", () => {
  test("numbers without gaps, or an error that names the file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sallyport-migrations-"))
    try {
      await writeFile(join(folder, "001_a.sql"), "select 1\r\n")
      await writeFile(join(folder, "README.md"), "")
      expect(readMigrations(folder).map(({ name, sql }) => `${name} ${sql}`)).toEqual([
        "001_a.sql select 1\n",
      ])
      await writeFile(join(folder, "003_b.sql"), "")
      expect(() => readMigrations(folder)).toThrow("migrations/003_b.sql: expected number 002 here")
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
