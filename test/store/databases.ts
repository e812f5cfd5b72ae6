import { rmSync } from "node:fs"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPglite } from "../../runtime/store/pglite.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

let prepared: Promise<string> | undefined

/** A new folder with a migrated embedded database: initialised once, copied for every other. */
export async function embeddedFolder(): Promise<string> {
  prepared ??= prepareFolder()
  const folder = await mkdtemp(join(tmpdir(), "sallyport-store-"))
  await cp(await prepared, folder, { recursive: true })
  return folder
}

async function prepareFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-prepared-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const database = await openPglite(folder)
  await migrate(database)
  await database.close()
  return folder
}

/** The same tests on both adapters, each with a migrated database of its own. */
export function describeDatabases(name: string, body: (database: () => Database) => void): void {
  describePostgres(`${name} on PostgreSQL`, () => {
    let database: Database
    let created: TestDatabase
    beforeAll(async () => {
      created = await createDatabase()
      database = openPostgres(created.url)
      await migrate(database)
    })
    afterAll(async () => {
      await database.close()
      await created.drop()
    })
    body(() => database)
  })
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
