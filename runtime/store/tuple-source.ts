import {
  type Commit,
  firstCommit,
  HistoryLost,
  isSameCommit,
  type LoadedBatch,
  type PartKey,
  packRows,
  type ReadTerms,
  SourceUnavailable,
  type TupleChange,
  type TupleRow,
  type TupleSnapshot,
  type TupleSource,
} from "../check/ports.ts"
import { batchRows, cursorOf, fetchAll } from "./cursor.ts"
import { type Database, type PreparedStatement, type Queryable, SqlError } from "./database.ts"
import { noticesOf } from "./notices.ts"
import { type CommitRow, commitOf, selectNewest } from "./read-commits.ts"
import { pageParameters, readPages } from "./read-pages.ts"
import { tupleColumns } from "./read-tuples.ts"
import { readSnapshot } from "./tuple-snapshot.ts"

/** Blocks of the table that are read at once: about a thousand rows. */
const blocksAtOnce = 16
const sampledBlocks = 64
/** With at least this part of the table's rows, a store is read in the order of the table's file. Reading by an index jumps about in it. */
const fileShareMin = 0.1

const selectStamp: PreparedStatement = {
  name: "source-stamp",
  text: "select stamp from sallyport.changes where store_id = $1 and revision = $2 limit 1",
}
const selectTuples = `select ${tupleColumns} from sallyport.tuples where store_id = $1`
/** A row of `PackedRows`. */
const packedRow =
  "object || E'\\t' || subject || E'\\t' || relation || E'\\t' || subject_relation || E'\\t' || condition || E'\\t' || context || E'\\n'"
const openCursor = cursorOf(
  "source-open-cursor",
  `select ${packedRow} from sallyport.tuples where store_id = $1`,
)
/**
 * How much of the table belongs to a store, by a sample of its blocks; a store of one batch is not worth the sample, and its order makes
 * the server count by an index. Not all servers that we support have blocks.
 */
const selectShare: PreparedStatement = {
  name: "source-share",
  text: `
select count(*) filter (where store_id = $1 and ctid is not null), count(*) from sallyport.tuples tablesample system (
  least(100, ${100 * sampledBlocks} * current_setting('block_size')::float / greatest(1, pg_relation_size('sallyport.tuples'))))
where (select count(*) > ${batchRows} from (
  select 1 from sallyport.tuples where store_id = $1 order by object, relation, subject limit ${batchRows + 1}) own)`,
}
/** Reading the table keeps its blocks in place until the transaction ends. */
const selectBlocks: PreparedStatement = {
  name: "source-blocks",
  text: `
select pg_relation_size('sallyport.tuples') / current_setting('block_size')::bigint from (select 1 from sallyport.tuples limit 1) t`,
}
/** The store is not in `where`, because the server could prefer its index there, and would then read all of the store for each range. */
const selectOfBlocks: PreparedStatement = {
  name: "source-of-blocks",
  text: `select string_agg(${packedRow}, '') filter (where store_id = $1) from sallyport.tuples where ctid >= $2::tid and ctid < $3::tid`,
}
const whereForwardPart =
  " and object = $2 and relation = $3 and subject >= $4 and subject < $5 and subject_relation = $6"
const openForwardPart = cursorOf("source-open-forward-part", `${selectTuples}${whereForwardPart}`)
const whereReversePart =
  " and subject = $2 and subject_relation = $3 and object >= $4 and object < $5 and relation = $6"
const openReversePart = cursorOf("source-open-reverse-part", `${selectTuples}${whereReversePart}`)
/** For servers without cursors: the next rows in the order of the primary key, after the key in the last four parameters. */
const nextRange = (name: string, where: string, parameters: number): PreparedStatement => ({
  name: `source-range-${name}`,
  text: `select ${tupleColumns} from sallyport.tuples where store_id = $1${where}
    and (object, relation, subject, subject_relation) > (${[1, 2, 3, 4].map((at) => `$${parameters + at}`)})
    order by object, relation, subject, subject_relation limit ${batchRows}`,
})
const wholeRange = nextRange("whole", "", 1)
const forwardRange = nextRange("forward-part", whereForwardPart, 6)
const reverseRange = nextRange("reverse-part", whereReversePart, 6)

/**
 * The first row says up to which revision the feed was pruned. Then it returns whole revisions, including the one in which the limit falls,
 * after the commit before them; its stamp proves the history.
 */
const selectChanges: PreparedStatement = {
  name: "source-changes",
  text: `
(select pruned_revision, '', false, '', '', '', '', '', '' from sallyport.stores where id = $1)
union all
(select revision, stamp, deleted, ${tupleColumns} from sallyport.changes where store_id = $1 and revision = $2 limit 1)
union all
(select revision, stamp, deleted, ${tupleColumns} from sallyport.changes
where store_id = $1 and revision > $2 and revision <= (
  select max(revision) from (
    select revision from sallyport.changes where store_id = $1 and revision > $2 order by revision, ordinal limit $3) first)
order by revision, ordinal)`,
}
type ChangeRow = [revision: number, stamp: string, deleted: boolean, ...row: TupleRow]

