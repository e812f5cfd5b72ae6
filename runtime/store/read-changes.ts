import type { TupleKey, TupleRow } from "../check/ports.ts"
import type { PreparedStatement, Queryable } from "./database.ts"
import { tupleColumns, tupleOfRow } from "./read-tuples.ts"

/** A place in a store's change feed: just behind that change. */
export interface ChangePosition {
  readonly revision: number
  readonly ordinal: number
}

/** The place before the first change. */
export const feedStart: ChangePosition = { revision: 0, ordinal: 0 }

/** A change as it was logged. A deletion knows no condition. */
export interface LoggedChange {
  readonly operation: "write" | "delete"
  readonly key: TupleKey
  readonly changedAt: Date
}

/** Which changes are wanted. */
export interface ChangeFilter {
  /** Of objects of this type only. */
  readonly type?: string | undefined
  /** Not of before. */
  readonly since?: Date | undefined
  /** Not younger than this; none that follows a younger one is told either. */
  readonly horizonMs: number
}

/** Changes in order of commit, and where to go on. `more`: the search ended before the feed did. */
export interface ChangePage {
  readonly changes: readonly LoggedChange[]
  readonly position: ChangePosition
  readonly more: boolean
}

/** Changes looked at by one statement. */
const windowRows = 10_000

/**
 * The next changes of a window of the feed that pass the filter, then one row (`matched` false) for the last change of the window and how many it has. One
 * statement, so that nothing is committed between the two.
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

/** One page of a store's change feed after `after`. Looks at a window of it only: where few changes pass the filter the page may be short, or empty, and `more` is true. */
export async function readChanges(
  database: Queryable,
  storeId: string,
  { type, since, horizonMs }: ChangeFilter,
  { after, pageSize }: { readonly after: ChangePosition; readonly pageSize: number },
): Promise<ChangePage> {
  const filtered = type !== undefined || since !== undefined
  const window = filtered ? windowRows : pageSize + 1
  // `;` is the character after `:`, and names are compared byte by byte: the range is the type.
  const range = type === undefined ? ["", ""] : [`${type}:`, `${type};`]
  const parameters = [storeId, after.revision, after.ordinal, window, ...range, horizonMs, since ?? null]
  const rows = await database.query<Row>(selectWindow, [...parameters, pageSize])
  const changes: LoggedChange[] = []
  let position = after
  for (const [matched, revision, ordinal, deleted, changedAt, young, ...tuple] of rows) {
    if (young) return { changes, position, more: false }
    if (!matched) {
      // The window was searched to its end unless the page was full before.
      if (filtered && changes.length < pageSize) position = { revision, ordinal }
      return { changes, position, more: true }
    }
    const key = tupleOfRow(tuple)
    changes.push({ operation: deleted ? "delete" : "write", key, changedAt })
    position = { revision, ordinal }
  }
  return { changes, position, more: false }
}

const selectRevision: PreparedStatement = {
  name: "changes-revision",
  text: "select revision from sallyport.stores where id = $1",
}
const selectTime: PreparedStatement = {
  name: "changes-time",
  text: "select max(changed_at) from sallyport.changes where store_id = $1 and revision = $2",
}

/**
 * A change carries the time its transaction began, and transactions wait for each other, but never for as long as this: a change of a later revision is at most this much older.
 */
const disorderMs = 60_000

/** A place in the feed before the first change since a time, and not far before it. Found by halving: times and revisions grow together. */
export async function positionBefore(
  database: Queryable,
  storeId: string,
  since: Date,
): Promise<ChangePosition> {
  const [row] = await database.query<[number]>(selectRevision, [storeId])
  const limit = new Date(since.getTime() - disorderMs)
  let before = 0
  let end = row?.[0] ?? 0
  while (before < end) {
    const middle = Math.ceil((before + end) / 2)
    const [time] = await database.query<[Date | null]>(selectTime, [storeId, middle])
    if (time?.[0] !== undefined && time[0] !== null && time[0] < limit) before = middle
    else end = middle - 1
  }
  // Behind the whole of that revision: ordinals are of integer.
  return before === 0 ? feedStart : { revision: before, ordinal: 2 ** 31 - 1 }
}
