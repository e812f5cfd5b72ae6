import { Graph } from "../graph/graph.ts"
import { type LoadedBatch, SourceUnavailable, type TupleChange, type TupleSource } from "../ports.ts"

/** The load runs in turns of this length, so that questions, which are answered from pages meanwhile, wait a little only. */
const sliceMs = 2
/** Rows taken between two readings of the clock. */
const rowsAtOnce = 256
/** Changes read from the source at a time. */
const changesMax = 2_000

export interface WholeLoad {
  readonly source: TupleSource
  readonly storeId: string
  readonly now: () => number
  readonly turn: () => Promise<void>
  /** The graph takes more memory; this part of the store was read, if that is known. An exception ends the load. */
  readonly onGrown: (graph: Graph, part: number | undefined) => void
  /** The newest known revision, up to which the graph is brought. */
  readonly known: () => number
  /** The graph is complete. Called in the same turn as the last call of `known`. */
  readonly onLoaded: (graph: Graph) => void
}

/** Reads a store into a new graph over several turns, and applies the changes that happen meanwhile. */
export async function loadWhole(load: WholeLoad): Promise<void> {
  const { source, storeId, now, turn } = load
  let graph = new Graph()
  let until = now() + sliceMs
  const rest = async () => {
    await turn()
    until = now() + sliceMs
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
