import { cp, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPglite } from "../../runtime/store/pglite.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { askShared } from "../support/ask-shared.ts"
import { describePgbouncer, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.ts"
import { postgresMissing } from "../support/postgres-binaries.ts"
import { isLong } from "../support/random-run.ts"
import { migratedFolder } from "../support/shared-databases.ts"

let own: Promise<string> | undefined

/** A new folder with a migrated embedded database: initialized once per run, and copied. */
export async function embeddedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-store-"))
  await copyEmbedded(folder)
  return folder
}

/** The same into a folder that exists. */
export async function copyEmbedded(folder: string): Promise<void> {
  own ??= askShared("embedded").then((shared) => shared ?? migratedFolder())
  await cp(await own, folder, { recursive: true })
}

/**
 * A migrated database of its own, for tests that do not depend on the adapter: on PostgreSQL where there is a server, because
 * that takes a hundredth of the embedded database's CPU time and none of this process's memory. `close` removes it too.
 */
export async function openTestDatabase(): Promise<Database> {
  if (postgresMissing !== undefined) {
    const folder = await embeddedFolder()
    return closing(await openPglite(folder), () => rm(folder, { recursive: true, force: true }))
  }
  const created = await createMigratedDatabase()
  const database = openPostgres(created.url, patient)
  return closing(database, created.drop)
}

/** The same database; closing it also does `more`. */
function closing(database: Database, more: () => Promise<void>): Database {
  const close = database.close.bind(database)
  return Object.assign(database, {
    async close() {
      await close()
      await more()
    },
  })
}

/**
 * The database for a project in a folder whose commands are started: the connection string of a server where there is one, else the embedded
 * database of the folder (then `url` is empty), which takes seconds of CPU time for each command. test/e2e/dev has the embedded one.
 */
export async function projectDatabase(
  folder: string,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  if (postgresMissing === undefined) return createMigratedDatabase()
  await mkdir(join(folder, ".sallyport"), { mode: 0o700, recursive: true })
  await copyEmbedded(join(folder, ".sallyport"))
  return { url: "", drop: async () => undefined }
}

/** On a busy machine the server may be silent for longer than a service waits; test/store/faults has what happens then. */
const patient = { silentMs: 30_000 }

type Body = (database: () => Database) => void

/** The same tests on both adapters, and in `npm run test:long` through a pooler, each with a migrated database of its own. */
export function describeDatabases(name: string, body: Body): void {
  describeServer(name, body)
  if (isLong) describePooler(name, body)
  describeEmbedded(name, body)
}

/** Tests that do not depend on the adapter, as test/store/contract.test.ts does: in `npm test` on PostgreSQL where there is a server. */
export function describeDatabase(name: string, body: Body): void {
  if (isLong) describeDatabases(name, body)
  else if (postgresMissing === undefined) describeServer(name, body)
  else describeEmbedded(name, body)
}

function describeServer(name: string, body: Body): void {
  describePostgres(`${name} on PostgreSQL`, () => {
    let database: Database
    let created: TestDatabase
    beforeAll(async () => {
      created = await createMigratedDatabase()
      database = openPostgres(created.url, patient)
    })
    afterAll(async () => {
      await database.close()
      await created.drop()
    })
    body(() => database)
  })
}

function describePooler(name: string, body: Body): void {
  describePgbouncer(`${name} through pgbouncer in transaction mode`, () => {
    let database: Database
    let created: TestDatabase
    let pooler: Pgbouncer
    beforeAll(async () => {
      created = await createMigratedDatabase()
      pooler = await startPgbouncer(Number(new URL(created.url).port))
      database = openPostgres(pooler.through(created.url), {
        ...patient,
        pooler: "transaction",
        noticesUrl: created.url,
      })
    })
    afterAll(async () => {
      await database.close()
      await pooler.stop()
      await created.drop()
    })
    body(() => database)
  })
}

function describeEmbedded(name: string, body: Body): void {
  describe(`${name} on the embedded database`, () => {
    let database: Database
    let folder: string
    beforeAll(async () => {
      folder = await embeddedFolder()
      database = await openPglite(folder)
    })
    afterAll(async () => {
      await database.close()
      await rm(folder, { recursive: true, force: true })
    })
    body(() => database)
  })
}
