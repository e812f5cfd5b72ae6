import { type Adjacency, none } from "./adjacency.ts"
import type { Graph, Slot } from "./graph.ts"

/** Ids of names the graph does not have, valid for one question. */
export const firstTemporaryId = 0x4000_0000

interface Touched {
  /** By base: the others whose stored tuples do not count. */
  readonly hidden: Map<number, Set<number>>
  /** By slot. */
  readonly added: Map<number, number[]>
  readonly merged: Map<number, Int32Array>
}

/** One direction of an overlay. */
export class OverlaySide {
  readonly #touched = new Map<number, Touched>()
  readonly #graph: Graph
  readonly #stored: Adjacency

  constructor(graph: Graph, stored: Adjacency) {
    this.#graph = graph
    this.#stored = stored
  }

  add(id: number, slot: Slot, other: number): void {
    this.hide(id, slot, other)
    const touched = this.#touched.get(id) as Touched
    const added = touched.added.get(slot.id) ?? []
    added.push(other)
    touched.added.set(slot.id, added)
  }

  /** Nothing of this key counts from now on, stored or not. */
  hide(id: number, slot: Slot, other: number): void {
    const touched = this.#touched.get(id) ?? { hidden: new Map(), added: new Map(), merged: new Map() }
    this.#touched.set(id, touched)
    const hidden = touched.hidden.get(slot.base.id) ?? new Set()
    touched.hidden.set(slot.base.id, hidden.add(other))
  }

  touches(id: number): boolean {
    return this.#touched.has(id)
  }

  /** Of a touched id: is `other` in the slot? Undefined when the overlay says nothing about it. */
  has(id: number, slot: Slot, other: number): boolean | undefined {
    const touched = this.#touched.get(id)
    if (touched?.added.get(slot.id)?.includes(other)) return true
    return touched?.hidden.get(slot.base.id)?.has(other) ? false : undefined
  }

  /** Of a touched id: what the slot holds, stored tuples and the overlay's together. */
  list(id: number, slot: Slot): Int32Array {
    const touched = this.#touched.get(id) as Touched
    const known = touched.merged.get(slot.id)
    if (known !== undefined) return known
    const hidden = touched.hidden.get(slot.base.id)
    const merged = this.#storedIds(id, slot.id).filter((other) => !hidden?.has(other))
    const list = Int32Array.from([...merged, ...(touched.added.get(slot.id) ?? [])])
    touched.merged.set(slot.id, list)
    return list
  }

  /** The slots of a touched id that may hold something. */
  slots(id: number): Slot[] {
    const found = new Set<number>(this.#touched.get(id)?.added.keys())
    if (id < firstTemporaryId) this.#stored.eachSlot(id, (slot) => found.add(slot))
    return [...found].map((slot) => this.#graph.slots[slot] as Slot)
  }

  #storedIds(id: number, slot: number): Int32Array {
    const value = id < firstTemporaryId ? this.#stored.find(id, slot) : none
    if (value === none) return new Int32Array(0)
    if (value >= 0) return Int32Array.of(value)
    const { array, start, end } = this.#stored.stretch(value)
    return array.slice(start, end)
  }
}

/** A tuple by its ids: `slot` is the graph's. */
interface OverlayTuple {
  readonly object: number
  readonly slot: Slot
  readonly subject: number
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Tuples that count for one question beside the stored ones. A tuple here hides the stored one of the same key, whatever the
 * condition of either, in both directions: there is no path on which both are seen.
 */
export class Overlay {
  readonly forward: OverlaySide
  readonly reverse: OverlaySide
  readonly #graph: Graph
  readonly #contexts = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #added: OverlayTuple[] = []
  readonly #hidden: OverlayTuple[] = []

  constructor(graph: Graph) {
    this.#graph = graph
    this.forward = new OverlaySide(graph, graph.forward)
    this.reverse = new OverlaySide(graph, graph.reverse)
  }

  add(
    object: number,
    slot: Slot,
    subject: number,
    context: Readonly<Record<string, unknown>> | undefined,
  ): void {
    this.forward.add(object, slot, subject)
    this.reverse.add(subject, slot, object)
    if (context !== undefined) this.#contexts.set(`${object}/${slot.id}/${subject}`, context)
    this.#added.push({ object, slot, subject, context })
  }

  /** No tuple of this key counts. */
  hide({ object, slot, subject }: OverlayTuple): void {
    this.forward.hide(object, slot, subject)
    this.reverse.hide(subject, slot, object)
    this.#hidden.push({ object, slot, subject })
  }

  /** Another one that says the same, but for these. */
  changed(added: readonly OverlayTuple[], hidden: readonly OverlayTuple[]): Overlay {
    const made = new Overlay(this.#graph)
    const gone = ({ object, slot, subject }: OverlayTuple) =>
      hidden.some((one) => one.object === object && one.slot.base === slot.base && one.subject === subject)
    for (const tuple of [...this.#added.filter((tuple) => !gone(tuple)), ...added])
      made.add(tuple.object, tuple.slot, tuple.subject, tuple.context)
    for (const tuple of [...this.#hidden, ...hidden]) made.hide(tuple)
    return made
  }

  /** Does the tuple come from here, and not from the store? */
  holds(object: number, slot: Slot, subject: number): boolean {
    return this.forward.has(object, slot, subject) === true
  }

  context(object: number, slot: number, subject: number): Readonly<Record<string, unknown>> | undefined {
    return this.#contexts.get(`${object}/${slot}/${subject}`)
  }
}
