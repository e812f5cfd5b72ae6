import { type Database, isSqlError, type PreparedStatement, uniqueViolation } from "./database.ts"

/** A token of a machine for the control API, without its secret. `prefix`: the beginning of the token. */
export interface ControlTokenRecord {
  readonly name: string
  readonly prefix: string
  readonly role: string
  /** Operations and groups in its scope; null: everything that the role may do. */
  readonly may: readonly string[] | null
  readonly createdAt: Date
  readonly createdBy: string
  readonly expiresAt: Date
  /** Accurate to a minute; null: never used. */
  readonly lastUsedAt: Date | null
}

/** A token to store. `digest`: SHA-256 in hex. */
export interface NewControlToken
  extends Pick<ControlTokenRecord, "name" | "prefix" | "role" | "may" | "createdBy" | "expiresAt"> {
  readonly digest: string
}

type Row = [string, string, string, string | null, Date, string, Date, Date | null]

const columns = "name, prefix, role, may, created_at, created_by, expires_at, last_used_at"

const insert: PreparedStatement = {
  name: "control-token-insert",
  text: `insert into sallyport.control_tokens (name, digest, prefix, role, may, created_by, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
}
const list: PreparedStatement = {
  name: "control-token-list",
  text: `select ${columns} from sallyport.control_tokens order by name`,
}
const remove: PreparedStatement = {
  name: "control-token-delete",
  text: "delete from sallyport.control_tokens where name = $1 returning name",
}
const find: PreparedStatement = {
  name: "control-token-find",
  text: `select ${columns} from sallyport.control_tokens where digest = $1 and expires_at > now()`,
}
const use: PreparedStatement = {
  name: "control-token-use",
  text: `update sallyport.control_tokens set last_used_at = now()
    where digest = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
}

/** Stores a token; undefined: the name is in use. */
export async function insertControlToken(
  database: Database,
  { name, digest, prefix, role, may, createdBy, expiresAt }: NewControlToken,
): Promise<ControlTokenRecord | undefined> {
  try {
    const scope = may === null ? null : JSON.stringify(may)
    const values = [name, digest, prefix, role, scope, createdBy, expiresAt]
    const rows = await database.query<Row>(insert, values)
    return rows.map(recordOf)[0]
  } catch (error) {
    if (isSqlError(error, uniqueViolation)) return undefined
    throw error
  }
}

/** All tokens by name, the expired ones too. */
export async function listControlTokens(database: Database): Promise<ControlTokenRecord[]> {
  return (await database.query<Row>(list)).map(recordOf)
}

/** Whether there was one. */
export async function deleteControlToken(database: Database, name: string): Promise<boolean> {
  return (await database.query(remove, [name])).length > 0
}

/** The token with a digest that has not expired, and notes its use. */
export async function findControlToken(
  database: Database,
  digest: string,
): Promise<ControlTokenRecord | undefined> {
  const [row] = await database.query<Row>(find, [digest])
  if (row === undefined) return undefined
  // A token that is only read must work while the database is read-only.
  await database.query(use, [digest]).catch(() => undefined)
  return recordOf(row)
}

function recordOf([
  name,
  prefix,
  role,
  may,
  createdAt,
  createdBy,
  expiresAt,
  lastUsedAt,
]: Row): ControlTokenRecord {
  const scope = may === null ? null : (JSON.parse(may) as readonly string[])
  return { name, prefix, role, may: scope, createdAt, createdBy, expiresAt, lastUsedAt }
}
