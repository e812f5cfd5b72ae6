import type { Commit, TupleChange, TupleRow } from "../check/ports.ts"
import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { newStamp } from "./ids.ts"
import { tupleColumns } from "./read-tuples.ts"
import { stampOfStore } from "./tuple-source.ts"
import { lockStore, type WriteConflict } from "./write-tuples.ts"

/** `changes` contains the tuples that did not exist; `at` is the store's newest commit after them. */
export interface BulkResult {
  readonly at: Commit
  readonly changes: readonly TupleChange[]
}

const columns = "$2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]"

/**
 * Inserts without looking first, which costs one lookup per tuple less than `write-group`. Returns the new revision (null: every tuple
 * existed), the number of inserted tuples, the previous revision and its stamp.
 */
const insert: PreparedStatement = {
  name: "bulk-insert",
  text: `
with written as (
  insert into sallyport.tuples (store_id, ${tupleColumns}, revision)
  select $1, i.*, s.revision + 1 from sallyport.stores s, unnest(${columns}) as i where s.id = $1
  on conflict do nothing returning ${tupleColumns}
), logged as (
  insert into sallyport.changes (store_id, revision, stamp, ordinal, deleted, ${tupleColumns})
  select $1, s.revision + 1, $8, row_number() over (), false, w.* from written w, sallyport.stores s where s.id = $1
), raised as (
  update sallyport.stores set revision = revision + 1 where id = $1 and exists (select 1 from written) returning revision
)
select (select revision from raised), (select count(*) from written), s.revision, ${stampOfStore} from sallyport.stores s where s.id = $1`,
}
const findDifferent: PreparedStatement = {
  name: "bulk-different",
  text: `
select i.ordinal from unnest(${columns}) with ordinality as i(object, relation, subject, subject_relation, condition, context, ordinal)
cross join lateral (select t.condition, t.context from sallyport.tuples t
  where t.store_id = $1 and t.object = i.object and t.relation = i.relation
    and t.subject = i.subject and t.subject_relation = i.subject_relation limit 1) t
where t.condition <> i.condition or t.context <> i.context order by i.ordinal limit 1`,
}
const readCommit: PreparedStatement = {
  name: "bulk-commit",
  text: `select ${tupleColumns} from sallyport.changes where store_id = $1 and revision = $2 order by ordinal`,
}

type InsertRow = [revision: number | null, count: number, before: number, stamp: string]

/** Ends the transaction with a conflict. */
class Refused extends Error {
  readonly conflict: WriteConflict

  constructor(conflict: WriteConflict) {
    super(conflict.conflict)
    this.conflict = conflict
  }
}

/**
 * Writes the tuples that do not exist, in one commit; repeated rows count once. A tuple that exists with another condition is a conflict,
 * and then nothing is written. Undefined: there is no such store.
 */
export async function bulkWrite(
  database: Database,
  storeId: string,
  rows: readonly TupleRow[],
): Promise<BulkResult | WriteConflict | undefined> {
  const tuples = Array.from({ length: 6 }, (_, column) => rows.map((row) => row[column]))
  const stamp = newStamp()
  try {
    return await database.transaction(async (transaction) => {
      const locking = transaction.query(lockStore, [storeId])
      const inserting = transaction.query<InsertRow>(insert, [storeId, ...tuples, stamp])
      inserting.catch(() => undefined)
      if ((await locking).length === 0) return undefined
      const [inserted] = await inserting
      const [revision, count, before, previous] = inserted as InsertRow
      if (count < rows.length) await refuseDifferent(transaction, storeId, rows, tuples)
      if (revision === null) return { at: { revision: before, stamp: previous }, changes: [] }
      const written =
        count === rows.length ? rows : await transaction.query<TupleRow>(readCommit, [storeId, revision])
      const commit = { revision, stamp, previous, operation: "write" } as const
      return { at: { revision, stamp }, changes: written.map((row) => ({ ...commit, row })) }
    })
  } catch (error) {
    if (error instanceof Refused) return error.conflict
    throw error
  }
}

async function refuseDifferent(
  transaction: Queryable,
  storeId: string,
  rows: readonly TupleRow[],
  tuples: readonly unknown[],
): Promise<void> {
  const [different] = await transaction.query<[number]>(findDifferent, [storeId, ...tuples])
  const row = different === undefined ? undefined : rows[different[0] - 1]
  if (row !== undefined) throw new Refused({ conflict: "other-condition", row })
}
