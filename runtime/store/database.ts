import type { FailedCalls } from "./call-record.ts"

/** A statement that each connection prepares under `name`; one name always has the same text. */
export interface PreparedStatement {
  readonly name: string
  readonly text: string
}

/** One row by position. bigint columns are numbers (ours never exceed 2^53), timestamps are `Date`, other types as in node-postgres. */
export type SqlRow = readonly unknown[]

/** A target for statements: a database, or a transaction in it. */
export interface Queryable {
  /**
   * Runs one statement. Outside a transaction it repeats a statement that the server rolled back. Rejects with `SourceUnavailable` or a
   * `SqlError`.
   */
  query<Row extends SqlRow = SqlRow>(
    statement: PreparedStatement,
    parameters?: readonly unknown[],
  ): Promise<readonly Row[]>
}

/** Statements with their parameters. */
export type Statements = readonly (readonly [PreparedStatement, readonly unknown[]])[]

/** A transaction; for migrations it also runs scripts (several statements without parameters). */
export interface Transaction extends Queryable {
  /** Sends its last statements and the commit in one round trip. Resolves to the rows of each. */
  commitWith(statements: Statements): Promise<readonly (readonly SqlRow[])[]>
  script(text: string): Promise<void>
}

/** How a transaction differs from the default (read committed, statement timeout of the database). */
export interface TransactionOptions {
  /** All statements read one snapshot and write nothing. */
  readonly snapshot?: boolean
  /** Timeout of each statement, instead of the database's own; 0: no timeout. */
  readonly statementMs?: number
}

/** For migrations, whose statements must not time out on our side either. */
export const unbounded: TransactionOptions = { statementMs: 0 }

/** What is known about the database now, for status and metrics. */
export interface DatabaseState {
  /** `host:port` of the server in use; undefined before the first connection, and of the embedded database. */
  readonly server: string | undefined
  /** Why statements are rejected now; undefined while they are sent. */
  readonly unavailable: string | undefined
  /** Calls of the last ten seconds that rejected with `SourceUnavailable`; undefined when none did. */
  readonly failures: FailedCalls | undefined
  /** Connections for statements: open or being opened, at most `max`; those in use; callers that wait for one. */
  readonly connections: {
    readonly max: number
    readonly size: number
    readonly inUse: number
    readonly waiting: number
  }
}

/** What a server may lack: then another way is taken (see capabilities.ts). */
export type OptionalCapability = "notices" | "cursors"

/**
 * PostgreSQL 14+, a distributed server with its protocol, or the embedded database, all with one dialect. A fault of the database itself
 * (down, silent, full, read-only, too slow) rejects with `SourceUnavailable` within a second. Callers need not reopen anything afterwards.
 */
export interface Database extends Queryable {
  readonly kind: "postgres" | "embedded"
  /** Schema of all tables. Statements write it as `sallyport.`, migrations too. */
  readonly schema: string
  readonly state: DatabaseState
  /** What the server lacks, as far as it was tried (`probeCapabilities`): other ways are taken. */
  readonly missing: Set<OptionalCapability>
  /**
   * Runs `work` in one transaction; a rejection of `work` rolls back. When the server rolls back for an unrelated reason (40001, 40P01 and
   * others, see fault.ts), `work` runs again, up to five times in all, so it may have no other effects. After the last attempt:
   * `SourceUnavailable`.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Sends the statements as one transaction in one round trip, its commit included. Resolves to the rows of each. */
  batch(statements: Statements): Promise<readonly (readonly SqlRow[])[]>
  /**
   * Calls back with notices of other sessions on a channel. Uses a connection of its own and reconnects when it is lost. Returns a function
   * that stops listening. Absent when there are no other sessions.
   */
  readonly listen?: ((channel: string, onNotice: (payload: string) => void) => () => void) | undefined
  /** Ends all connections and aborts running statements. */
  close(): Promise<void>
}

/**
 * The database refused a statement because of the statement or its values: a violated constraint, a missing table. `code` is the SQLSTATE.
 */
export class SqlError extends Error {
  override readonly name = "SqlError"
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** SQLSTATE of a missing table: the database was never migrated, or an older version migrated it. */
export const undefinedTable = "42P01"
/** SQLSTATE of a missing schema: the database was never migrated. */
export const undefinedSchema = "3F000"

/** SQLSTATE of a duplicate key. */
export const uniqueViolation = "23505"

/** Whether the error is a refusal with one of these SQLSTATEs. */
export function isSqlError(error: unknown, ...codes: readonly string[]): error is SqlError {
  return error instanceof SqlError && codes.includes(error.code)
}
