import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { SourceUnavailable } from "../check/ports.ts"
import { type Capability, probeCapabilities, refusalOfServer } from "./capabilities.ts"
import {
  type Database,
  isSqlError,
  type Queryable,
  SqlError,
  type Transaction,
  unbounded,
  undefinedSchema,
  undefinedTable,
} from "./database.ts"
import { repeatableState, sqlStateOf } from "./fault.ts"
import { type Migration, ownMigrations } from "./migration-files.ts"

/** For tests and progress messages. */
export interface MigrateOptions {
  /** Default: the migrations of this version. */
  readonly migrations?: readonly Migration[] | undefined
  /** How long to wait for another runner, in milliseconds (default: 60,000). */
  readonly waitMs?: number | undefined
  /** Called with what the server can do, before anything is applied. */
  readonly onCapabilities?: ((capabilities: readonly Capability[]) => void) | undefined
  /** Called before each file, and once when the runner waits for another one. */
  readonly onProgress?: ((message: string) => void) | undefined
}

/** Whether a runtime of this version may use the database; `message` contains the reason and the remedy. */
type SchemaState =
  | { readonly state: "ok" }
  | { readonly state: "empty" | "older" | "newer" | "edited"; readonly message: string }

/** A file at the time it was applied. */
interface AppliedMigration {
  readonly name: string
  readonly checksum: string
}

const selectApplied = {
  name: "applied-migrations",
  text: "select name, checksum from sallyport.migrations order by name",
}

/** The schema is not the expected one; the message is for the operator. */
export class MigrationError extends Error {
  override readonly name = "MigrationError"
}

/**
 * A runner that has not renewed the lock for this long has died. A runner renews it before and after every file, and holds the lock's row
 * while it applies a file. So others wait at most this long for a dead runner, and a long file does not look like a dead one.
 */
const lockSeconds = 15
const pollMs = 200
/** With pauses of `pollMs`, about as long as a disk stalls under a large write. */
const attemptsMax = 10
const lockNotAvailable = "55P03"
/** SQLSTATEs of two processes that create the same object at the same moment; the code depends on the catalogue in which they collide. */
const createdMeanwhile = ["23505", "42P06", "42P07", "42710", "XX000"]

const findSchema = { name: "", text: "select 1 from pg_catalog.pg_namespace where nspname = $1" }
const createMigrations = {
  name: "",
  text: `create table if not exists sallyport.migrations (
    name text collate "C" primary key, checksum text not null, applied_at timestamptz not null default now())`,
}
const createLock = {
  name: "",
  text: `create table if not exists sallyport.migration_lock (
    id integer primary key, holder text not null, expires_at timestamptz not null)`,
}
const takeLock = {
  name: "take-migration-lock",
  text: `insert into sallyport.migration_lock as held (id, holder, expires_at)
    values (1, $1, clock_timestamp() + $2::integer * interval '1 second')
    on conflict (id) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where held.expires_at < clock_timestamp() or held.holder = excluded.holder returning holder`,
}
const renewLock = {
  name: "renew-migration-lock",
  text: `update sallyport.migration_lock set expires_at = clock_timestamp() + $2::integer * interval '1 second'
    where id = 1 and holder = $1 returning holder`,
}
const freeLock = {
  name: "free-migration-lock",
  text: "delete from sallyport.migration_lock where id = 1 and holder = $1",
}
const recordApplied = {
  name: "record-migration",
  text: "insert into sallyport.migrations (name, checksum) values ($1, $2)",
}

/**
 * Brings the schema to this version. Returns the names of the applied files; empty when the schema was current. Safe to run twice, and
 * concurrently: other runners wait. A database that is silent for a moment does not end it; one that refuses the first connection does.
 * @throws MigrationError (edited or newer schema, a file that fails, no lock in time, a server that lacks what is needed) ·
 * SourceUnavailable
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<readonly string[]> {
  const applied: string[] = []
  const holder = randomUUID()
  let isReached = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      await prepare(database)
      isReached = true
      await migrateLocked(database, options, { holder, onApplied: (name) => void applied.push(name) })
      return applied
    } catch (error) {
      if (error instanceof SqlError) throw new MigrationError(`${error.message} (SQLSTATE ${error.code})`)
      // Requests give a silent database up within a second; a migration can continue after a disk has stalled for longer.
      const isSilent = error instanceof SourceUnavailable && (isReached || error.cause === undefined)
      if (!isSilent || attempt === attemptsMax) throw error
      options.onProgress?.(`${error.message}; trying again`)
      await sleep(pollMs)
    }
  }
}

interface Run {
  /** Who holds the lock; the same in each attempt, because the lock of the one before may not be free yet. */
  readonly holder: string
  onApplied(name: string): void
}

