import { type Database, type PreparedStatement, type Queryable, unbounded } from "./database.ts"
import { positionBefore } from "./read-changes.ts"

/** What to keep. Absent fields: everything of that kind. */
export interface Retention {
  /** Changes of a store's feed, in seconds. */
  readonly changesSeconds?: number | undefined
  /** Plans, from the newest on. Those that a process serves are kept as well. */
  readonly plansKept?: number | undefined
  /** Deleted stores with their tuples, and deleted subscriptions, in seconds. */
  readonly deletedSeconds?: number | undefined
}

/** Numbers of rows. `stores`: deleted stores that are gone as a whole. */
export interface Pruned {
  readonly changes: number
  readonly tuples: number
  readonly stores: number
  readonly subscriptions: number
  readonly plans: number
}

/** Where the next call goes on; opaque to clients. `end`: the last revision to prune in this store; 0: not known yet. */
export type PruneCursor = readonly [store: string, revision: number, ordinal: number, end: number]

/** Rows of one statement. It holds its locks for some milliseconds only, so that writers and readers do not notice. */
const rowsMax = 2_000
/** Statements of one call. */
const statementsMax = 20
/** Commits of the subscriptions' feed, which only tell a process of a few seconds ago that its history was lost. */
const commitsKept = 100_000

const nothing: Pruned = { changes: 0, tuples: 0, stores: 0, subscriptions: 0, plans: 0 }

const nextStore: PreparedStatement = {
  name: "prune-next-store",
  text: `select id, revision, deleted_at < now() - $2 * interval '1 second' from sallyport.stores where id >= $1 order by id limit 1`,
}
const markPruned: PreparedStatement = {
  name: "prune-mark",
  text: `update sallyport.stores set pruned_revision = $2, pruned_before = greatest(pruned_before, now() - $3 * interval '1 second')
    where id = $1 and pruned_revision < $2`,
}
/**
 * Deletes within a window of the feed, and returns the end of the window. The window is a range of the primary key, so that a planner
 * without statistics does not read the whole feed. The condition of a tuple that still exists is in its write and
 * nowhere else in the feed (see `stood` in tuple-source.ts). So this write stays until the deletion that follows it is pruned too.
 */
const pruneWindow: PreparedStatement = {
  name: "prune-changes",
  text: `
with seen as (
  select revision, ordinal from sallyport.changes where store_id = $1 and (revision, ordinal) > ($2, $3) and revision <= $4
  order by revision, ordinal limit ${rowsMax}
), last as (
  select revision, ordinal from seen order by revision desc, ordinal desc limit 1
), gone as (
  delete from sallyport.changes c where c.store_id = $1 and (c.revision, c.ordinal) > ($2, $3)
    and (c.revision, c.ordinal) <= ((select revision from last), (select ordinal from last))
    and (c.deleted or c.condition = '' or exists (
      select 1 from sallyport.changes d where d.store_id = $1 and d.object = c.object and d.relation = c.relation
        and d.subject = c.subject and d.subject_relation = c.subject_relation
        and d.revision > c.revision and d.revision <= $4 and (d.deleted or d.condition <> '')))
  returning 1
)
select (select count(*) from gone), (select count(*) from seen), last.revision, last.ordinal from last`,
}
const countChanges: PreparedStatement = {
  name: "prune-count-changes",
  text: "select count(*) from sallyport.changes where store_id = $1 and revision <= $2",
}
/** Rows of a deleted store, in the order in which they can be deleted. */
const rowsOfStore = ["tuples", "changes", "assertions", "models"] as const
type StoreTable = (typeof rowsOfStore)[number]
const keyColumns: Readonly<Record<StoreTable, string>> = {
  tuples: "object, relation, subject, subject_relation",
  changes: "revision, ordinal",
  assertions: "model_id",
  models: "id",
}
const deleteRows = (table: StoreTable): PreparedStatement => ({
  name: `prune-rows-${table}`,
  text: `with gone as (delete from sallyport.${table} where store_id = $1 and (${keyColumns[table]}) in
    (select ${keyColumns[table]} from sallyport.${table} where store_id = $1 limit ${rowsMax}) returning 1) select count(*) from gone`,
})
const countRows = (table: StoreTable): PreparedStatement => ({
  name: `prune-count-rows-${table}`,
  text: `select count(*) from sallyport.${table} where store_id = $1`,
})
const deleteStoreRow: PreparedStatement = {
  name: "prune-store",
  text: "delete from sallyport.stores where id = $1 and deleted_at is not null",
}

const oldPlans = `from sallyport.plans where serial <= (select max(serial) from sallyport.plans) - $1
  and serial not in (select active_serial from sallyport.processes where active_serial is not null)`
const oldSubscriptions = "from sallyport.subscriptions where deleted_at < now() - $1 * interval '1 second'"
const counted = (what: "plans" | "subscriptions", from: string): [PreparedStatement, PreparedStatement] => [
  { name: `prune-${what}`, text: `with gone as (delete ${from} returning 1) select count(*) from gone` },
  { name: `prune-count-${what}`, text: `select count(*) ${from}` },
]
const [deletePlans, countPlans] = counted("plans", oldPlans)
const [deleteSubscriptions, countSubscriptions] = counted("subscriptions", oldSubscriptions)
const deleteCommits: PreparedStatement = {
  name: "prune-commits",
  text: `delete from sallyport.subscription_commits where revision < (select revision from sallyport.subscription_feed where id = 1) - ${commitsKept}`,
}

/**
 * Deletes a bounded number of rows, in small transactions. Call it again with the cursor and the same retention until there is none. It may
 * be interrupted and repeated at any place.
 */
