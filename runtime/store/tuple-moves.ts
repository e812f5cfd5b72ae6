import { SourceUnavailable, type TupleRow } from "../check/ports.ts"
import { concerns, isMoved, originsOf } from "../check/tuple-moves.ts"
import type { TupleMove } from "../plan/authz.ts"
import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { change, keepInStep, type MoveState, moveOf, rowKey } from "./declared-moves.ts"
import { movesOf } from "./known-moves.ts"
import { noticesOf } from "./notices.ts"
import {
  existing,
  type LockedRow,
  lockStore,
  tupleIdentity,
  type WriteRequest,
  writeLocked,
} from "./write-tuples.ts"

/** Tuples that one transaction examines at most: it has the store's row, for which writers wait. */
const batchRowsDefault = 1_000
/** Tuples of one transaction that the move concerns: a write costs many times as much as a look at a tuple that stays. */
const concernedRowsMax = 200
const leaseSeconds = 15
/** Until a failed batch is tried again. */
const retrySeconds = 30

/** A move of a store, for operators. */
export interface MoveRecord {
  /** The name of the store in the plan. */
  readonly store: string
  readonly from: string
  readonly to: string
  readonly users: string[] | null
  readonly state: MoveState
  /** Tuples examined in this state, and those that were written or deleted. */
  readonly examined: number
  readonly changed: number
  /** Why the last attempt failed; null: it did not. */
  readonly failure: string | null
  readonly startedAt: string
  readonly updatedAt: string
}

type ListedRow = [
  ...move: [string, string, string],
  state: MoveState,
  store: string,
  examined: number,
  changed: number,
  failure: string,
  startedAt: Date,
  updatedAt: Date,
]

const list: PreparedStatement = {
  name: "moves-list",
  text: `select m.source, m.target, m.users, m.state, coalesce(s.declared_name, s.name), m.examined, m.changed, m.failure, m.started_at, m.updated_at
    from sallyport.tuple_moves m join sallyport.stores s on s.id = m.store_id where s.deleted_at is null
    order by 5, m.source, m.target, m.users`,
}
/** Only one process works on a move; when it has ended, another one continues once the lease is over. */
const take: PreparedStatement = {
  name: "moves-take",
  text: `
update sallyport.tuple_moves m set owner = $1, leased_until = now() + interval '${leaseSeconds} seconds'
where (m.store_id, m.source, m.target, m.users) in (
    select w.store_id, w.source, w.target, w.users from sallyport.tuple_moves w
    where w.state in ('copying', 'finishing', 'reverting') and (w.owner = $1 or w.leased_until <= now())
    order by w.started_at, w.source, w.target, w.users limit 1)
  and (m.owner = $1 or m.leased_until <= now())
returning m.store_id, m.source, m.target, m.users`,
}
const fetchMove: PreparedStatement = {
  name: "moves-fetch",
  text: `select state, position from sallyport.tuple_moves
    where store_id = $1 and source = $2 and target = $3 and users = $4 and owner = $5 for update`,
}
const nextRows: PreparedStatement = {
  name: "moves-next-rows",
  text: `select object, relation, subject, subject_relation, condition, context from sallyport.tuples
    where store_id = $1 and (object, relation, subject, subject_relation) > ($2, $3, $4, $5)
    order by object, relation, subject, subject_relation limit $6`,
}
const advance: PreparedStatement = {
  name: "moves-advance",
  text: `update sallyport.tuple_moves set position = $5, examined = examined + $6, changed = changed + $7, failure = '', updated_at = now()
    where store_id = $1 and source = $2 and target = $3 and users = $4`,
}
const end: PreparedStatement = {
  name: "moves-end",
  text: "delete from sallyport.tuple_moves where store_id = $1 and source = $2 and target = $3 and users = $4",
}
const ready: PreparedStatement = {
  name: "moves-ready",
  text: `update sallyport.tuple_moves set state = 'ready', owner = '' where store_id = $1 and source = $2 and target = $3 and users = $4`,
}
const fail: PreparedStatement = {
  name: "moves-fail",
  text: `update sallyport.tuple_moves set failure = $5, owner = '', leased_until = now() + interval '${retrySeconds} seconds', updated_at = now()
    where store_id = $1 and source = $2 and target = $3 and users = $4`,
}
const keptOfStore: PreparedStatement = {
  name: "moves-kept-of-store",
  text: `select m.source, m.target, m.users, m.state, m.store_id from sallyport.tuple_moves m
    join sallyport.stores s on s.id = m.store_id where s.declared_name = $1 and s.deleted_at is null`,
}

/** All moves, by store. */
export async function listMoves(database: Queryable): Promise<readonly MoveRecord[]> {
  return (await database.query<ListedRow>(list)).map(
    ([from, to, users, state, store, examined, changed, failure, startedAt, updatedAt]) => ({
      ...{ store, from, to, state, examined, changed },
      users: users === "" ? null : users.split(" "),
      failure: failure === "" ? null : failure,
      startedAt: startedAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    }),
  )
}

/**
 * Lets the old tuples of a store's moves be deleted, once its model has only the new words. There is no way back then. Resolves to the number
 * of moves; `waits`: none is that far.
 */
