import { Adjacency } from "./adjacency.ts"
import { type Context, Contexts } from "./contexts.ts"
import { IntColumn } from "./int-column.ts"
import { Names } from "./names.ts"
import { type Direction, Pages, type Pins } from "./pages.ts"
import type { PageKey, TupleRow } from "./ports.ts"
import { isWildcard, type Slot, Slots } from "./slots.ts"

/** What the graph no longer refers to, but work under way may be reading. */
export interface Retired {
  readonly forward: readonly number[]
  readonly reverse: readonly number[]
  readonly names: readonly number[]
}

/** A stored tuple as the graph has it. */
export interface Stored {
  readonly slot: Slot
  readonly context: Context | undefined
}

/** In which of its two places a tuple is, or would be, in memory. */
export interface Held {
  readonly forward: boolean
  readonly reverse: boolean
}

const whole: Held = { forward: true, reverse: true }
const bytesPerSlot = 256

/**
 * The tuples of a store at one revision: names as integers, adjacency both ways. It knows no model: slots are made of the names in the
 * tuples, so that one graph serves every model of the store, and tuples a model forbids lie in slots its plans never name.
 *
 * A graph is whole, or it holds pages: then an adjacency that is not in memory is a miss, and changes are applied only to what is.
 */
export class Graph {
  readonly names = new Names()
  readonly forward = new Adjacency()
  readonly reverse = new Adjacency()
  revision: number
  /** Counts what makes the graph another: changes applied, pages installed. */
  epoch = 1
  /** Work is under way: ids of names that are given up are not given to others before `reclaim`. */
  held = false
  /** Pages in memory of a partial graph; undefined when the graph is whole. */
  readonly pages: Pages | undefined
  readonly #slots = new Slots()
  readonly slots: readonly Slot[] = this.#slots.all
  /** For each name the number of its type, plus 1. */
  readonly #typeOfName = new IntColumn()
  readonly #contexts = new Contexts()
  /** Of a partial graph: how many pages and list entries a name stands for. In a whole one a name without neighbours is none. */
  readonly #uses = new IntColumn()
  /** Names that snapshots speak of, with how often they do. */
  readonly #kept = new Map<number, number>()
  #retiredNames: number[] = []

  constructor(options: { readonly paged?: boolean | undefined; readonly revision?: number } = {}) {
    this.revision = options.revision ?? 0
    this.pages = options.paged === true ? new Pages() : undefined
  }

  /** Bytes in use: what the memory budget counts. */
  get bytes(): number {
    const { names, forward, reverse, pages } = this
    const slots = bytesPerSlot * this.slots.length
    return names.bytes + forward.bytes + reverse.bytes + this.#contexts.bytes + slots + (pages?.bytes ?? 0)
  }

  /** Bytes held, in use or not. */
  get reservedBytes(): number {
    const columns = this.#typeOfName.bytes + this.#uses.bytes
    const lists = this.forward.reservedBytes + this.reverse.reservedBytes
    return columns + lists + this.names.reservedBytes + this.#contexts.reservedBytes
  }

  /** The slot of these names; made when it is new. */
  slot(
    objectType: string,
    relation: string,
    subjectType: string,
    subjectRelation: string,
    condition: string,
  ): Slot {
    const slots = this.#slots
    return slots.of(slots.typeId(objectType), relation, slots.typeId(subjectType), subjectRelation, condition)
  }