export async function prune(
  database: Database,
  retention: Retention,
  cursor: PruneCursor | undefined,
): Promise<{ readonly pruned: Pruned; readonly next: PruneCursor | undefined }> {
  const sums = { ...nothing }
  if (cursor === undefined) Object.assign(sums, await pruneRecords(database, retention))
  const budget = { statements: statementsMax }
  let at: PruneCursor = cursor ?? ["", 0, 0, 0]
  while (budget.statements > 0) {
    const store = await storeFrom(database, at[0], retention)
    if (store === undefined) return { pruned: sums, next: undefined }
    if (store.id !== at[0]) at = [store.id, 0, 0, 0]
    const next = store.expired
      ? await pruneDeletedStore(database, store.id, budget, sums)
      : await pruneFeed(database, store, at, { retention, budget, sums })
    at = next ?? [after(store.id), 0, 0, 0]
  }
  return { pruned: sums, next: at }
}

/** What `prune` would delete with all its calls; changes are counted too high where writes with a condition stay. */
export async function countPrunable(database: Database, retention: Retention): Promise<Pruned> {
  return database.transaction(
    async (transaction) => {
      const sums = { ...nothing }
      const { plansKept, deletedSeconds } = retention
      if (plansKept !== undefined) sums.plans = await countOf(transaction, countPlans, [plansKept])
      if (deletedSeconds !== undefined)
        sums.subscriptions = await countOf(transaction, countSubscriptions, [deletedSeconds])
      for (let from = ""; ; ) {
        const store = await storeFrom(transaction, from, retention)
        if (store === undefined) return sums
        from = after(store.id)
        if (store.expired) {
          sums.stores += 1
          sums.tuples += await countOf(transaction, countRows("tuples"), [store.id])
          sums.changes += await countOf(transaction, countRows("changes"), [store.id])
        } else {
          const end = await endOfPruning(transaction, store, retention)
          sums.changes += await countOf(transaction, countChanges, [store.id, end])
        }
      }
    },
    { snapshot: true, ...unbounded },
  )
}

interface PrunedStore {
  readonly id: string
  readonly revision: number
  /** It was deleted long enough ago. */
  readonly expired: boolean
}

async function storeFrom(
  database: Queryable,
  from: string,
  { deletedSeconds }: Retention,
): Promise<PrunedStore | undefined> {
  type Row = [id: string, revision: number, expired: boolean | null]
  const [row] = await database.query<Row>(nextStore, [from, deletedSeconds ?? null])
  return row === undefined ? undefined : { id: row[0], revision: row[1], expired: row[2] === true }
}

/** Greater than the id, and less than all that follow it: ids have capital letters and digits only. */
function after(id: string): string {
  return `${id}!`
}

async function pruneRecords(
  database: Database,
  { plansKept, deletedSeconds }: Retention,
): Promise<Pick<Pruned, "plans" | "subscriptions">> {
  const plans = plansKept === undefined ? 0 : await countOf(database, deletePlans, [plansKept])
  if (deletedSeconds === undefined) return { plans, subscriptions: 0 }
  const subscriptions = await countOf(database, deleteSubscriptions, [deletedSeconds])
  await database.query(deleteCommits)
  return { plans, subscriptions }
}

/** The last revision that may be pruned. The newest commit stays: it identifies the history. */
async function endOfPruning(
  database: Queryable,
  { id, revision }: PrunedStore,
  { changesSeconds }: Retention,
): Promise<number> {
  if (changesSeconds === undefined) return 0
  const since = new Date(Date.now() - changesSeconds * 1_000)
  return Math.min((await positionBefore(database, id, since)).revision, revision - 1)
}

interface FeedWork {
  readonly retention: Retention
  readonly budget: { statements: number }
  readonly sums: { changes: number }
}

/** Returns where to go on in this store; undefined at its end. */
async function pruneFeed(
  database: Database,
  store: PrunedStore,
  at: PruneCursor,
  { retention, budget, sums }: FeedWork,
): Promise<PruneCursor | undefined> {
  budget.statements -= 1
  if (retention.changesSeconds === undefined) return undefined
  const known = at[3]
  // The search takes about 20 statements, so the cursor carries its result. A failover may have lost revisions since then.
  const end =
    known === 0 ? await endOfPruning(database, store, retention) : Math.min(known, store.revision - 1)
  if (end <= 0) return undefined
  // Before the first deletion, so that no reader mistakes a gap for the feed.
  await database.query(markPruned, [store.id, end, retention.changesSeconds])
  type Row = [gone: number, seen: number, revision: number, ordinal: number]
  let [, revision, ordinal] = at
  while (budget.statements > 0) {
    budget.statements -= 1
    const [row] = await database.query<Row>(pruneWindow, [store.id, revision, ordinal, end])
    if (row === undefined) return undefined
    sums.changes += row[0]
    revision = row[2]
    ordinal = row[3]
    if (row[1] < rowsMax) return undefined
  }
  return [store.id, revision, ordinal, end]
}

async function pruneDeletedStore(
  database: Database,
  id: string,
  budget: { statements: number },
  sums: { tuples: number; changes: number; stores: number },
): Promise<PruneCursor | undefined> {
  for (const table of rowsOfStore) {
    for (let count = rowsMax; count === rowsMax; ) {
      if (budget.statements === 0) return [id, 0, 0, 0]
      budget.statements -= 1
      count = await countOf(database, deleteRows(table), [id])
      if (table === "tuples" || table === "changes") sums[table] += count
    }
  }
  await database.query(deleteStoreRow, [id])
  sums.stores += 1
  return undefined
}

async function countOf(
  database: Queryable,
  statement: PreparedStatement,
  parameters: readonly unknown[],
): Promise<number> {
  const [row] = await database.query<[number]>(statement, parameters)
  return row?.[0] ?? 0
}