/**
 * The condition of each key's last write at or before a revision. The feed's index by key contains only deletions and writes with a
 * condition. When the last entry is a deletion, or there is no entry, a write without a condition came after it.
 */
const selectStood: PreparedStatement = {
  name: "source-stood",
  text: `
select k.ordinal, c.condition, c.context
from unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[]) as k(ordinal, object, relation, subject, subject_relation)
cross join lateral (
  select deleted, condition, context from sallyport.changes c
  where c.store_id = $1 and c.object = k.object and c.relation = k.relation
    and c.subject = k.subject and c.subject_relation = k.subject_relation and c.revision <= $2 and (c.deleted or c.condition <> '')
  order by c.revision desc, c.ordinal desc limit 1) c
where not c.deleted`,
}
type StoodRow = [ordinal: number, condition: string, context: string]

/** Terms of a reading in batches. */
interface BatchTerms extends ReadTerms {
  /** Called with the commit before the first rows; a rejection ends the reading. */
  readonly onCommit?: ((at: Commit) => Promise<void>) | undefined
}

/** The tuples of one server; readings in batches can be ended as soon as their commit is known. */
export interface ServerTupleSource extends TupleSource {
  load(storeId: string, onBatch: LoadedBatch, terms?: BatchTerms): Promise<Commit>
  list(
    storeId: string,
    key: PartKey,
    onBatch: (rows: readonly TupleRow[]) => void,
    terms?: BatchTerms,
  ): Promise<Commit>
  listen(onChanged: (storeId: string) => void): () => void
  /** Reads parts of a store at one commit; undefined when the server has no cursors. */
  snapshot<T>(storeId: string, read: (snapshot: TupleSnapshot) => Promise<T>): Promise<T | undefined>
}

/** Reads the engine's tuples from the database. A missing store rejects with `StoreGone`, because no decision may be based on it. */
export function createTupleSource(database: Database): ServerTupleSource {
  return {
    newest: async (storeId) => commitOf(await database.query<CommitRow>(selectNewest, [storeId]), storeId),
    stampOf: (storeId, revision) => stampOfRevision(database, storeId, revision),
    load: (storeId, onBatch, terms) => load(database, storeId, onBatch, terms),
    list: (storeId, key, onBatch, terms) =>
      fromSnapshot({ database, storeId, onBatch, terms }, (transaction, deliver) =>
        readPart(transaction, database.missing, storeId, key, deliver),
      ),
    pages: (storeId, keys) => readPages(database, storeId, keys),
    changes: (storeId, after, max) => changes(database, storeId, after, max),
    stood: (storeId, revision, keys) => stood(database, storeId, revision, keys),
    snapshot: (storeId, read) => readSnapshot(database, storeId, read),
    listen: (onChanged) => noticesOf(database).listenToStores(onChanged),
  }
}

/** The stamp of a store's revision in the database; undefined when the revision does not exist or is no longer kept. */
export async function stampOfRevision(
  database: Queryable,
  storeId: string,
  revision: number,
): Promise<string | undefined> {
  if (revision === 0) return firstCommit.stamp
  const [row] = await database.query<[string]>(selectStamp, [storeId, revision])
  return row?.[0]
}

async function readPart(
  transaction: Queryable,
  missing: Database["missing"],
  storeId: string,
  key: PartKey,
  deliver: (rows: readonly TupleRow[]) => Promise<void> | void,
): Promise<void> {
  const forward = key.direction === "forward"
  const parameters = [storeId, ...pageParameters(key)]
  if (missing.has("cursors"))
    return fetchRanges(transaction, [forward ? forwardRange : reverseRange, parameters], deliver)
  return fetchAll(transaction, [forward ? openForwardPart : openReversePart, parameters], deliver)
}

type Opening = readonly [statement: PreparedStatement, parameters: readonly string[]]

interface BatchReading<Batch> {
  readonly database: Database
  readonly storeId: string
  readonly onBatch: (batch: Batch, part?: number) => Promise<void> | void
  readonly terms?: BatchTerms | undefined
}

/** Reads in one snapshot and resolves to its commit. A transaction that ran again would deliver rows of two snapshots. */
async function fromSnapshot<Batch>(
  { database, storeId, onBatch, terms }: BatchReading<Batch>,
  read: (
    transaction: Queryable,
    deliver: (batch: Batch, part?: number) => Promise<void> | void,
  ) => Promise<void>,
): Promise<Commit> {
  let delivered = false
  return database.transaction(
    async (transaction) => {
      if (delivered) throw new SourceUnavailable("the server rolled back a load, which starts anew")
      const at = commitOf(await transaction.query<CommitRow>(selectNewest, [storeId]), storeId)
      await terms?.onCommit?.(at)
      await read(transaction, (batch, part) => {
        delivered = true
        return onBatch(batch, part)
      })
      return at
    },
    { snapshot: true },
  )
}

