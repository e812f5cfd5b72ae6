import type { Graph } from "../graph/graph.ts"
import { covers, pageText } from "../graph/page-keys.ts"
import type { Pins } from "../graph/pages.ts"
import type { Commit, PageBatch, PageKey, PartKey, TupleChange, TupleRow, TupleSource } from "../ports.ts"
import { installLarge, installPoint, isLarge } from "./graph-pages.ts"
import { Incoming } from "./incoming.ts"
import { NoRoom } from "./memory.ts"

/** Pages are built in turns of this length. */
const sliceMs = 2
const sliceRows = 500

/** A graph of pages that lacks some, and the functions that a load needs. */
export interface PageLoad {
  readonly source: TupleSource
  readonly storeId: string
  /** Reads pages of at least a revision by one statement, perhaps together with those of other questions. */
  readonly read: (keys: readonly PageKey[], revisionMin: number) => Promise<PageBatch>
  readonly graph: Graph
  readonly pins: Pins
  readonly now: () => number
  readonly turn: () => Promise<void>
  /** Whether the graph is still the store's. */
  readonly isCurrent: () => boolean
  /** The newest known commit. */
  readonly newest: () => Commit
  /** Brings the graph at least to the commit of a read; `before` was the known commit when the read was requested. */
  readonly reach: (at: Commit, before: Commit) => Promise<void>
  /** All changes applied to the graph since the load began. */
  readonly recent: () => readonly TupleChange[]
  /** The graph has changed, and this many bytes are on their way into it. Returns false when they do not fit. */
  readonly fits: (bytesComing: number) => boolean
  readonly onChanged: () => void
  /** Maximum bytes of all stores together. */
  readonly memoryBytes: number
}

/**
 * Loads the pages that a round lacked, by one statement. A page that is too large is marked as such; then its single tuples and parts are
 * requested. A part that is too large must be read row by row. Only one such part is loaded, and only when nothing else is missing, because
 * it may turn out to be unnecessary. Resolves to the number of tuples that were read.
 * @throws NoRoom when the pages do not fit next to those in use
 */
export async function loadPages(load: PageLoad, keys: readonly PageKey[]): Promise<number> {
  const some = keys.filter((key) => !isLarge(load.graph, key))
  // Another question may have found some of them too large meanwhile; their parts will be requested.
  if (some.length === 0) return loadOne(load, keys.filter(isPart))
  const before = load.newest()
  const read = await load.read(some, before.revision)
  await load.reach(read.at, before)
  await inTurns(load, install(load, some, read))
  return read.pages.reduce(
    (sum, rows) => sum + (rows === undefined || rows === "too many" ? 0 : rows.length),
    0,
  )
}

async function inTurns({ now, turn, isCurrent }: PageLoad, steps: Generator<void>): Promise<void> {
  for (let until = now() + sliceMs; isCurrent() && steps.next().done !== true; ) {
    if (now() < until) continue
    await turn()
    until = now() + sliceMs
  }
}

function* install(
  load: PageLoad,
  keys: readonly PageKey[],
  { at: { revision }, pages }: PageBatch,
): Generator<void> {
  for (const [place, key] of keys.entries()) {
    const rows = pages[place]
    if (rows === undefined) continue
    if (rows === "too many") laid(load, () => installLarge(load.graph, key))
    else if (key.direction === "point")
      laid(load, () => installPoint(load.graph, key, standing(load, key, rows[0], revision)))
    else yield* installList(load, key, rows, revision)
    yield
  }
}

function* installList(
  load: PageLoad,
  key: PageKey,
  rows: readonly TupleRow[],
  revision: number,
): Generator<void> {
  const incoming = new Incoming(load.graph, key)
  for (let at = 0; at < rows.length; at += sliceRows) {
    if (at > 0) yield
    incoming.take(rows.slice(at, at + sliceRows))
  }
  yield* incoming.sort()
  laid(load, () => incoming.lay(revision, load.recent()))
}

/** Adds it to the graph, for the work that requested it. */
function laid(load: PageLoad, lay: () => void): void {
  const { graph, pins } = load
  graph.epoch++
  graph.pages?.record(pins)
  lay()
  graph.pages?.record(undefined)
  load.onChanged()
  if (!load.fits(0)) throw noRoom(load, "the check needs more tuples in memory than allowed")
}

/** A single tuple at the graph's revision. */
function standing(
  load: PageLoad,
  key: PageKey,
  row: TupleRow | undefined,
  revision: number,
): TupleRow | undefined {
  let current = row
  for (const change of load.recent())
    if (change.revision > revision && covers(key, change.row, load.graph))
      current = change.operation === "write" ? change.row : undefined
  return current
}

function isPart(key: PageKey): key is PartKey {
  return key.direction !== "point" && key.among !== undefined
}

/** Loads the first one that fits. */
async function loadOne(load: PageLoad, keys: readonly PartKey[]): Promise<number> {
  let failed: unknown
  for (const key of keys) {
    try {
      return await loadLarge(load, key)
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error
      failed = error
    }
  }
  if (failed !== undefined) throw failed
  return 0
}

async function loadLarge(load: PageLoad, key: PartKey): Promise<number> {
  const { source, storeId, graph, isCurrent, fits } = load
  let incoming = new Incoming(graph, key)
  const given: Incoming[] = [incoming]
  let count = 0
  const onBatch = (rows: readonly TupleRow[]) => {
    if (!isCurrent()) throw new Superseded()
    incoming.take(rows)
    count += rows.length
    if (!fits(incoming.bytes)) throw noRoom(load, `${pageText(key)} has more tuples than fit`)
  }
  const onRestart = () => {
    incoming = new Incoming(graph, key)
    given.push(incoming)
  }
  try {
    const before = load.newest()
    const at = await source.list(storeId, key, onBatch, { revisionMin: before.revision, onRestart })
    await load.reach(at, before)
    await inTurns(load, incoming.sort())
    if (isCurrent()) laid(load, () => incoming.lay(at.revision, load.recent()))
  } catch (error) {
    if (!(error instanceof Superseded)) throw error
  } finally {
    // Those that became a page are not discarded by it.
    for (const each of given) await inTurns(load, each.discard())
    fits(0)
  }
  return count
}

/** The graph is no longer the store's, so the rest is not needed. */
class Superseded extends Error {}

function noRoom({ memoryBytes }: PageLoad, what: string): NoRoom {
  const size = `${Math.floor(memoryBytes / (1024 * 1024))} MB`
  return new NoRoom(
    "resource_exhausted",
    `${what} into the memory for all stores (${size}); raise 'memory' in 'authz'`,
  )
}
