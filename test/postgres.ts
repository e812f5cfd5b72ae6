import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { describe, test } from "vitest"
import { askShared } from "./support/ask-shared.ts"
import { postgresMissing } from "./support/postgres-binaries.ts"
import { migratedTemplate } from "./support/shared-databases.ts"
import { startThrowAwayPostgres } from "./support/throw-away-postgres.ts"

/** A fresh, empty database. */
export interface TestDatabase {
  /** Value for `SALLYPORT_DATABASE_URL`. */
  readonly url: string
  /** Ends its connections and removes it. */
  drop(): Promise<void>
}

/**
 * `describe` for tests that need a PostgreSQL server. Without one they are skipped, by name and with the reason; where
 * `CI` is set that is a failure, because there the server was promised.
 */
export function describePostgres(name: string, body: () => void): void {
  if (postgresMissing === undefined) {
    describe(name, body)
    return
  }
  describe(name, () => {
    test("needs PostgreSQL", (context) => {
      if (process.env["CI"]) throw new Error(postgresMissing)
      context.skip(postgresMissing)
    })
  })
}

/** A new database on the run's server, dropped at the end of the file. Call it in a `beforeAll` or a test, below `describePostgres`. */
export function createDatabase(): Promise<TestDatabase> {
  return createFrom("template1")
}

/** The same with the schema of this version: a copy of one that is migrated once per run. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createFrom(await migratedName())
}

async function createFrom(template: string): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `t_${randomBytes(8).toString("hex")}`
  await query(server, `create database ${name} template ${template}`)
  return {
    url: server.replace(/\/postgres$/, `/${name}`),
    drop: () => query(server, `drop database if exists ${name} with (force)`),
  }
}

let own: Promise<string> | undefined
let migrated: Promise<string> | undefined

/** The run's server; a file run without our vitest configuration starts its own. */
async function serverUrl(): Promise<string> {
  const shared = await askShared("postgres")
  if (shared !== undefined) return shared
  // It ends with this process.
  own ??= startThrowAwayPostgres().then((server) => server.url("postgres"))
  return own
}

function migratedName(): Promise<string> {
  migrated ??= askShared("migrated").then(async (shared) => shared ?? migratedTemplate(await serverUrl()))
  return migrated
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
