/** A statement prepared under its name on every connection; the same name always means the same text. */
export interface PreparedStatement {
  readonly name: string
  readonly text: string
}

/** One row, by position: bigint columns are numbers (none of ours passes 2^53), timestamps are `Date`, the rest as node-postgres has it. */
export type SqlRow = readonly unknown[]

/** What statements are sent to: a database, or a transaction in it. */
export interface Queryable {
  /** Runs one statement; outside a transaction again where the server rolled it back. Rejects with `SourceUnavailable` or a `SqlError`. */
  query<Row extends SqlRow = SqlRow>(
    statement: PreparedStatement,
    parameters?: readonly unknown[],
  ): Promise<readonly Row[]>
}

/** A transaction: also scripts (several statements, no parameters), for migrations. */
export interface Transaction extends Queryable {
  script(text: string): Promise<void>
}

/** How a transaction differs from the usual (read committed, the database's bound of a statement). */
export interface TransactionOptions {
  /** One snapshot for all statements, nothing is written. */
  readonly snapshot?: boolean
  /** Bound of each statement, instead of the database's own; 0: none. */
  readonly statementMs?: number
}

/** The bound of a statement that must not be bounded by us either: migrations. */
export const unbounded: TransactionOptions = { statementMs: 0 }

/**
 * PostgreSQL 14+, a distributed server of its protocol, or the embedded database: one dialect. Whatever is wrong with the database itself
 * (gone, mute, full, read-only, too slow) is a `SourceUnavailable` within a second, and nothing has to be reopened when it is back.
 */
export interface Database extends Queryable {
  readonly kind: "postgres" | "embedded"
  /**
   * `work` in one transaction; a rejection of it rolls back. Run from the start up to five times when the server rolled it back for what has nothing to
   * do with it (40001, 40P01 and others, fault.ts): `work` may have no other effects. After the last it is a `SourceUnavailable`.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** The statements as one transaction, sent in one go: one round trip instead of one each. Resolves to the rows of each. */
  batch(
    statements: readonly (readonly [PreparedStatement, readonly unknown[]])[],
  ): Promise<readonly (readonly SqlRow[])[]>
  /**
   * Calls back with what other sessions notify on a channel, over a connection of its own that is made again when it is lost; returns what ends it. Absent
   * where there are no other sessions.
   */
  readonly listen?: ((channel: string, onNotice: (payload: string) => void) => () => void) | undefined
  /** Ends all connections; running statements are broken off. */
  close(): Promise<void>
}

/** The database refused a statement for a reason that is no fault of its own: a violated constraint, a missing table. `code` is the SQLSTATE. */
export class SqlError extends Error {
  override readonly name = "SqlError"
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** SQLSTATE of a missing table: the database was never migrated, or by an older version. */
export const undefinedTable = "42P01"
/** SQLSTATE of a missing schema: the database was never migrated. */
export const undefinedSchema = "3F000"

/** SQLSTATE of a duplicate key. */
export const uniqueViolation = "23505"

/** Whether the database refused with one of these SQLSTATEs. */
export function isSqlError(error: unknown, ...codes: readonly string[]): error is SqlError {
  return error instanceof SqlError && codes.includes(error.code)
}