export async function finishMoves(
  database: Database,
  store: string,
): Promise<{ readonly finishing: number; readonly waits: readonly MoveState[] }> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<[string, string, string, MoveState, string]>(keptOfStore, [store])
    const [, , , , storeId] = rows[0] ?? []
    if (storeId === undefined) return { finishing: 0, waits: [] }
    await transaction.query<LockedRow>(lockStore, [storeId])
    const kept = rows.filter(([, , , state]) => state === "kept")
    for (const row of kept) await change(transaction, storeId, moveOf(row), "finishing")
    await keepInStep(transaction, storeId)
    return { finishing: kept.length, waits: rows.map(([, , , state]) => state) }
  })
}

/**
 * Examines the next tuples of a move, in one transaction with what is written or deleted and the position. `owner` names the process. False:
 * nothing to do. It may be interrupted anywhere: the next call goes on from the last commit.
 */
export async function advanceMoves(
  database: Database,
  owner: string,
  batchRows = batchRowsDefault,
): Promise<boolean> {
  const [taken] = await database.query<[string, string, string, string]>(take, [owner])
  if (taken === undefined) return false
  const [storeId, ...columns] = taken
  const step: MoveStep = { storeId, move: moveOf(columns), owner, batchRows }
  try {
    const wrote = await database.transaction((transaction) => advanceOne(transaction, step))
    if (wrote) noticesOf(database).announce(`store ${storeId}`)
  } catch (error) {
    if (error instanceof SourceUnavailable) throw error
    const reason = error instanceof Error ? error.message : String(error)
    await database.query(fail, [storeId, ...columns, reason])
  }
  return true
}

interface MoveStep {
  readonly storeId: string
  readonly move: TupleMove
  readonly owner: string
  readonly batchRows: number
}

/** Whether tuples were written or deleted. */
async function advanceOne(transaction: Queryable, step: MoveStep): Promise<boolean> {
  const { storeId, move, owner, batchRows } = step
  const key = rowKey(move)
  const [locked] = await transaction.query<LockedRow>(lockStore, [storeId])
  const [found] = await transaction.query<[MoveState, string]>(fetchMove, [storeId, ...key, owner])
  if (found === undefined) return false
  if (locked === undefined) {
    await transaction.query(end, [storeId, ...key])
    return false
  }
  const [state, position] = found
  const after = position === "" ? ["", "", "", ""] : (JSON.parse(position) as string[])
  const read = await transaction.query<TupleRow & readonly unknown[]>(nextRows, [
    storeId,
    ...after,
    batchRows,
  ])
  const rows = batchOf(read, state === "reverting" ? isMoved : concerns, move)
  const request = await requestOf(transaction, step, state, { rows, moves: locked[1] })
  const { results, changes } = await writeLocked(transaction, storeId, locked, [request])
  const [result] = results
  if (result !== undefined && "conflict" in result)
    throw new Error(
      `\`${tupleText(result.row)}\` exists with another condition than the tuple that is copied to it: delete one of the two`,
    )
  const last = rows.at(-1)?.slice(0, 4)
  await transaction.query(advance, [
    ...[storeId, ...key],
    ...[last === undefined ? position : JSON.stringify(last), rows.length, changes.length],
  ])
  if (read.length < batchRows && rows.length === read.length)
    await transaction.query(state === "copying" ? ready : end, [storeId, ...key])
  return changes.length > 0
}

/** The first tuples, up to as many as one transaction writes. */
function batchOf<Row extends TupleRow>(
  rows: readonly Row[],
  isWritten: (row: TupleRow, move: TupleMove) => boolean,
  move: TupleMove,
): readonly Row[] {
  let written = 0
  const end = rows.findIndex((row) => isWritten(row, move) && ++written > concernedRowsMax)
  return end < 0 ? rows : rows.slice(0, end)
}

/** What a state of a move writes and deletes for some tuples. */
async function requestOf(
  transaction: Queryable,
  { storeId, move }: MoveStep,
  state: MoveState,
  { rows, moves }: { readonly rows: readonly TupleRow[]; readonly moves: string },
): Promise<WriteRequest> {
  const none = { writes: [], deletes: [], onDuplicate: "ignore", onMissing: "ignore" } as const
  if (state === "finishing") return { ...none, deletes: rows.filter((row) => concerns(row, move)) }
  if (state === "reverting") {
    const moved = rows.filter((row) => isMoved(row, move)).map((row) => ({ row, from: originsOf(row, move) }))
    const origins = moved.flatMap(({ from }) => from)
    const stored = new Set((await existing(transaction, storeId, origins)).map(tupleIdentity))
    // A tuple that was written with the new word alone is nobody's copy, and stays.
    const copies = moved.filter(({ from }) => from.some((row) => stored.has(tupleIdentity(row))))
    return { ...none, deletes: copies.map(({ row }) => row) }
  }
  const all = movesOf(moves)
  const images = new Map<string, TupleRow>()
  for (const row of rows)
    if (concerns(row, move))
      for (const image of all.images(row)) {
        const known = images.get(tupleIdentity(image))
        if (known !== undefined && (known[4] !== image[4] || known[5] !== image[5]))
          throw new Error(
            `two tuples with different conditions would be copied to \`${tupleText(image)}\`: delete one of the two`,
          )
        images.set(tupleIdentity(image), image)
      }
  return { ...none, writes: [...images.values()] }
}

function tupleText([object, relation, subject, subjectRelation]: TupleRow): string {
  return `${subject}${subjectRelation === "" ? "" : `#${subjectRelation}`} ${relation} ${object}`
}
