import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPglite } from "../../runtime/store/pglite.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"

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
      folder = await mkdtemp(join(tmpdir(), "sallyport-store-"))
      database = await openPglite(folder)
      await migrate(database)
    })
    afterAll(async () => {
      await database.close()
      await rm(folder, { recursive: true, force: true })
    })
    body(() => database)
  })
}
