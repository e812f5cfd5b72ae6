import type { Commit, TupleChange, TupleRow } from "../check/ports.ts"
import type { Database, PreparedStatement, SqlRow } from "./database.ts"
import { newStamp } from "./ids.ts"
import { stampOfStore } from "./read-commits.ts"

/** The rows of one request; a key must not occur twice. */
export interface WriteRequest {
  readonly writes: readonly TupleRow[]
  readonly deletes: readonly TupleRow[]
  /** `ignore`: writing a tuple that exists with the same condition is not an error. */
  readonly onDuplicate: "error" | "ignore"
  /** `ignore`: deleting a missing tuple is not an error. */
  readonly onMissing: "error" | "ignore"
}

/** `changes` contains the changes of this request. `at` is the store's newest commit after them (the previous one when nothing changed). */
export interface WriteResult {
  readonly at: Commit
  readonly changes: readonly TupleChange[]
}

/** Why a request was not carried out; `row` is the first conflicting row. */
export interface WriteConflict {
  readonly conflict: "exists" | "missing" | "other-condition"
  readonly row: TupleRow
}

/** The results of a group, in the order of its requests. Undefined: there is no such store. */
export interface GroupResult {
  readonly results: readonly (WriteResult | WriteConflict)[]
  /** All changes of the group, in one commit; empty when nothing changed. */
  readonly changes: readonly TupleChange[]
  /** The store's revision before and after it. */
  readonly before: number
  readonly after: number
}

/** Locks the store's row until the end of the transaction, so that the next statement sees a state that no other writer can change. */
export const lockStore: PreparedStatement = {
  name: "write-lock-store",
  text: "select revision from sallyport.stores where id = $1 and deleted_at is null for update",
}

/**
 * Carries out all requests of a group in one statement, except the removal of deleted tuples. A request with a conflicting row is left out
 * whole; the others are carried out. Lateral, so that the planner looks each key up and never reads the whole table, whatever its
 * statistics are. Returns the stamp of the previous commit (ordinal -1), the new revision (ordinal 0), and each row in conflict: a write of
 * an existing tuple or a deletion of a missing one.
 */
const writeGroup: PreparedStatement = {
  name: "write-group",
  text: `
with input as (
  select i.* from unnest($2::integer[], $3::boolean[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
    with ordinality as i(request, deleted, strict, object, relation, subject, subject_relation, condition, context, ordinal)
), probed as (
  select i.*, t.condition is not null as present, t.condition <> i.condition or t.context <> i.context as differs
  from input i left join lateral (
    select t.condition, t.context from sallyport.tuples t
    where t.store_id = $1 and t.object = i.object and t.relation = i.relation
      and t.subject = i.subject and t.subject_relation = i.subject_relation limit 1) t on true
), refused as (
  select distinct request from probed
  where case when deleted then strict and not present else present and (strict or differs) end
), effective as (
  select * from probed p where p.deleted = p.present and p.request not in (select request from refused)
), raised as (
  update sallyport.stores set revision = revision + 1
  where id = $1 and deleted_at is null and exists (select 1 from effective) returning revision
), written as (
  insert into sallyport.tuples (store_id, object, relation, subject, subject_relation, condition, context, revision)
  select $1, e.object, e.relation, e.subject, e.subject_relation, e.condition, e.context, r.revision
  from effective e, raised r where not e.deleted
), logged as (
  insert into sallyport.changes (store_id, revision, stamp, ordinal, deleted, object, relation, subject, subject_relation, condition, context)
  select $1, r.revision, $11, e.ordinal, e.deleted, e.object, e.relation, e.subject, e.subject_relation, e.condition, e.context
  from effective e, raised r
)
select -1, null, false, ${stampOfStore} from sallyport.stores s where s.id = $1
union all
select 0, revision, false, '' from raised
union all
select ordinal, null, differs, '' from probed where deleted <> present`,
}

/**
 * Removes the tuples that the new revision deletes. Without a new revision it repeats the previous one, which is harmless. It is a
 * statement of its own, because CockroachDB allows one change of a table per statement.
 */
