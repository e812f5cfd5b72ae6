import { Graph } from "../graph/graph.ts"
import { SourceUnavailable, type TupleChange, type TupleSource } from "../ports.ts"

/** Sorting runs in turns of this length. */
const sliceMs = 8
/** Changes read from the source at a time. */
const changesMax = 2_000

export interface WholeLoad {
  readonly source: TupleSource
  readonly storeId: string
  readonly now: () => number
  readonly turn: () => Promise<void>
  /** More rows were read. An exception ends the load. */
  readonly onRead: (graph: Graph) => void
  /** The newest known revision, up to which the graph is brought. */
  readonly known: () => number
  /** The graph is complete. Called in the same turn as the last call of `known`. */
  readonly onLoaded: (graph: Graph) => void
}

/** Reads a store into a new graph over several turns, and applies the changes that happen meanwhile. */
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
