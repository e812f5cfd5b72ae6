import { Graph } from "../graph/graph.ts"
import { type LoadedBatch, SourceUnavailable, type TupleChange, type TupleSource } from "../ports.ts"

/** The load runs in turns of this length at most, so that what else the process does waits a little only. */
const sliceMs = 2
/**
 * A question that is answered from pages meanwhile waits for ten turns or so. So while there are questions, a turn is as short as can be,
 * but the load gets at least this part of the time that the others took. So it takes six times its own time at most.
 */
const shareBusy = 1 / 5
/** Rows taken between two readings of the clock: about a tenth of a millisecond. */
const rowsAtOnce = 128
/** Changes read from the source at a time. */
const changesMax = 2_000

export interface WholeLoad {
  readonly source: TupleSource
  readonly storeId: string
  readonly now: () => number
  readonly turn: () => Promise<void>
  /** Whether questions are in progress, which wait for turns of the event loop. */
  readonly isBusy: () => boolean
  /** The graph takes more memory; this part of the store was read, if that is known. An exception ends the load. */
  readonly onGrown: (graph: Graph, part: number | undefined) => void
  /** The newest known revision, up to which the graph is brought. */
  readonly known: () => number
  /** The graph is complete. Called in the same turn as the last call of `known`. */
  readonly onLoaded: (graph: Graph) => void
}

/** Reads a store into a new graph over several turns, and applies the changes that happen meanwhile. */
export async function loadWhole(load: WholeLoad): Promise<void> {
  const { source, storeId, now, turn, isBusy } = load
  let graph = new Graph()
  let until = now() + sliceMs
  const rest = async () => {
    const from = now()
    await turn()
    const others = now() - from
    until = now() + (isBusy() ? Math.min(sliceMs, shareBusy * others) : sliceMs)
  }
  const onBatch: LoadedBatch = async (rows, part) => {
    for (let at = 0; at < rows.length; ) {
      at = graph.loadRows(rows, at, rowsAtOnce)
      if (now() >= until) await rest()
    }
    load.onGrown(graph, part)
  }
  const onRestart = () => {
    graph = new Graph()
  }
  const loadedAt = await source.load(storeId, onBatch, { onRestart })
  graph.at = loadedAt
  for (const building = graph.finishLoad(); !building.next().done; ) {
    if (now() < until) continue
    load.onGrown(graph, 1)
    await rest()
  }
  load.onGrown(graph, 1)
  while (graph.revision < load.known()) {
    const changes = await source.changes(storeId, graph.at, changesMax)
    if (changes[0]?.revision !== graph.revision + 1)
      throw new SourceUnavailable("the change feed has a gap after the loaded revision")
    for (const { operation, row } of changes) graph[operation](row)
    const { revision, stamp } = changes.at(-1) as TupleChange
    graph.at = { revision, stamp }
  }
  load.onLoaded(graph)
}