  /** The number of a name's type: taken out of the name once. */
  #typeOf(id: number, name: string): number {
    const known = this.#typeOfName.get(id)
    if (known !== 0) return known - 1
    const type = this.#slots.typeOfName(name)
    this.#typeOfName.set(id, type + 1)
    return type
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    return this.#slots.relationId(relation)
  }

  /** The slot of a row that may be no tuple of this graph. */
  slotOfRow(row: TupleRow): Slot {
    return this.#slots.ofRow(row)
  }

  #slotOf(object: number, subject: number, row: TupleRow): Slot {
    const userset = isWildcard(row[2]) ? "*" : row[3]
    return this.#slots.of(
      this.#typeOf(object, row[0]),
      row[1],
      this.#typeOf(subject, row[2]),
      userset,
      row[4],
    )
  }

  /** Takes one row of a first load; between `startLoad` and the end of `finishLoad` nothing may be asked. */
  loadRow(row: TupleRow): void {
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    const slot = this.#slotOf(object, subject, row)
    this.forward.insert(object, slot.id, subject)
    this.reverse.insert(subject, slot.id, object)
    if (row[5] !== "") this.#contexts.set(object, slot.id, subject, row[5])
  }

  startLoad(): void {
    this.forward.startBulk()
    this.reverse.startBulk()
  }

  /** Sorts what was loaded, yielding every few milliseconds so that the caller can let others run. */
  *finishLoad(): Generator<void> {
    yield* this.forward.sort(this.names.idsEnd)
    yield* this.reverse.sort(this.names.idsEnd)
  }

  /** A tuple written: it replaces one of the same key under another condition. A partial graph takes what its pages cover. */
  write(row: TupleRow): void {
    const known = this.holds(row)
    if (!known.forward && !known.reverse) return
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    const slot = this.#slotOf(object, subject, row)
    // So that neither name is given up while its tuple changes place.
    this.#use(object)
    this.#use(subject)
    if (slot.base.slots.length > 1) this.#erase(slot, object, subject)
    if (known.forward) {
      if (this.forward.insert(object, slot.id, subject)) this.#use(subject)
      this.#contexts.set(object, slot.id, subject, row[5])
    }
    if (known.reverse && this.reverse.insert(subject, slot.id, object)) this.#use(object)
    this.#unuse(object)
    this.#unuse(subject)
  }

  /** Which of a tuple's two pages are in memory. */
  holds(row: TupleRow): Held {
    const { pages } = this
    if (pages === undefined) return whole
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    const relation = this.relationId(row[1])
    const subjectRelation = this.relationId(row[3])
    return {
      forward: object >= 0 && pages.holds(object, relation, "forward"),
      reverse: subject >= 0 && pages.holds(subject, subjectRelation, "reverse"),
    }
  }

  /** A tuple deleted, whatever its condition was. */
  delete(row: TupleRow): void {
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object < 0 || subject < 0) return
    this.#erase(this.slotOfRow(row), object, subject)
    if (this.pages !== undefined) return
    this.#forgetUnused(object)
    if (subject !== object) this.#forgetUnused(subject)
  }

  #erase(slot: Slot, object: number, subject: number): void {
    for (const { id, condition } of slot.base.slots) {
      if (this.forward.remove(object, id, subject)) this.#unuse(subject)
      if (this.reverse.remove(subject, id, object)) this.#unuse(object)
      if (condition !== "") this.#contexts.set(object, id, subject, "")
    }
  }

  /** How the tuple with a row's key stands here now; undefined when it does not, or its pages are not in memory. */
  stored(row: TupleRow): Stored | undefined {
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object < 0 || subject < 0) return undefined
    for (const slot of this.slotOfRow(row).base.slots)
      if (
        this.forward.has(this.forward.find(object, slot.id), subject) ||
        this.reverse.has(this.reverse.find(subject, slot.id), object)
      )
        return { slot, context: this.context(object, slot.id, subject) }
    return undefined
  }

  /** The context stored with a tuple; undefined when it has none. */
  context(object: number, slot: number, subject: number): Context | undefined {
    return this.#contexts.get(object, slot, subject)
  }

  /** While true, a list that changes is written anew beside what it was, which is kept until `reclaim`: work under way may be reading it. */
  share(shared: boolean): void {
    this.forward.lists.shared = shared
    this.reverse.lists.shared = shared
  }

  /** What was given up since the last call while the graph was shared. */
  takeRetired(): Retired | undefined {
    const forward = this.forward.lists.takeRetired()
    const reverse = this.reverse.lists.takeRetired()
    const names = this.#retiredNames
    if (forward.length + reverse.length + names.length === 0) return undefined
    this.#retiredNames = []
    return { forward, reverse, names }
  }

  /** Nobody reads it any more. */
  reclaim({ forward, reverse, names }: Retired): void {
    this.forward.lists.reclaim(forward)
    this.reverse.lists.reclaim(reverse)
    for (const id of names) this.names.release(id)
  }

  /** Is this page in memory, and was it by this epoch? */
  hasForward(object: number, slot: Slot, epoch: number): boolean {
    return this.pages?.has(object, slot.relationId, "forward", epoch) ?? true
  }

  hasReverse(subject: number, slot: Slot, epoch: number): boolean {
    return this.pages?.has(subject, slot.subjectRelationId, "reverse", epoch) ?? true
  }

  /** The same of all that stands with one relation of the subject's own. */
  hasReversePage(subject: number, subjectRelation: string, epoch: number): boolean {
    return this.pages?.has(subject, this.relationId(subjectRelation), "reverse", epoch) ?? true
  }

  /** Is this page in memory? Then it is pinned. */
  use(key: PageKey, pins: Pins): boolean {
    const forward = key.direction === "forward"
    const id = this.names.find(forward ? key.object : key.subject)
    const relation = this.relationId(forward ? key.relation : key.subjectRelation)
    if (id < 0 || this.pages === undefined) return false
    this.pages.record(pins)
    const held = this.pages.has(id, relation, key.direction, this.epoch)
    this.pages.record(undefined)
    return held
  }

  /** Installs a page read at this graph's revision. A page without rows is one too: absence is known then. */
  install(key: PageKey, rows: readonly TupleRow[]): void {
    const { pages } = this
    if (pages === undefined) return
    const forward = key.direction === "forward"
    const id = this.names.intern(forward ? key.object : key.subject)
    const relation = this.relationId(forward ? key.relation : key.subjectRelation)
    if (pages.holds(id, relation, key.direction)) return
    pages.add(id, relation, key.direction, this.epoch)
    this.#typeOf(id, forward ? key.object : key.subject)
    this.#use(id)
    for (const row of rows) {
      const object = this.names.intern(row[0])
      const subject = this.names.intern(row[2])
      const slot = this.#slotOf(object, subject, row)
      if (forward) {
        if (this.forward.insert(object, slot.id, subject)) this.#use(subject)
        this.#contexts.set(object, slot.id, subject, row[5])
      } else if (this.reverse.insert(subject, slot.id, object)) this.#use(object)
    }
  }

  /** Takes the least used page out of memory; false when all that is left is in use. */
  evict(): boolean {
    return this.pages?.evict((id, relation, direction) => this.#remove(id, relation, direction)) === true
  }

  #remove(id: number, relation: number, direction: Direction): void {
    const forward = direction === "forward"
    const adjacency = forward ? this.forward : this.reverse
    const found: number[] = []
    adjacency.eachSlot(id, (slot) => {
      const { relationId, subjectRelationId } = this.slots[slot] as Slot
      if ((forward ? relationId : subjectRelationId) === relation) found.push(slot)
    })
    for (const slot of found) {
      const value = adjacency.find(id, slot)
      const others = value >= 0 ? [value] : copied(adjacency.stretch(value))
      adjacency.drop(id, slot)
      for (const other of others) {
        if (forward) this.#contexts.set(id, slot, other, "")
        this.#unuse(other)
      }
    }
    this.#unuse(id)
  }

  #use(id: number): void {
    if (this.pages !== undefined) this.#uses.set(id, this.#uses.get(id) + 1)
  }

  #unuse(id: number): void {
    if (this.pages === undefined) return
    this.#uses.set(id, this.#uses.get(id) - 1)
    this.#forgetUnused(id)
  }

  /** The id of a name that is to be found, whether a tuple here has it or not, until it is given to `unkeep`. */
  keep(name: string): number {
    const id = this.names.intern(name)
    this.#typeOf(id, name)
    this.#kept.set(id, (this.#kept.get(id) ?? 0) + 1)
    return id
  }

  unkeep(id: number): void {
    const left = (this.#kept.get(id) ?? 0) - 1
    if (left > 0) this.#kept.set(id, left)
    else {
      this.#kept.delete(id)
      this.#forgetUnused(id)
    }
  }

  /** Gives a name up that stands for nothing any more. */
  #forgetUnused(id: number): void {
    const used =
      this.pages === undefined
        ? !this.forward.isEmpty(id) || !this.reverse.isEmpty(id)
        : this.#uses.get(id) > 0
    // Without a type it was given up before.
    if (used || this.#kept.has(id) || this.#typeOfName.get(id) === 0) return
    this.#typeOfName.set(id, 0)
    this.names.unlink(id)
    if (this.held) this.#retiredNames.push(id)
    else this.names.release(id)
  }
}

function copied({ array, start, end }: { array: Int32Array; start: number; end: number }): Int32Array {
  return array.slice(start, end)
}
