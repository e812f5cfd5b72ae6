import { type Adjacency, none } from "./adjacency.ts"
import type { StoredContext } from "./contexts.ts"
import type { Graph, Stored, TuplePresence } from "./graph.ts"
import type { Base, TupleSlot } from "./slots.ts"

/** Ids from here on are for names that the graph does not have; valid for one question. */
export const firstTemporaryId = 0x4000_0000

interface Touched {
  /** By base: the other ids whose tuples in the graph below do not count. */
  readonly hidden: Map<number, Set<number>>
  /** By slot. */
  readonly added: Map<number, Set<number>>
  /** By slot: cached results. The content of an overlay never changes, only this cache. */
  readonly merged: Map<number, Int32Array>
}

/** What an overlay covers in addition to the graph: changes of the graph since the requested revision. */
export interface Ground {
  readonly past?: Overlay | undefined
}

/** Bytes of a mentioned name, and additional bytes of a tuple's other end; measured. */
const bytesPerName = 600
const bytesPerTuple = 250

/** One direction of an overlay. */
export class OverlaySide {
  bytes = 0
  readonly #touched = new Map<number, Touched>()
  readonly #graph: Graph
  readonly #stored: Adjacency
  readonly #below: () => OverlaySide | undefined

  constructor(graph: Graph, stored: Adjacency, below: () => OverlaySide | undefined) {
    this.#graph = graph
    this.#stored = stored
    this.#below = below
  }

  /** Puts the tuple into this slot; undefined: the tuple does not exist. Returns false when the overlay already contains its key. */
  put(id: number, base: Base, other: number, slot: TupleSlot | undefined): boolean {
    let touched = this.#touched.get(id)
    if (touched === undefined) {
      touched = { hidden: new Map(), added: new Map(), merged: new Map() }
      this.#touched.set(id, touched)
      this.bytes += bytesPerName
    }
    const hidden = touched.hidden.get(base.id) ?? new Set()
    if (hidden.has(other)) return false
    touched.hidden.set(base.id, hidden.add(other))
    this.bytes += bytesPerTuple
    if (slot === undefined) return true
    const added = touched.added.get(slot.id) ?? new Set()
    touched.added.set(slot.id, added.add(other))
    return true
  }

  touches(id: number): boolean {
    return this.#touched.has(id) || this.#below()?.touches(id) === true
  }

  /** For a touched id: whether `other` is in the slot. Undefined when the overlay does not contain the tuple. */
  has(id: number, slot: TupleSlot, other: number): boolean | undefined {
    return this.own(id, slot, other) ?? this.#below()?.has(id, slot, other)
  }

  /** The same for this overlay alone, without the layer below. */
  own(id: number, slot: TupleSlot, other: number): boolean | undefined {
    const touched = this.#touched.get(id)
    if (touched === undefined) return undefined
    if (touched.added.get(slot.id)?.has(other)) return true
    return touched.hidden.get(slot.base.id)?.has(other) ? false : undefined
  }

  /** For a touched id: the content of the slot, from the store and the overlay. */
  list(id: number, slot: TupleSlot): Int32Array {
    const touched = this.#touched.get(id)
    if (touched === undefined) return this.#listBelow(id, slot)
    const known = touched.merged.get(slot.id)
    if (known !== undefined) return known
    const below = this.#listBelow(id, slot)
    const list = merged(below, touched.hidden.get(slot.base.id), touched.added.get(slot.id))
    touched.merged.set(slot.id, list)
    this.bytes += list.byteLength
    return list
  }

