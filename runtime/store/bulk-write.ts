import type { Commit, TupleChange, TupleRow } from "../check/ports.ts"
import {
  type Database,
  isSqlError,
  type PreparedStatement,
  type SqlRow,
  type Transaction,
  uniqueViolation,
} from "./database.ts"
import { newStamp } from "./ids.ts"
import { stampOfStore } from "./read-commits.ts"
import { tupleColumns } from "./read-tuples.ts"
import { lockStore, tupleIdentity, type WriteConflict } from "./write-tuples.ts"

/** `changes` contains the tuples that did not exist; `at` is the store's newest commit after them. */
export interface BulkResult {
  readonly at: Commit
  readonly changes: readonly TupleChange[]
}

/**
 * The tuples given by `$2` to `$7`, a list per column. The server reads the texts of lists at a sixteenth of the time of a tuple for each
 * column, so `columnsOf` leaves out a column that is empty in all tuples; `unnest` then gives null.
 */
const given = `(
  select ordinal, object, relation, subject, coalesce(subject_relation, '') as subject_relation,
    coalesce(condition, '') as condition, coalesce(context, '') as context
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    with ordinality as lists(${tupleColumns}, ordinal)) i`

/**
 * Sorted, so that two of them with the same keys wait for each other and not both. Their column `revision` is only the least that the
 * commit can get, because the store's row is not locked yet; nothing reads it.
 */
const insertInto = `
insert into sallyport.tuples (store_id, ${tupleColumns}, revision)
select $1, ${tupleColumns}, s.revision + 1 from sallyport.stores s, ${given}
where s.id = $1 and s.deleted_at is null order by i.object, i.relation, i.subject, i.subject_relation`

/** Fails when one of the tuples exists. Looking for each one first, as `insertMissing` does, takes a third longer. */
const insertNew: PreparedStatement = { name: "bulk-insert-new", text: insertInto }

/** Returns how many did not exist, and when some did, the keys of those that did not. */
const insertMissing: PreparedStatement = {
  name: "bulk-insert-missing",
  text: `
with written as (${insertInto} on conflict do nothing returning object, relation, subject, subject_relation)
select (select count(*) from written), w.* from (select 1) one
left join written w on (select count(*) from written) < cardinality($2::text[])`,
}
type MissingRow = readonly [count: number, ...key: [string, string, string, string]]

const findDifferent: PreparedStatement = {
  name: "bulk-different",
  text: `
select i.ordinal from ${given}
cross join lateral (select t.condition, t.context from sallyport.tuples t
  where t.store_id = $1 and t.object = i.object and t.relation = i.relation
    and t.subject = i.subject and t.subject_relation = i.subject_relation limit 1) t
where t.condition <> i.condition or t.context <> i.context order by i.ordinal limit 1`,
}

/**
 * Logs the inserted tuples and raises the revision, under the lock of the store's row. When the store was deleted since they were inserted,
 * or has moves, it fails, so that the transaction is rolled back. Returns the new revision (null: no tuple), the previous one and its stamp.
 */
const logInserted: PreparedStatement = {
  name: "bulk-log",
  text: `
with logged as (
  insert into sallyport.changes (store_id, revision, stamp, ordinal, deleted, ${tupleColumns})
  select $1, case when s.deleted_at is null and s.moves = '' then s.revision + 1 end, $8, i.ordinal, false,
    i.object, i.relation, i.subject, i.subject_relation, i.condition, i.context
  from sallyport.stores s, ${given} where s.id = $1
), raised as (
  update sallyport.stores set revision = revision + 1 where id = $1 and cardinality($2::text[]) > 0 returning revision
)
select (select revision from raised), s.revision, ${stampOfStore} from sallyport.stores s where s.id = $1`,
}
type LoggedRow = readonly [revision: number | null, before: number, stamp: string]

const notNullViolation = "23502"

/** Ends the transaction with a conflict. */
class Refused extends Error {
  readonly conflict: WriteConflict

  constructor(conflict: WriteConflict) {
    super(conflict.conflict)
    this.conflict = conflict
  }
}

/**
 * Writes the tuples that do not exist, in one commit; `rows` has no key twice. A tuple that exists with another condition is a conflict, and
 * then nothing is written. `expectNew`: probably none of them exists. Undefined: there is no such store, or it has moves.
 */
