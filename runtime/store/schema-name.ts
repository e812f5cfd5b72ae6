import { DatabaseSettingsError } from "./connection-url.ts"
import type { PreparedStatement } from "./database.ts"

/** The schema in the texts of statements and migrations, and the default. */
export const defaultSchema = "sallyport"

const qualifier = /\bsallyport\./g
const texts = new WeakMap<PreparedStatement, Map<string, string>>()

/** The text of a statement with its tables in `schema`, which is never left to the server's `search_path`. Made once for each statement. */
export function withSchema(statement: PreparedStatement, schema: string): string {
  if (schema === defaultSchema) return statement.text
  const known = texts.get(statement) ?? new Map<string, string>()
  texts.set(statement, known)
  const text = known.get(schema) ?? statement.text.replace(qualifier, `"${schema}".`)
  known.set(schema, text)
  return text
}

/**
 * Returns the name when it can be the schema's.
 * @throws DatabaseSettingsError
 */
export function checkedSchema(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_$-]{0,62}$/.test(name) && !/^(pg_|information_schema$)/i.test(name)) return name
  throw new DatabaseSettingsError(
    `the schema ${JSON.stringify(name)} cannot be used`,
    "Write up to 63 letters, digits and _ into SALLYPORT_DATABASE_SCHEMA; names that start with pg_ belong to PostgreSQL.",
  )
}