async function migrateLocked(database: Database, options: MigrateOptions, run: Run): Promise<void> {
  const { holder } = run
  const migrations = options.migrations ?? ownMigrations()
  const capabilities = await probeCapabilities(database)
  options.onCapabilities?.(capabilities)
  const refusal = refusalOfServer(capabilities)
  if (refusal !== undefined) throw new MigrationError(refusal)
  await lock(database, holder, options)
  try {
    const applied = await appliedMigrations(database)
    const schema = compareSchema(applied, migrations)
    if (schema.state === "newer" || schema.state === "edited") throw new MigrationError(schema.message)
    const pending = migrations.slice(applied.length)
    for (const migration of pending) {
      options.onProgress?.(`applying ${migration.name}`)
      await apply(database, migration, holder)
      run.onApplied(migration.name)
    }
  } finally {
    await database.query(freeLock, [holder]).catch(() => undefined)
  }
}

/** Creates the schema and the tables that locking needs. A role that may not create schemas can be given one. */
async function prepare(database: Database): Promise<void> {
  const createSchema = { name: "", text: `create schema if not exists "${database.schema}"` }
  const found = await database.query(findSchema, [database.schema])
  for (const statement of [...(found.length > 0 ? [] : [createSchema]), createMigrations, createLock]) {
    await retry(createdMeanwhile, () => database.query(statement))
  }
}

async function lock(database: Database, holder: string, options: MigrateOptions): Promise<void> {
  const endMs = Date.now() + (options.waitMs ?? 60_000)
  for (let reported = false; ; reported = true) {
    const rows = await takeOnce(database, holder)
    if (rows.length > 0) return
    if (Date.now() > endMs)
      throw new MigrationError(
        "another migration is running and does not end; if it died, its lock expires 15 seconds after its last step",
      )
    if (!reported) options.onProgress?.("another migration is running; waiting for it")
    await sleep(pollMs)
  }
}

/** While a runner applies a file it holds the lock's row, and taking the lock over would block. Treat that as held. */
async function takeOnce(database: Database, holder: string): Promise<readonly unknown[]> {
  try {
    return await database.transaction(async (transaction) => {
      await transaction.script("set local lock_timeout = '500ms'")
      return transaction.query(takeLock, [holder, lockSeconds])
    })
  } catch (error) {
    if (sqlStateOf(error) === lockNotAvailable || repeatableState(error) !== undefined) return []
    throw error
  }
}

async function apply(database: Database, migration: Migration, holder: string): Promise<void> {
  try {
    await database.transaction(async (transaction: Transaction) => {
      await transaction.script("set local lock_timeout = '2s'; set local statement_timeout = 0")
      // Check that the lock is still ours. It stays ours until the commit even past its expiry, because the row is locked.
      const held = await transaction.query(renewLock, [holder, lockSeconds])
      if (held.length === 0) throw new MigrationError("the migration lock was lost; run the migration again")
      await transaction.script(migration.sql)
      await transaction.query(recordApplied, [migration.name, migration.checksum])
      await transaction.query(renewLock, [holder, lockSeconds])
    }, unbounded)
  } catch (error) {
    if (sqlStateOf(error) === lockNotAvailable)
      throw new MigrationError(
        `migrations/${migration.name}: another session holds a lock on its tables for more than 2 s; nothing of it was applied, run the migration again`,
      )
    if (error instanceof SqlError)
      throw new MigrationError(`migrations/${migration.name}: ${error.message}; nothing of it was applied`)
    throw error
  }
}

async function retry<T>(codes: readonly string[], work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 5 || !codes.includes(sqlStateOf(error) ?? "")) throw error
    }
  }
}

/** Compares the database's schema with the one this version needs. */
export async function schemaState(
  database: Database,
  migrations: readonly Migration[] = ownMigrations(),
): Promise<SchemaState> {
  return compareSchema(await appliedMigrations(database), migrations)
}

/** The applied files in order; empty when the database was never migrated. */
async function appliedMigrations(database: Queryable): Promise<readonly AppliedMigration[]> {
  try {
    const rows = await database.query<[string, string]>(selectApplied)
    return rows.map(([name, checksum]) => ({ name, checksum }))
  } catch (error) {
    if (isSqlError(error, undefinedTable, undefinedSchema)) return []
    throw error
  }
}

/** Compares the applied files with the known files, both in order. */
function compareSchema(applied: readonly AppliedMigration[], migrations: readonly Migration[]): SchemaState {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name)
  if (unknown.length > 0)
    return {
      state: "newer",
      message: `the database has a newer schema than this version knows (${unknown.join(", ")}): install the newer version of sallyport`,
    }
  const edited = applied.filter(({ name, checksum }) => known.get(name)?.checksum !== checksum)
  if (edited.length > 0)
    return {
      state: "edited",
      message: `${edited.map(({ name }) => `migrations/${name}`).join(", ")} was changed after it was applied: restore the file; a change of the schema needs a new file`,
    }
  const missing = migrations.slice(applied.length).map(({ name }) => name)
  if (missing.length === 0) return { state: "ok" }
  return {
    state: applied.length === 0 ? "empty" : "older",
    message: `the database ${applied.length === 0 ? "has no schema yet" : `has an older schema (${missing.join(", ")} missing)`}: run \`sallyport migrate\``,
  }
}
