import { Graph } from "../graph/graph.ts"
import { SourceUnavailable, type TupleChange, type TupleSource } from "../ports.ts"

/** Sorting goes on in turns of this length. */
const sliceMs = 8
/** Changes read from the source at a time. */
const changesMax = 2_000

export interface WholeLoad {
  readonly source: TupleSource
  readonly storeId: string
  readonly now: () => number
  readonly turn: () => Promise<void>
  /** Some more was read. What it throws ends the load. */
  readonly onRead: (graph: Graph) => void
  /** The revision that is known of by now: the graph is brought there. */
  readonly known: () => number
  /** The graph stands; called in the same turn as `known` was asked for the last time. */
  readonly onLoaded: (graph: Graph) => void
}

/** Reads a store into a graph of its own while others are asked, and brings it up to what has changed meanwhile. */
export async function loadWhole(load: WholeLoad): Promise<void> {
  const { source, storeId, now, turn } = load
  const graph = new Graph()
  graph.startLoad()
  graph.at = await source.load(storeId, (rows) => {
    for (const row of rows) graph.loadRow(row)
    load.onRead(graph)
  })
  const sorting = graph.finishLoad()
  for (let until = now() + sliceMs; !sorting.next().done; ) {
    if (now() < until) continue
    await turn()
    until = now() + sliceMs
  }
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
