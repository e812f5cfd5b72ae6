import { type Database, isSqlError, type Queryable, undefinedSchema, undefinedTable } from "./database.ts"
import { type Migration, ownMigrations } from "./migration-files.ts"

/** Whether a runtime of this version may use the database; `message` says why not and what to do. */
export type SchemaState =
  | { readonly state: "ok" }
  | { readonly state: "empty" | "older" | "newer" | "edited"; readonly message: string }

/** A file as it was when it was applied. */
export interface AppliedMigration {
  readonly name: string
  readonly checksum: string
}

const selectApplied = {
  name: "applied-migrations",
  text: "select name, checksum from sallyport.migrations order by name",
}

/** Compares the database's schema with the one this version was made for. */
export async function schemaState(
  database: Database,
  migrations: readonly Migration[] = ownMigrations(),
): Promise<SchemaState> {
  return compareSchema(await appliedMigrations(database), migrations)
}

/** What has been applied, in order; nothing when the database has never been migrated. */
export async function appliedMigrations(database: Queryable): Promise<readonly AppliedMigration[]> {
  try {
    const rows = await database.query<[string, string]>(selectApplied)
    return rows.map(([name, checksum]) => ({ name, checksum }))
  } catch (error) {
    if (isSqlError(error, undefinedTable, undefinedSchema)) return []
    throw error
  }
}

/** The judgement alone: the files applied beside the files known, both in order. */
export function compareSchema(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): SchemaState {
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