export async function bulkWrite(
  database: Database,
  storeId: string,
  rows: readonly TupleRow[],
  expectNew = false,
): Promise<BulkResult | WriteConflict | undefined> {
  const columns = columnsOf(rows)
  const stamp = newStamp()
  let attempts = 0
  try {
    return await database.transaction(async (transaction) => {
      attempts += 1
      // The server ended the first attempt, because another writer had the lock and waited for one of our keys. That cannot happen again
      // when the lock is taken first.
      if (attempts > 1) await transaction.query(lockStore, [storeId])
      const fresh = expectNew
        ? await insertAll(transaction, storeId, rows, columns)
        : await insertSome(transaction, storeId, rows, columns)
      const [locked, logged] = (await transaction.commitWith([
        [lockStore, [storeId]],
        [logInserted, [storeId, ...(fresh === rows ? columns : columnsOf(fresh)), stamp]],
      ])) as readonly [readonly SqlRow[], readonly LoggedRow[]]
      const [first] = logged
      return locked.length === 0 || first === undefined ? undefined : resultOf(fresh, stamp, first)
    })
  } catch (error) {
    if (error instanceof Refused) return error.conflict
    if (isSqlError(error, notNullViolation)) return undefined
    if (expectNew && isSqlError(error, uniqueViolation)) return bulkWrite(database, storeId, rows)
    throw error
  }
}

async function insertAll(
  transaction: Transaction,
  storeId: string,
  rows: readonly TupleRow[],
  columns: readonly string[],
): Promise<readonly TupleRow[]> {
  await transaction.query(insertNew, [storeId, ...columns])
  return rows
}

/** Inserts the tuples that do not exist, and returns them in the order of `rows`. Takes the lock when there are others. */
async function insertSome(
  transaction: Transaction,
  storeId: string,
  rows: readonly TupleRow[],
  columns: readonly string[],
): Promise<readonly TupleRow[]> {
  const inserted = await insertedOf(transaction, storeId, columns)
  if (inserted === undefined) return rows
  const existed = rows.filter((row) => !inserted.has(tupleIdentity(row)))
  const columnsOfExisted = columnsOf(existed)
  await transaction.query(lockStore, [storeId])
  // The last holder of the lock may have deleted some of them.
  const again = await insertedOf(transaction, storeId, columnsOfExisted)
  if (again === undefined) return rows
  const [different] = await transaction.query<[number]>(findDifferent, [storeId, ...columnsOfExisted])
  const row = different === undefined ? undefined : existed[different[0] - 1]
  if (row !== undefined) throw new Refused({ conflict: "other-condition", row })
  return rows.filter((each) => inserted.has(tupleIdentity(each)) || again.has(tupleIdentity(each)))
}

/** Identities of the tuples that were inserted; undefined: all. */
async function insertedOf(
  transaction: Transaction,
  storeId: string,
  columns: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const found = await transaction.query<MissingRow>(insertMissing, [storeId, ...columns])
  const [count, object] = found[0] ?? [0]
  // One row without a key: all of them, or none.
  if (object === null || object === undefined) return count === 0 ? new Set() : undefined
  return new Set(found.map(([, ...key]) => tupleIdentity([...key, "", ""])))
}

function resultOf(
  fresh: readonly TupleRow[],
  stamp: string,
  [revision, before, previous]: LoggedRow,
): BulkResult {
  if (revision === null) return { at: { revision: before, stamp: previous }, changes: [] }
  // One literal each: spreading another object takes three times as long.
  const changes = fresh.map((row): TupleChange => ({ revision, stamp, previous, operation: "write", row }))
  return { at: { revision, stamp }, changes }
}

/**
 * A list per column, as PostgreSQL's text of an array: node-postgres takes four times as long to write one. A column that is empty in all
 * rows is an empty list.
 */
function columnsOf(rows: readonly TupleRow[]): readonly string[] {
  return Array.from({ length: 6 }, (_, column) => {
    if (rows.every((row) => row[column] === "")) return "{}"
    const values = rows.map((row) => row[column] as string)
    const isPlain = !/["\\]/.test(values.join(""))
    const texts = isPlain ? values : values.map((value) => value.replace(/["\\]/g, "\\$&"))
    return `{"${texts.join('","')}"}`
  })
}
