import type { Graph } from "../graph/graph.ts"
import { coveredBy, placeOf, rowOfPoint } from "../graph/page-keys.ts"
import { firstPoint, forwardPage, forwardPart, type PagePlace, type Pins } from "../graph/pages.ts"
import type { TupleSlot } from "../graph/slots.ts"
import type { PageKey, TupleRow } from "../ports.ts"

/** Names of longer lists are released over several turns. */
const longList = 2_048

/** The place of a page; undefined when its name is not in the graph, and so the page is not either. */
function placeIn(graph: Graph, key: PageKey): PagePlace | undefined {
  return placeOf(key, graph, (name) => graph.names.find(name))
}

/** Whether a page is in memory. Pins it. */
export function usePage(graph: Graph, key: PageKey, pins: Pins): boolean {
  const { pages } = graph
  const place = placeIn(graph, key)
  if (pages === undefined || place === undefined) return false
  pages.record(pins)
  const held = pages.has(place.id, place.of, place.kind, graph.epoch)
  pages.record(undefined)
  return held
}

/** Whether it is known to be too large for a page. */
export function isLarge(graph: Graph, key: PageKey): boolean {
  const place = placeIn(graph, key)
  return place !== undefined && graph.pages?.isLarge(place.id, place.of, place.kind) === true
}

/** Records that it is too large: from now on its single tuples and parts are loaded. */
export function installLarge(graph: Graph, key: PageKey): void {
  const known = placeIn(graph, key)
  if (known !== undefined && graph.pages?.holds(known) === true) return
  const place = placeOf(key, graph, (name) => graph.retain(name))
  if (place !== undefined && graph.pages?.addLarge(place, graph.epoch) === false) graph.release(place.id)
}

/** A single tuple at the graph's revision, or its absence. */
export function installPoint(graph: Graph, key: PageKey, found: TupleRow | undefined): void {
  const { pages } = graph
  const names = rowOfPoint(key)
  if (pages === undefined || names === undefined || graph.point(names) !== undefined) return
  const id = graph.retain(names[0])
  const subject = graph.retain(names[2])
  const place = { id, of: graph.slotOfRow(names).base.id, kind: firstPoint + subject }
  pages.add(place, graph.epoch)
  graph.setPoint(place, found === undefined ? undefined : graph.slotOfRow(found), found?.[5] ?? "")
}

/** Evicts the least used page; false when all remaining pages are in use. */
export function evictPage(graph: Graph): boolean {
  return graph.pages?.evict((place) => remove(graph, place)) === true
}

function remove(graph: Graph, place: PagePlace): void {
  const { id, kind } = place
  if (kind >= firstPoint) {
    graph.dropPoint(place)
    graph.release(kind - firstPoint)
  } else {
    const forward = kind === forwardPage || kind === forwardPart
    const found: number[] = []
    ;(forward ? graph.forward : graph.reverse).eachSlot(id, (number) => {
      const slot = graph.slots[number] as TupleSlot
      if (coveredBy(slot, place) && !graph.isListed(id, slot, forward)) found.push(number)
    })
    for (const slot of found) removeList(graph, id, slot, forward)
  }
  graph.release(id)
}

function removeList(graph: Graph, id: number, slot: number, forward: boolean): void {
  const adjacency = forward ? graph.forward : graph.reverse
  const value = adjacency.find(id, slot)
  const { array, start, end } =
    value >= 0 ? { array: Int32Array.of(value), start: 0, end: 1 } : adjacency.stretch(value)
  const others = array.slice(start, end)
  adjacency.drop(id, slot)
  const conditioned = forward && (graph.slots[slot] as TupleSlot).condition !== ""
  if (conditioned) for (const other of others) graph.setContext(id, slot, other, "")
  if (others.length > longList) graph.leaving.add(others)
  else for (const other of others) graph.release(other)
}