  /** The slots of a touched id that may have content. */
  slots(id: number): TupleSlot[] {
    const found = new Set<number>(this.#touched.get(id)?.added.keys())
    const below = this.#below()
    if (below?.touches(id)) for (const slot of below.slots(id)) found.add(slot.id)
    else if (id < firstTemporaryId) this.#stored.eachSlot(id, (slot) => found.add(slot))
    return [...found].map((slot) => this.#graph.slots[slot] as TupleSlot)
  }

  #listBelow(id: number, slot: TupleSlot): Int32Array {
    const below = this.#below()
    if (below?.touches(id)) return below.list(id, slot)
    const value = id < firstTemporaryId ? this.#stored.find(id, slot.id) : none
    if (value === none) return empty
    if (value >= 0) return Int32Array.of(value)
    const { array, start, end } = this.#stored.stretch(value)
    return array.subarray(start, end)
  }
}

const empty = new Int32Array(0)
const everywhere: TuplePresence = { forward: true, reverse: true }

/** A list without the hidden and with the added ids, in a new array. */
function merged(
  list: Int32Array,
  hidden: ReadonlySet<number> | undefined,
  added: ReadonlySet<number> | undefined,
): Int32Array {
  const result = new Int32Array(list.length + (added?.size ?? 0))
  let count = 0
  for (let at = 0; at < list.length; at++) {
    const id = list[at] as number
    if (hidden === undefined || !hidden.has(id)) result[count++] = id
  }
  for (const id of added ?? []) result[count++] = id
  return count === result.length ? result : result.slice(0, count)
}

/** A tuple by its ids; `slot` is a slot of the graph. */
export interface OverlayTuple {
  readonly object: number
  readonly slot: TupleSlot
  readonly subject: number
  readonly context?: StoredContext | undefined
}

/**
 * Tuples that exist or do not exist regardless of the graph: those of a question, and past states of tuples that the graph has changed
 * since the question's revision. A tuple here hides the stored one with the same key, whatever their conditions, in both directions, so
 * that no path sees both.
 */
export class Overlay {
  readonly forward: OverlaySide
  readonly reverse: OverlaySide
  readonly #graph: Graph
  readonly #ground: Ground
  readonly #contexts = new Map<string, StoredContext>()
  readonly #added: OverlayTuple[] = []
  readonly #hidden: OverlayTuple[] = []

  constructor(graph: Graph, ground: Ground = {}) {
    this.#graph = graph
    this.#ground = ground
    this.forward = new OverlaySide(graph, graph.forward, () => ground.past?.forward)
    this.reverse = new OverlaySide(graph, graph.reverse, () => ground.past?.reverse)
  }

  /** Bytes in use, without contexts. */
  get bytes(): number {
    return this.forward.bytes + this.reverse.bytes
  }

  /** Adds a tuple to the stored ones. */
  add(object: number, slot: TupleSlot, subject: number, context: StoredContext | undefined): void {
    this.#put(object, slot.base, subject, { slot, context }, everywhere)
    this.#added.push({ object, slot, subject, context })
  }

  /** Hides all tuples with this key. */
  hide({ object, slot, subject }: OverlayTuple): void {
    this.#put(object, slot.base, subject, undefined, everywhere)
    this.#hidden.push({ object, slot, subject })
  }

  /**
   * Records the past state of a tuple (undefined: it did not exist) in those of its places that the graph holds. The first record of a
   * tuple wins.
   */
  remember(
    object: number,
    base: Base,
    subject: number,
    stored: Stored | undefined,
    held: TuplePresence,
  ): void {
    this.#put(object, base, subject, stored, held)
  }

  #put(object: number, base: Base, subject: number, stored: Stored | undefined, held: TuplePresence): void {
    if (held.reverse) this.reverse.put(subject, base, object, stored?.slot)
    if (!held.forward || !this.forward.put(object, base, subject, stored?.slot)) return
    if (stored?.context !== undefined)
      this.#contexts.set(`${object}/${stored.slot.id}/${subject}`, stored.context)
  }

  /** A copy of the overlay with these changes. */
  changed(added: readonly OverlayTuple[], hidden: readonly OverlayTuple[]): Overlay {
    const made = new Overlay(this.#graph, this.#ground)
    const gone = ({ object, slot, subject }: OverlayTuple) =>
      hidden.some((one) => one.object === object && one.slot.base === slot.base && one.subject === subject)
    for (const tuple of [...this.#added.filter((tuple) => !gone(tuple)), ...added])
      made.add(tuple.object, tuple.slot, tuple.subject, tuple.context)
    for (const tuple of [...this.#hidden, ...hidden]) made.hide(tuple)
    return made
  }

  /** Whether the tuple comes from this overlay and not from the store. */
  holds(object: number, slot: TupleSlot, subject: number): boolean {
    return this.forward.own(object, slot, subject) === true
  }

  /** The context of a tuple of this overlay. */
  context(object: number, slot: number, subject: number): StoredContext | undefined {
    if (this.forward.own(object, this.#graph.slots[slot] as TupleSlot, subject) === undefined)
      return this.#ground.past?.context(object, slot, subject)
    return this.#contexts.get(`${object}/${slot}/${subject}`)
  }
}
