import { SourceUnavailable } from "../check/ports.ts"
import { SqlError } from "./database.ts"

/**
 * SQLSTATE classes and codes that say something about the database and nothing about the statement (PostgreSQL, appendix A):
 * 08 connection, 53 out of resources, 57P0x shut down or starting, 58 system, XX internal, 25006 read-only (a stand-by), 25P03/25P04 broken off
 * for lingering, 57014 cancelled (our own statement timeout), 55P03 lock not available, 28 and 3D000 we are not let in, 26000 the pooler in between lost our statement, 0A000 our prepared statement is of a table that was changed since: a new connection helps.
 */
const unavailable = /^(08|53|57|58|XX|28|25006|25P03|25P04|55P03|3D000|26000|0A000)/

const ordering = new Set(["40001", "40P01"])

/** Any rejection of node-postgres as one of our two errors. */
export function faultOf(error: unknown): SourceUnavailable | SqlError {
  if (error instanceof SourceUnavailable || error instanceof SqlError) return error
  const { code, message } = describe(error)
  // Node's own codes (ECONNREFUSED …) have letters where an SQLSTATE has five places; node-postgres' own errors have none.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || unavailable.test(code))
    return new SourceUnavailable(code === undefined ? message : `${message} (${code})`, { cause: error })
  return new SqlError(code, message)
}

/** The SQLSTATE behind one of our errors, if the server gave one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof SqlError) return error.code
  return error instanceof SourceUnavailable ? describe(error.cause).code : undefined
}

/** Whether the transaction may succeed when it is run again. */
export function isOrderingFault(error: unknown): boolean {
  return error instanceof SqlError && ordering.has(error.code)
}

function describe(error: unknown): { code: string | undefined; message: string } {
  // A connection tried on several addresses fails with an AggregateError that has no message of its own.
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = (inner as { code?: unknown } | null)?.code
  const message = inner instanceof Error && inner.message !== "" ? inner.message : String(inner)
  return { code: typeof code === "string" ? code : undefined, message }
}
