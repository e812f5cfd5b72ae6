import type { Graph, Retired } from "../graph/graph.ts"
import type { TupleChange } from "../ports.ts"
import type { Snapshot } from "./snapshot.ts"

/** A few hundred changes must not cause the eviction of pages. */
const bytesUncounted = 1024 * 1024

/** The snapshots of a store that are in use, and the memory that the graph keeps for them. */
export class Views {
  readonly #views = new Set<Snapshot>()
  readonly #retired: { readonly graph: Graph; readonly epoch: number; readonly retired: Retired }[] = []

  get size(): number {
    return this.#views.size
  }

  /** Bytes of the snapshots, above the amount that every question needs for itself. */
  get bytes(): number {
    let bytes = -bytesUncounted
    for (const view of this.#views) bytes += view.bytes
    return Math.max(0, bytes)
  }

  /** Until it is released, the content of the snapshot does not change. */
  hold(view: Snapshot): void {
    view.users++
    view.graph.held = true
    this.#views.add(view)
  }

  leave(view: Snapshot): void {
    if (--view.users > 0) return
    this.#views.delete(view)
    view.end()
    this.reclaim(view.graph)
  }

  /** Applies changes to a graph. Work in progress on the previous state continues to see it. */
  apply(graph: Graph, changes: readonly TupleChange[]): void {
    const views = [...this.#views].filter((view) => view.graph === graph)
    graph.epoch++
    graph.share(views.length > 0)
    for (const change of changes)
      if (views.length === 0) graph[change.operation](change.row)
      else applyUnder(views, graph, change)
    graph.share(false)
  }

  /** Keeps the memory that the graph has given up so far for the work that began before. */
  retire(graph: Graph): void {
    const retired = graph.takeRetired()
    if (retired !== undefined) this.#retired.push({ graph, epoch: graph.epoch, retired })
    this.reclaim(graph)
  }

  /** Frees memory that no work can be reading any more. */
  reclaim(graph: Graph): void {
    let oldest = Number.POSITIVE_INFINITY
    for (const view of this.#views) if (view.graph === graph) oldest = Math.min(oldest, view.epoch)
    graph.held = oldest !== Number.POSITIVE_INFINITY
    const rest = graph.held ? undefined : graph.takeRetired()
    if (rest !== undefined) graph.reclaim(rest)
    for (let next = this.#retired[0]; next !== undefined; next = this.#retired[0]) {
      if (next.graph === graph && next.epoch > oldest) return
      this.#retired.shift()
      if (next.graph === graph) graph.reclaim(next.retired)
    }
  }
}

/** Applies a change that the snapshots must not show. */
function applyUnder(views: readonly Snapshot[], graph: Graph, { operation, row }: TupleChange): void {
  const held = graph.holds(row)
  const remembering = held.forward || held.reverse ? views : []
  const stored = graph.stored(row)
  // Remember it while its names exist: a deletion may remove them, a write may add them.
  if (operation === "delete") for (const view of remembering) view.remember(row, stored, held)
  graph[operation](row)
  if (operation === "write") for (const view of remembering) view.remember(row, stored, held)
}
