import type { Graph } from "../graph/graph.ts"
import { coveredBy, covers, placeOf } from "../graph/page-keys.ts"
import { forwardPage, forwardPart, type PagePlace } from "../graph/pages.ts"
import type { TupleSlot } from "../graph/slots.ts"
import { sortedIds } from "../graph/sort-ids.ts"
import type { PageKey, TupleChange, TupleRow } from "../ports.ts"

const bytesPerRow = 16
/** Names released between two yields. */
const step = 2_048

/**
 * The tuples of a page on their way into a graph: collected apart, over as many turns as necessary, and put in place in one turn. Their
 * names are kept meanwhile, but questions do not see them.
 */
export class Incoming {
  readonly #graph: Graph
  readonly #key: PageKey
  readonly #place: PagePlace
  readonly #forward: boolean
  /** The ids at the other end, by slot. */
  readonly #ids = new Map<TupleSlot, number[]>()
  readonly #sorted = new Map<TupleSlot, Int32Array>()
  readonly #contexts: { readonly slot: TupleSlot; readonly other: number; readonly text: string }[] = []
  #rows = 0
  /** It has become a page, or was discarded. */
  #settled = false

  constructor(graph: Graph, key: PageKey) {
    this.#graph = graph
    this.#key = key
    this.#place = placeOf(key, graph, (name) => graph.retain(name)) as PagePlace
    this.#forward = this.#place.kind === forwardPage || this.#place.kind === forwardPart
  }

  /** Bytes in use, without its names. */
  get bytes(): number {
    return bytesPerRow * this.#rows
  }

  take(rows: readonly TupleRow[]): void {
    const graph = this.#graph
    for (const row of rows) {
      const slot = graph.slotOfRow(row)
      // A range of names may contain others: `type:*` is among those of the type.
      if (!coveredBy(slot, this.#place)) continue
      const other = graph.retain(this.#forward ? row[2] : row[0])
      const ids = this.#ids.get(slot)
      if (ids === undefined) this.#ids.set(slot, [other])
      else ids.push(other)
      if (this.#forward && row[5] !== "") this.#contexts.push({ slot, other, text: row[5] })
      this.#rows++
    }
  }

  /** Turns the tuples into lists. */
  *sort(): Generator<void> {
    for (const [slot, ids] of this.#ids) {
      const sorted = yield* sortedIds(Int32Array.from(ids), 0, ids.length)
      this.#sorted.set(slot, sorted)
      // A source may have started again and returned some tuples twice.
      if (sorted.length === ids.length) continue
      for (const id of sorted) this.#graph.retain(this.#graph.names.text(id))
      for (const id of ids) this.#graph.release(id)
    }
  }

  /**
   * Makes it a page at the graph's revision. `recent` are the changes applied to the graph since the load began; those after `revision` are
   * not in the page yet.
   */
  lay(revision: number, recent: readonly TupleChange[]): void {
    const graph = this.#graph
    const { id } = this.#place
    const forward = this.#forward
    const adjacency = forward ? graph.forward : graph.reverse
    const known = new Set<TupleSlot>()
    for (const [slot, ids] of this.#sorted) {
      if (!graph.isListed(id, slot, forward)) adjacency.lay(id, slot.id, ids)
      else {
        known.add(slot)
        for (const other of ids) graph.release(other)
      }
    }
    for (const { slot, other, text } of this.#contexts)
      if (!known.has(slot)) graph.setContext(id, slot.id, other, text)
    for (const change of recent)
      if (change.revision > revision && covers(this.#key, change.row, graph)) this.#change(change)
    // When a "too large" record existed, it already keeps the name.
    if (graph.pages?.holds(this.#place) === true || graph.pages?.add(this.#place, graph.epoch) === false)
      graph.release(id)
    this.#settled = true
  }

  #change({ operation, row }: TupleChange): void {
    const graph = this.#graph
    const { id } = this.#place
    const forward = this.#forward
    const slot = graph.slotOfRow(row)
    if (graph.isListed(id, slot, forward)) return
    const adjacency = forward ? graph.forward : graph.reverse
    const other = graph.retain(forward ? row[2] : row[0])
    for (const same of slot.base.slots) {
      if (adjacency.remove(id, same.id, other)) graph.release(other)
      if (forward && same.condition !== "") graph.setContext(id, same.id, other, "")
    }
    if (operation === "write" && adjacency.insert(id, slot.id, other)) {
      if (forward) graph.setContext(id, slot.id, other, row[5])
    } else graph.release(other)
  }

  /** Discards it; it does not become a page. */
  *discard(): Generator<void> {
    if (this.#settled) return
    this.#settled = true
    const graph = this.#graph
    let given = 0
    for (const ids of this.#ids.values())
      for (const id of ids) {
        graph.release(id)
        if (++given % step === 0) yield
      }
    graph.release(this.#place.id)
  }
}
