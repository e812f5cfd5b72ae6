import type { TupleKey, TupleRow } from "../check/ports.ts"
import type { PreparedStatement, Queryable } from "./database.ts"
import { tupleColumns, tupleOfRow } from "./read-tuples.ts"

/** A place in a store's change feed: directly after that change. */
export interface ChangePosition {
  readonly revision: number
  readonly ordinal: number
}

/** The place before the first change. */
export const feedStart: ChangePosition = { revision: 0, ordinal: 0 }

/** A change in the log. A deletion has no condition. */
export interface LoggedChange {
  readonly operation: "write" | "delete"
  readonly key: TupleKey
  readonly changedAt: Date
}

/** Selects changes. */
export interface ChangeFilter {
  /** Only changes of objects of this type. */
  readonly type?: string | undefined
  /** Only changes at or after this time. */
  readonly since?: Date | undefined
  /** Only changes at least this old, and none after a younger one. */
  readonly horizonMs: number
}

/** Changes in order of commit, and the place to continue from. `more`: the feed has more to search. */
export interface ChangePage {
  readonly changes: readonly LoggedChange[]
  readonly position: ChangePosition
  readonly more: boolean
}

/** Rows that one statement searches. */
const windowRows = 10_000

/**
 * The next changes of a window of the feed that pass the filter, then one row (`matched` false) with the last change of the window and its
 * row count. It is one statement, so that no commit comes between the two.
 */
const selectWindow: PreparedStatement = {
  name: "changes-window",
  text: `
with feed as (
  select * from sallyport.changes where store_id = $1 and (revision, ordinal) > ($2, $3) order by revision, ordinal limit $4
), fitting as (
  select *, ($7::double precision > 0 and changed_at > now() - $7 * interval '1 millisecond') as young from feed
  where ($5 = '' or (object >= $5 and object < $6)) and ($8::timestamptz is null or changed_at >= $8)
  order by revision, ordinal limit $9
)
select true as matched, revision, ordinal, deleted, changed_at, young, ${tupleColumns} from fitting
union all
select false, last.revision, last.ordinal, false, now(),
  ($7 > 0 and exists (select 1 from feed where changed_at > now() - $7 * interval '1 millisecond')), '', '', '', '', '', '' from
  (select revision, ordinal from feed order by revision desc, ordinal desc limit 1) last
where (select count(*) from feed) = $4
order by 1 desc, 2, 3`,
}

type Row = [
  matched: boolean,
  revision: number,
  ordinal: number,
  deleted: boolean,
  changedAt: Date,
  young: boolean,
  ...tuple: TupleRow,
]

/**
 * One page of a store's change feed after `after`. It searches one window only: when few changes pass the filter, the page may be short or
 * empty while `more` is true.
 */
export async function readChanges(
  database: Queryable,
  storeId: string,
  { type, since, horizonMs }: ChangeFilter,
  { after, pageSize }: { readonly after: ChangePosition; readonly pageSize: number },
): Promise<ChangePage> {
  const filtered = type !== undefined || since !== undefined
  const window = filtered ? windowRows : pageSize + 1
  // `;` is the character after `:` and names are compared byte by byte, so this range contains exactly the type.
  const range = type === undefined ? ["", ""] : [`${type}:`, `${type};`]
  const parameters = [storeId, after.revision, after.ordinal, window, ...range, horizonMs, since ?? null]
  const rows = await database.query<Row>(selectWindow, [...parameters, pageSize])
  const changes: LoggedChange[] = []
  let position = after
  for (const [matched, revision, ordinal, deleted, changedAt, young, ...tuple] of rows) {
    if (young) return { changes, position, more: false }
    if (!matched) {
      // The window was searched to its end, unless the page filled up first.
      if (filtered && changes.length < pageSize) position = { revision, ordinal }
      return { changes, position, more: true }
    }
    const key = tupleOfRow(tuple)
    changes.push({ operation: deleted ? "delete" : "write", key, changedAt })
    position = { revision, ordinal }
  }
  return { changes, position, more: false }
}

const selectPruned: PreparedStatement = {
  name: "changes-pruned",
  text: "select revision, pruned_revision, pruned_before from sallyport.stores where id = $1",
}

/** How far a store's feed was pruned: changes up to `revision` may be missing, all from before `before`. Null: it is complete. */
export interface PrunedFeed {
  readonly newest: number
  readonly revision: number
  readonly before: Date | null
}

/** The feed's newest revision, and how far it was pruned. */
export async function prunedFeed(database: Queryable, storeId: string): Promise<PrunedFeed> {
  type Row = [newest: number, revision: number, before: Date | null]
  const [row] = await database.query<Row>(selectPruned, [storeId])
  const [newest, revision, before] = row ?? [0, 0, null]
  return { newest, revision, before }
}

const selectTime: PreparedStatement = {
  name: "changes-time",
  text: "select max(changed_at) from sallyport.changes where store_id = $1 and revision = $2",
}

/**
 * A change carries the start time of its transaction. A transaction waits less than this for another one, so a change of a later revision
 * is at most this much older than an earlier one.
 */
const disorderMs = 60_000

/** A place in the feed shortly before the first change since a time. Binary search works because times grow with revisions. */
export async function positionBefore(
  database: Queryable,
  storeId: string,
  since: Date,
): Promise<ChangePosition> {
  const feed = await prunedFeed(database, storeId)
  const limit = new Date(since.getTime() - disorderMs)
  // Pruned revisions have no time.
  let before = feed.revision
  let end = feed.newest
  while (before < end) {
    const middle = Math.ceil((before + end) / 2)
    const [time] = await database.query<[Date | null]>(selectTime, [storeId, middle])
    if (time?.[0] !== undefined && time[0] !== null && time[0] < limit) before = middle
    else end = middle - 1
  }
  // After the whole of that revision: the ordinal is the largest integer.
  return before === 0 ? feedStart : { revision: before, ordinal: 2 ** 31 - 1 }
}
