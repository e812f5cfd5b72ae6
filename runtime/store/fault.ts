import { SourceUnavailable } from "../check/ports.ts"
import { SqlError } from "./database.ts"

/**
 * What a SQLSTATE means for the sender of the statement.
 * `again`: the server rolled the transaction back; a repetition may succeed. `reconnect`: the same, on a new connection.
 * `unavailable`: the database cannot work now, or it is unknown whether it did the work. `schema`: it was not migrated to this version.
 * `refused`: the statement or its values are wrong. The caller may expect the code; otherwise it is a bug of ours.
 */
export type Treatment = "again" | "reconnect" | "unavailable" | "schema" | "refused"

/** Every class of PostgreSQL's appendix A ("PostgreSQL Error Codes"). */
export const classTreatments = {
  "00": "refused", // successful completion
  "01": "refused", // warning
  "02": "refused", // no data
  "03": "refused", // SQL statement not yet complete
  "08": "unavailable", // connection
  "09": "refused", // triggered action
  "0A": "reconnect", // feature not supported; our prepared statement refers to a table that has changed
  "0B": "refused", // invalid transaction initiation
  "0F": "refused", // locator
  "0L": "refused", // invalid grantor
  "0P": "refused", // invalid role specification
  "0Z": "refused", // diagnostics
  "10": "refused", // XQuery
  "20": "refused", // case not found
  "21": "refused", // cardinality
  "22": "refused", // data
  "23": "refused", // integrity constraint
  "24": "refused", // invalid cursor state
  "25": "refused", // invalid transaction state
  "26": "reconnect", // invalid statement name: the pooler lost our prepared statement
  "27": "refused", // triggered data change
  "28": "unavailable", // invalid authorization: the server does not let us in
  "2B": "refused", // dependent privileges still exist
  "2D": "refused", // invalid transaction termination
  "2F": "refused", // SQL routine
  "34": "refused", // invalid cursor name
  "38": "refused", // external routine
  "39": "refused", // external routine invocation
  "3B": "refused", // savepoint
  "3D": "unavailable", // invalid catalog name: the database does not exist
  "3F": "schema", // invalid schema name
  "40": "again", // transaction rollback
  "42": "refused", // syntax or access rule
  "44": "refused", // with check option
  "53": "unavailable", // insufficient resources
  "54": "refused", // program limit exceeded
  "55": "unavailable", // object not in prerequisite state: locked, in use, not accepting connections
  "57": "unavailable", // operator intervention
  "58": "unavailable", // system
  "72": "again", // snapshot too old
  F0: "unavailable", // configuration file
  HV: "unavailable", // foreign data wrapper: the operator's source behind a table
  P0: "refused", // PL/pgSQL: a trigger of the operator
  XX: "unavailable", // internal
} as const satisfies Readonly<Record<string, Treatment>>

/** Codes that mean something other than their class. */
export const codeTreatments: Readonly<Record<string, Treatment>> = {
  "25006": "unavailable", // read-only: a stand-by
  "25P03": "unavailable", // idle in transaction for too long
  "25P04": "unavailable", // transaction took too long
  "40002": "refused", // a constraint that is checked at the end
  "40003": "unavailable", // completion unknown: the statement may have been carried out
  "42501": "unavailable", // no privilege
  "42703": "schema", // undefined column
  "42P01": "schema", // undefined table
  "42P05": "reconnect", // duplicate prepared statement: the pooler gave us a connection another client had used
  "55P02": "refused", // parameter that cannot be changed now
  "55P04": "refused", // new value of an enum used too early
}

/** The meaning of a SQLSTATE. Classes that PostgreSQL does not have are faults of a distributed server. */
export function treatmentOf(code: string): Treatment {
  const byClass: Readonly<Record<string, Treatment>> = classTreatments
  return codeTreatments[code] ?? byClass[code.slice(0, 2)] ?? "unavailable"
}

/** Turns any rejection of node-postgres into one of our two errors. */
export function faultOf(error: unknown): SourceUnavailable | SqlError {
  if (error instanceof SourceUnavailable || error instanceof SqlError) return error
  const { code, message } = describeFault(error)
  // Node's codes (ECONNREFUSED …) do not have the five characters of a SQLSTATE; node-postgres' own errors have no code.
  if (!isSqlState(code) || endsConnection(treatmentOf(code)))
    return new SourceUnavailable(code === undefined ? message : `${message} (${code})`, { cause: error })
  return new SqlError(code, message)
}

function isSqlState(code: string | undefined): code is string {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code)
}

/** Whether a connection with such a fault must not be used again. */
function endsConnection(treatment: Treatment): boolean {
  return treatment === "unavailable" || treatment === "reconnect"
}

/** The SQLSTATE in one of our errors, if the server sent one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof SqlError) return error.code
  return error instanceof SourceUnavailable ? describeFault(error.cause).code : undefined
}

/** The SQLSTATE of a transaction that did nothing and may succeed on repetition; undefined for every other fault. */
export function repeatableState(error: unknown): string | undefined {
  const code = sqlStateOf(error)
  if (!isSqlState(code)) return undefined
  const treatment = treatmentOf(code)
  return treatment === "again" || treatment === "reconnect" ? code : undefined
}

/** Whether the schema is not the one this version needs: it is not migrated (yet). */
export function isSchemaFault(error: unknown): boolean {
  return error instanceof SqlError && treatmentOf(error.code) === "schema"
}

/** Whether a fault of prepared statements comes from a pooler that gives our transactions to different sessions. */
export function isOfPooler(sqlState: string): boolean {
  return sqlState === "42P05" || sqlState === "26000"
}

const poolerHelp = "set SALLYPORT_DATABASE_POOLER=transaction"

/** What to do about a pooler that breaks prepared statements. */
export function poolerText(sqlState: string): string {
  return `the database URL leads to a connection pooler (such as pgbouncer) that mixes up prepared statements (${sqlState}): ${poolerHelp}`
}

/** A pooler refuses a connection that sets timeouts for the session: says what to do. Other errors stay as they are. */
export function explainPooler(error: unknown): unknown {
  const { code, message } = describeFault(error)
  if (code !== "08P01" || !message.startsWith("unsupported startup parameter")) return error
  const text = `the database URL leads to a connection pooler (such as pgbouncer), which refuses Sallyport's connection (${message}): ${poolerHelp}`
  return Object.assign(new Error(text, { cause: error }), { code })
}

/** The server does not accept writes. `why`: the end of a sentence. */
export class ReadOnlyServer extends Error {
  override readonly name = "ReadOnlyServer"
  readonly code = readOnly

  constructor(server: string, why: string) {
    super(
      `the database server ${server} is read-only (${why}): Sallyport needs the server that accepts writes`,
    )
  }
}

/** SQLSTATE of a write to a read-only server. */
const readOnly = "25006"

/** Whether an attempt to connect failed with a reply of a server that works, such as a wrong password: 57P0x says that it starts or stops. */
export function isServerReply(error: unknown): boolean {
  const { code } = describeFault(error)
  return isSqlState(code) && code !== readOnly && !/^(57P|08)/.test(code)
}

/** SQLSTATE or Node's code, and message of any error of a connection. */
export function describeFault(error: unknown): { code: string | undefined; message: string } {
  // After attempts on several addresses Node rejects with an AggregateError, which has no message of its own.
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = (inner as { code?: unknown } | null)?.code
  const message = inner instanceof Error && inner.message !== "" ? inner.message : String(inner)
  return { code: typeof code === "string" ? code : undefined, message }
}
