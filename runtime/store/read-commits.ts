import { type Commit, StoreGone, type TupleRow } from "../check/ports.ts"
import type { PreparedStatement, Queryable } from "./database.ts"
import type { LoggedChange } from "./read-changes.ts"
import { tupleColumns, tupleOfRow } from "./read-tuples.ts"

/** SQL for the stamp of a store's revision, for the table in `from`. */
export const stampOfStore =
  "coalesce((select c.stamp from sallyport.changes c where c.store_id = s.id and c.revision = s.revision limit 1), '')"

/** The newest commit of a store, from `stores s` with `stampOfStore`. */
export type CommitRow = readonly [revision: number, stamp: string]

/** The `CommitRow` of one store. */
export const selectNewest: PreparedStatement = {
  name: "source-newest",
  text: `select s.revision, ${stampOfStore} from sallyport.stores s where s.id = $1 and s.deleted_at is null`,
}

/** @throws StoreGone when there is no row */
export function commitOf([row]: readonly CommitRow[], storeId: string): Commit {
  if (row === undefined) throw new StoreGone(`there is no store ${storeId}`)
  const [revision, stamp] = row
  return { revision, stamp }
}

/** A commit of a store's feed with all of its changes, in their order. */
export interface LoggedCommit extends Commit {
  readonly changes: readonly LoggedChange[]
}

/**
 * Commits after a place in the feed, in order. `newest` is the store's newest commit at that moment. `lost`: the history does not have the
 * place (any more). `pruned`: changes after it were deleted, all of them from before `before`.
 */
export type CommitsRead =
  | { readonly state: "read"; readonly commits: readonly LoggedCommit[]; readonly newest: Commit }
  | { readonly state: "lost" }
  | { readonly state: "pruned"; readonly before: Date; readonly newest: Commit }

/**
 * The first row is about the store: its newest commit, whether its history has the place, and how far it was pruned. The others are whole
 * revisions, including the one in which the limit falls. It is one statement, so that all belongs to one moment.
 */
const selectCommits: PreparedStatement = {
  name: "changes-commits",
  text: `
(select s.revision, ${stampOfStore},
   $2::bigint = 0 or exists (select from sallyport.changes c where c.store_id = $1 and c.revision = $2::bigint and c.stamp = $3),
   s.pruned_before, s.pruned_revision::text, '', '', '', '', ''
 from sallyport.stores s where s.id = $1 and s.deleted_at is null)
union all
(select revision, stamp, deleted, changed_at, ${tupleColumns} from sallyport.changes
 where store_id = $1 and revision > $2::bigint and revision <= (
   select max(revision) from (
     select revision from sallyport.changes where store_id = $1 and revision > $2::bigint order by revision, ordinal limit $4) first)
 and ($5::double precision = 0 or changed_at <= now() - $5 * interval '1 millisecond')
 order by revision, ordinal)`,
}

type Row = [revision: number, stamp: string, flag: boolean, time: Date | null, ...tuple: TupleRow]

/**
 * The commits after `after`, at most about `max` changes but always whole commits. Those younger than `horizonMs` are left out, and all
 * after them.
 * @throws StoreGone when the store does not exist
 */
export async function readCommits(
  database: Queryable,
  storeId: string,
  after: Commit,
  { max, horizonMs }: { readonly max: number; readonly horizonMs: number },
): Promise<CommitsRead> {
  const parameters = [storeId, after.revision, after.stamp, max, horizonMs]
  const [store, ...rows] = await database.query<Row>(selectCommits, parameters)
  if (store === undefined) throw new StoreGone(`there is no store ${storeId}`)
  const [revision, stamp, known, before, pruned] = store
  const newest = { revision, stamp }
  // A pruned place has no stamp left to compare, so this comes first.
  if (before !== null && Number(pruned) > after.revision) return { state: "pruned", before, newest }
  if (!known) return { state: "lost" }
  const commits: (LoggedCommit & { readonly changes: LoggedChange[] })[] = []
  for (const [ofRevision, ofStamp, deleted, changedAt, ...tuple] of rows) {
    let commit = commits.at(-1)
    if (commit?.revision !== ofRevision) {
      // Revisions have no gaps: a missing one is younger than the horizon.
      if (horizonMs > 0 && ofRevision !== (commit ?? after).revision + 1) break
      commit = { revision: ofRevision, stamp: ofStamp, changes: [] }
      commits.push(commit)
    }
    const key = tupleOfRow(tuple)
    commit.changes.push({ operation: deleted ? "delete" : "write", key, changedAt: changedAt ?? new Date(0) })
  }
  return { state: "read", commits, newest }
}