/** What `fetchAll` does, without a cursor, by ranges of the primary key. */
async function fetchRanges(
  transaction: Queryable,
  [range, parameters]: Opening,
  deliver: (rows: readonly TupleRow[]) => Promise<void> | void,
): Promise<void> {
  let after: readonly string[] = ["", "", "", ""]
  for (;;) {
    const rows = await transaction.query<TupleRow>(range, [...parameters, ...after])
    if (rows.length > 0) await deliver(rows)
    if (rows.length < batchRows) return
    after = rows.at(-1)?.slice(0, 4) ?? after
  }
}

async function load(
  database: Database,
  storeId: string,
  onBatch: LoadedBatch,
  terms?: BatchTerms,
): Promise<Commit> {
  const reading = { database, storeId, onBatch, terms }
  if ((await fileShare(database, storeId)) >= fileShareMin)
    return fromSnapshot(reading, (transaction, deliver) => readFile(transaction, storeId, deliver))
  if (database.missing.has("cursors"))
    return fromSnapshot(reading, (transaction, deliver) =>
      fetchRanges(transaction, [wholeRange, [storeId]], (rows) => deliver(packRows(rows))),
    )
  return fromSnapshot(reading, (transaction, deliver) =>
    fetchAll<[string]>(transaction, [openCursor, [storeId]], (rows) =>
      deliver(rows.map(([row]) => row).join("")),
    ),
  )
}

/** The part of the table's rows that belong to the store, about; 0 when the server cannot read by blocks. */
async function fileShare(database: Queryable, storeId: string): Promise<number> {
  try {
    const [counts] = await database.query<[own: number, all: number]>(selectShare, [storeId])
    return counts === undefined || counts[1] === 0 ? 0 : counts[0] / counts[1]
  } catch (error) {
    if (error instanceof SqlError) return 0
    throw error
  }
}

/** All rows of a store in the order of the table's file, as many at a time as some blocks contain. */
async function readFile(transaction: Queryable, storeId: string, deliver: LoadedBatch): Promise<void> {
  const [counted] = await transaction.query<[number]>(selectBlocks)
  const blocks = counted?.[0] ?? 0
  const send = (from: number) => {
    const range = [`(${from},0)`, `(${from + blocksAtOnce},0)`]
    const sent = transaction.query<[string | null]>(selectOfBlocks, [storeId, ...range])
    sent.catch(() => undefined)
    return sent
  }
  let next = send(0)
  for (let from = 0; from < blocks; from += blocksAtOnce) {
    const [found] = await next
    if (from + blocksAtOnce < blocks) next = send(from + blocksAtOnce)
    const part = Math.min(1, (from + blocksAtOnce) / blocks)
    if (typeof found?.[0] === "string") await deliver(found[0], part)
  }
}

async function stood(
  database: Database,
  storeId: string,
  revision: number,
  keys: readonly TupleRow[],
): Promise<readonly TupleRow[]> {
  const columns = [0, 1, 2, 3].map((column) => keys.map((key) => key[column]))
  const rows = await database.query<StoodRow>(selectStood, [
    storeId,
    revision,
    keys.map((_, at) => at),
    ...columns,
  ])
  const conditions = new Map(rows.map(([ordinal, ...condition]) => [ordinal, condition]))
  return keys.map(([object, relation, subject, subjectRelation], at): TupleRow => {
    const [condition, context] = conditions.get(at) ?? ["", ""]
    return [object, relation, subject, subjectRelation, condition, context]
  })
}

async function changes(
  database: Database,
  storeId: string,
  after: Commit,
  max: number,
): Promise<readonly TupleChange[]> {
  const [pruned, ...rows] = await database.query<ChangeRow>(selectChanges, [storeId, after.revision, max])
  // Single changes of pruned revisions may be left.
  if (pruned !== undefined && pruned[0] > after.revision)
    throw new HistoryLost(`the changes of store ${storeId} after ${after.revision} were pruned`)
  const first = after.revision === 0 ? undefined : rows[0]
  const met = first === undefined ? firstCommit : { revision: first[0], stamp: first[1] }
  if (!isSameCommit(met, after))
    throw new HistoryLost(`store ${storeId} has no commit ${after.revision} ${after.stamp}`)
  let last = after
  let previous = after.stamp
  return rows.slice(first === undefined ? 0 : 1).map(([revision, stamp, deleted, ...row]) => {
    if (revision !== last.revision) previous = last.stamp
    last = { revision, stamp }
    return { revision, stamp, previous, operation: deleted ? "delete" : "write", row }
  })
}