const removeDeleted: PreparedStatement = {
  name: "write-remove",
  text: `
delete from sallyport.tuples t using sallyport.changes c
where c.store_id = $1 and c.deleted and c.revision = (select revision from sallyport.stores where id = $1)
  and t.store_id = $1 and t.object = c.object and t.relation = c.relation
  and t.subject = c.subject and t.subject_relation = c.subject_relation`,
}

type WriteRow = [ordinal: number, revision: number | null, differs: boolean | null, stamp: string]

/** Columns of the statement's input; the first three are request, deleted, strict. */
type Columns = [number[], boolean[], boolean[], string[], string[], string[], string[], string[], string[]]

/** Carries out requests with disjoint keys, as one transaction and one revision. */
export async function writeTupleGroup(
  database: Database,
  storeId: string,
  requests: readonly WriteRequest[],
): Promise<GroupResult | undefined> {
  const columns = columnsOf(requests)
  const deletes = requests.some((request) => request.deletes.length > 0)
  const stamp = newStamp()
  const [locked, written] = (await database.batch([
    [lockStore, [storeId]],
    [writeGroup, [storeId, ...columns, stamp]],
    ...(deletes ? [[removeDeleted, [storeId]] as const] : []),
  ])) as readonly [readonly SqlRow[], readonly SqlRow[]]
  const revision = locked[0]?.[0] as number | undefined
  if (revision === undefined) return undefined
  return resultOf(requests, revision, { stamp, rows: written as readonly WriteRow[] })
}

/** Deletions come before writes; the ordinal is the row's number, from 1. */
function columnsOf(requests: readonly WriteRequest[]): Columns {
  const columns: Columns = [[], [], [], [], [], [], [], [], []]
  const add = (request: number, deleted: boolean, strict: boolean, row: TupleRow) => {
    columns[0].push(request)
    columns[1].push(deleted)
    columns[2].push(strict)
    columns[3].push(row[0])
    columns[4].push(row[1])
    columns[5].push(row[2])
    columns[6].push(row[3])
    columns[7].push(deleted ? "" : row[4])
    columns[8].push(deleted ? "" : row[5])
  }
  requests.forEach((request, index) => {
    for (const row of request.deletes) add(index, true, request.onMissing === "error", row)
    for (const row of request.writes) add(index, false, request.onDuplicate === "error", row)
  })
  return columns
}

function resultOf(
  requests: readonly WriteRequest[],
  before: number,
  { stamp, rows }: { readonly stamp: string; readonly rows: readonly WriteRow[] },
): GroupResult {
  const unfit = new Map(rows.map(([ordinal, , differs]) => [ordinal, differs === true]))
  const previous = { revision: before, stamp: rows.find(([ordinal]) => ordinal === -1)?.[3] ?? "" }
  const revision = rows.find(([ordinal]) => ordinal === 0)?.[1] ?? undefined
  const at = revision === undefined ? previous : { revision, stamp }
  const changed = { ...at, previous: previous.stamp }
  const changes: TupleChange[] = []
  let ordinal = 0
  const results = requests.map((request): WriteResult | WriteConflict => {
    const own: TupleChange[] = []
    let conflict: WriteConflict | undefined
    for (const row of request.deletes) {
      ordinal += 1
      if (!unfit.has(ordinal)) own.push({ ...changed, operation: "delete", row })
      else if (request.onMissing === "error") conflict ??= { conflict: "missing", row }
    }
    for (const row of request.writes) {
      ordinal += 1
      const differs = unfit.get(ordinal)
      if (differs === undefined) own.push({ ...changed, operation: "write", row })
      else if (request.onDuplicate === "error") conflict ??= { conflict: "exists", row }
      else if (differs) conflict ??= { conflict: "other-condition", row }
    }
    if (conflict !== undefined) return conflict
    changes.push(...own)
    return { at, changes: own }
  })
  return { results, changes, before, after: at.revision }
}

/** The identity of a tuple within its store. No part can contain a space. */
export function tupleIdentity([object, relation, subject, subjectRelation]: TupleRow): string {
  return `${object} ${relation} ${subject} ${subjectRelation}`
}
