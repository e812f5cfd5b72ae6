import type { TupleKey, TupleRow } from "../check/ports.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { decodeToken, encodeToken } from "./continuation.ts"
import type { PreparedStatement, Queryable } from "./database.ts"

/** All parts are optional; `object` may be a whole type (`document:`). */
export interface TupleFilter {
  readonly object?: string | undefined
  readonly relation?: string | undefined
  readonly user?: string | undefined
}

/** A tuple and its time of writing. */
export interface StoredTuple {
  readonly key: TupleKey
  readonly writtenAt: Date
}

/** One page, and the token of the next. */
export interface TuplePage {
  readonly tuples: readonly StoredTuple[]
  /** Empty on the last page. */
  readonly token: string
}

type Row = [writtenAt: Date, ...tuple: TupleRow]

const tokenKind = "tuples-1"

/** The columns of a `TupleRow`, in the tuples table and in the feed. */
export const tupleColumns = "object, relation, subject, subject_relation, condition, context"

/**
 * One page of a store's tuples in order of object, relation, user. Each page is read at its own revision. The position is a key, so writes
 * between two pages cause no gaps and no duplicates. Returns undefined when the token is not valid.
 */
export async function readTuples(
  database: Queryable,
  storeId: string,
  filter: TupleFilter,
  { pageSize, token }: { pageSize: number; token: string },
): Promise<TuplePage | undefined> {
  const position = token === "" ? undefined : decodeToken(tokenKind, token, 4)
  if (token !== "" && position === undefined) return undefined
  const { statement, parameters } = select(filter, position)
  const rows = await database.query<Row>(statement, [storeId, pageSize + 1, ...parameters])
  const page = rows.slice(0, pageSize)
  const last = page.at(-1)
  const more = rows.length > pageSize && last !== undefined
  return {
    tuples: page.map(([writtenAt, ...tuple]) => ({ key: tupleOfRow(tuple), writtenAt })),
    // The condition is not part of the key.
    token: more ? encodeToken(tokenKind, last.slice(1, 5) as string[]) : "",
  }
}

function select(
  { object, relation, user }: TupleFilter,
  position: readonly string[] | undefined,
): { statement: PreparedStatement; parameters: readonly string[] } {
  const parameters: string[] = []
  const where = ["store_id = $1"]
  const shape: string[] = []
  const add = (part: string, ...values: string[]) => {
    shape.push(part)
    return values.map((value) => `$${parameters.push(value) + 2}`)
  }
  if (object?.endsWith(":")) {
    // `;` is the character after `:` and names are compared byte by byte, so this range contains exactly the prefix.
    const [from, to] = add("type", object, `${object.slice(0, -1)};`)
    where.push(`object >= ${from} and object < ${to}`)
  } else if (object !== undefined) where.push(`object = ${add("object", object)[0]}`)
  if (relation !== undefined) where.push(`relation = ${add("relation", relation)[0]}`)
  if (user !== undefined) {
    const [subject = "", subjectRelation = ""] = user.split("#", 2)
    const [a, b] = add("user", subject, subjectRelation)
    where.push(`subject = ${a} and subject_relation = ${b}`)
  }
  if (position !== undefined) {
    const after = add("after", ...position)
    where.push(`(object, relation, subject, subject_relation) > (${after.join(", ")})`)
  }
  const text = `select written_at, ${tupleColumns}
    from sallyport.tuples where ${where.join(" and ")}
    order by object, relation, subject, subject_relation limit $2`
  return { statement: { name: `read-tuples-${shape.join("-")}`, text }, parameters }
}

/** The row of a tuple. An empty context is stored as no context. */
export function rowOfTuple(key: TupleKey): TupleRow {
  const hash = key.user.indexOf("#")
  const subject = hash < 0 ? key.user : key.user.slice(0, hash)
  const subjectRelation = hash < 0 ? "" : key.user.slice(hash + 1)
  const context = key.condition?.context
  const hasContext = context !== undefined && Object.keys(context).length > 0
  return [
    key.object,
    key.relation,
    subject,
    subjectRelation,
    key.condition?.name ?? "",
    hasContext ? canonicalJson(context) : "",
  ]
}

/** The tuple of a row. */
export function tupleOfRow([
  object,
  relation,
  subject,
  subjectRelation,
  condition,
  context,
]: TupleRow): TupleKey {
  const user = subjectRelation === "" ? subject : `${subject}#${subjectRelation}`
  if (condition === "") return { user, relation, object }
  const values = context === "" ? {} : (JSON.parse(context) as Record<string, unknown>)
  return { user, relation, object, condition: { name: condition, context: values } }
}
