import type { Commit, TupleChange, TupleRow } from "../check/ports.ts"
import type { Companions } from "../check/tuple-moves.ts"
import type { Database, PreparedStatement, Queryable, SqlRow } from "./database.ts"
import { newStamp } from "./ids.ts"
import { type KnownMoves, knownMoves } from "./known-moves.ts"
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

/** A request with what moves of the store add to it, which is no error when it exists, or is missing. */
interface FullRequest extends WriteRequest {
  readonly added?: AddedRows | undefined
}

interface AddedRows {
  readonly writes: readonly TupleRow[]
  readonly deletes: readonly TupleRow[]
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
  text: "select revision, moves from sallyport.stores where id = $1 and deleted_at is null for update",
}
/** The row of `lockStore`. */
export type LockedRow = readonly [revision: number, moves: string]

/**
 * Carries out all requests of a group in one statement, except the removal of deleted tuples. A request with a conflicting row is left out
 * whole; the others are carried out. Lateral, so that the planner looks each key up and never reads the whole table, whatever its
 * statistics are. Returns the stamp of the previous commit (ordinal -1), the new revision (ordinal 0), and each row in conflict: a write of
 * an existing tuple or a deletion of a missing one. Writes nothing when the store has other moves than `$12`.
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
  where id = $1 and deleted_at is null and moves = $12 and exists (select 1 from effective) returning revision
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

/** `apart`: the store has moves, so its requests have to be written one by one. */
export type GroupOutcome = GroupResult | "apart" | undefined

/** Carries out requests with disjoint keys, as one transaction and one revision. */
export async function writeTupleGroup(
  database: Database,
  storeId: string,
  requests: readonly WriteRequest[],
): Promise<GroupOutcome> {
  const known = knownMoves(database)
  if (known.has(storeId))
    return requests.length > 1 ? "apart" : writeMoved(database, storeId, requests, known)
  const deletes = requests.some((request) => request.deletes.length > 0)
  const stamp = newStamp()
  const [locked, written] = (await database.batch([
    [lockStore, [storeId]],
    [writeGroup, [storeId, ...columnsOf(requests), stamp, ""]],
    ...(deletes ? [[removeDeleted, [storeId]] as const] : []),
  ])) as unknown as readonly [readonly LockedRow[], readonly WriteRow[]]
  const [store] = locked
  if (store === undefined) return undefined
  const [revision, moves] = store
  known.learn(storeId, moves)
  // The store has moves that this process did not know of; nothing was written.
  if (moves !== "") return writeTupleGroup(database, storeId, requests)
  return resultOf(requests, revision, { stamp, rows: written })
}

/** The same for a store with moves: what they add depends on tuples that exist, so the store is locked first. */
async function writeMoved(
  database: Database,
  storeId: string,
  requests: readonly WriteRequest[],
  known: KnownMoves,
): Promise<GroupOutcome> {
  return database.transaction(async (transaction) => {
    const [store] = await transaction.query<LockedRow>(lockStore, [storeId])
    if (store === undefined) return undefined
    known.learn(storeId, store[1])
    const moves = known.of(storeId)
    const full: FullRequest[] = []
    for (const request of requests) {
      const companions = moves?.companions(request.writes, request.deletes)
      const added = companions && (await withoutOthers(transaction, storeId, companions))
      full.push({ ...request, added })
    }
    return writeLocked(transaction, storeId, store, full)
  })
}

/** Leaves out the deletions of tuples that another tuple has as its image. */
async function withoutOthers(
  transaction: Queryable,
  storeId: string,
  { writes, deletes }: Companions,
): Promise<AddedRows> {
  const others = deletes.flatMap(({ unless }) => unless)
  const found = new Set((await existing(transaction, storeId, others)).map(tupleIdentity))
  return {
    writes,
    deletes: deletes
      .filter(({ unless }) => !unless.some((row) => found.has(tupleIdentity(row))))
      .map(({ row }) => row),
  }
}

const selectExisting: PreparedStatement = {
  name: "write-existing",
  text: `
select t.object, t.relation, t.subject, t.subject_relation, t.condition, t.context
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as i(object, relation, subject, subject_relation)
cross join lateral (
  select * from sallyport.tuples t where t.store_id = $1 and t.object = i.object and t.relation = i.relation
    and t.subject = i.subject and t.subject_relation = i.subject_relation limit 1) t`,
}

/** Those of the tuples that are stored. */
export async function existing(
  transaction: Queryable,
  storeId: string,
  rows: readonly TupleRow[],
): Promise<readonly TupleRow[]> {
  if (rows.length === 0) return []
  const columns = [0, 1, 2, 3].map((column) => rows.map((row) => row[column]))
  return transaction.query<TupleRow & SqlRow>(selectExisting, [storeId, ...columns])
}

/** Writes in a transaction that has locked the store. */
export async function writeLocked(
  transaction: Queryable,
  storeId: string,
  [revision, moves]: LockedRow,
  requests: readonly FullRequest[],
): Promise<GroupResult> {
  const stamp = newStamp()
  const rows = await transaction.query<WriteRow>(writeGroup, [storeId, ...columnsOf(requests), stamp, moves])
  if (requests.some(({ deletes, added }) => deletes.length + (added?.deletes.length ?? 0) > 0))
    await transaction.query(removeDeleted, [storeId])
  return resultOf(requests, revision, { stamp, rows })
}

/** Deletions come before writes; the ordinal is the row's number, from 1. */
function columnsOf(requests: readonly FullRequest[]): Columns {
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
    for (const row of request.added?.deletes ?? []) add(index, true, false, row)
    for (const row of request.added?.writes ?? []) add(index, false, false, row)
  })
  return columns
}

function resultOf(
  requests: readonly FullRequest[],
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
    const take = (row: TupleRow, operation: "write" | "delete", strict: boolean) => {
      ordinal += 1
      const differs = unfit.get(ordinal)
      if (differs === undefined) own.push({ ...changed, operation, row })
      else if (strict) conflict ??= { conflict: operation === "write" ? "exists" : "missing", row }
      else if (differs && operation === "write") conflict ??= { conflict: "other-condition", row }
    }
    for (const row of request.deletes) take(row, "delete", request.onMissing === "error")
    for (const row of request.writes) take(row, "write", request.onDuplicate === "error")
    for (const row of request.added?.deletes ?? []) take(row, "delete", false)
    for (const row of request.added?.writes ?? []) take(row, "write", false)
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
