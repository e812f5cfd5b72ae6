import { type Commit, firstCommit, type PackedRows, type TupleRow } from "../ports.ts"
import { Adjacency } from "./adjacency.ts"
import { BulkLoad } from "./bulk-load.ts"
import { Contexts, type StoredContext } from "./contexts.ts"
import { IntColumn } from "./int-column.ts"
import { NameArena } from "./names.ts"
import {
  firstPoint,
  forwardPage,
  forwardPart,
  type PagePlace,
  Pages,
  reversePage,
  reversePart,
} from "./pages.ts"
import { isWildcard, Slots, type TupleSlot, typeOfMark } from "./slots.ts"

/** Memory that the graph no longer uses, but that work in progress may be reading. */
export interface Retired {
  readonly forward: readonly number[]
  readonly reverse: readonly number[]
  readonly names: readonly number[]
}

/** A stored tuple in the graph's form. */
export interface Stored {
  readonly slot: TupleSlot
  readonly context: StoredContext | undefined
}

/** In which of its two places a tuple is, or would be, in memory. */
export interface TuplePresence {
  readonly forward: boolean
  readonly reverse: boolean
}

const whole: TuplePresence = { forward: true, reverse: true }
const bytesPerSlot = 256

/** Names released in one turn: about a millisecond. */
const idsAtOnce = 1_024

/**
 * The tuples of a store at one revision, with names as integers and adjacency in both directions. It knows no model: slots are made of the
 * names in the tuples. So one graph serves every model of the store, and tuples that a model forbids are in slots that its plans never use.
 *
 * A graph is whole, or it holds pages. In a graph of pages an adjacency that is not in memory is a miss, and changes apply only to the
 * pages in memory.
 */
export class Graph {
  readonly forward = new Adjacency()
  readonly reverse = new Adjacency()
  /** The commit of its content. */
  at: Commit
  /** Incremented by everything that changes the graph: applied changes and installed pages. */
  epoch = 1
  /** Work is in progress: ids of released names are not reused before `reclaim`. */
  held = false
  /** Pages in memory of a partial graph; undefined when the graph is whole. */
  readonly pages: Pages | undefined
  /** Already counted as freed. */
  readonly leaving = new Leaving()
  readonly #slots = new Slots()
  readonly slots: readonly TupleSlot[] = this.#slots.all
  readonly names = new NameArena((name) => this.#slots.markOf(name))
  readonly #contexts = new Contexts()
  /** In a partial graph: the number of pages and list entries that use a name. In a whole graph a name without neighbours is removed. */
  readonly #uses = new IntColumn()
  /** Contexts of single tuples that have a page of their own. */
  readonly #pointContexts = new Map<string, StoredContext>()
  /** Names used by snapshots, with their reference counts. */
  readonly #kept = new Map<number, number>()
  #retiredNames: number[] = []
  #load: BulkLoad | undefined

  constructor(options: { readonly paged?: boolean | undefined; readonly at?: Commit } = {}) {
    this.at = options.at ?? firstCommit
    this.pages = options.paged === true ? new Pages() : undefined
  }

  get revision(): number {
    return this.at.revision
  }

  /** Number of tuples in the lists of their objects: all of them, or in a graph of pages those in memory. */
  get tuples(): number {
    return this.forward.count
  }

  /** Bytes in use, which the memory limit counts. */
  get bytes(): number {
    const { names, forward, reverse, pages } = this
    const slots = bytesPerSlot * this.slots.length
    const leaving = this.leaving.count === 0 ? 0 : (names.bytes / names.count) * this.leaving.count
    return (
      names.bytes -
      Math.floor(leaving) +
      forward.bytes +
      reverse.bytes +
      this.#contexts.bytes +
      slots +
      (this.#load?.bytes ?? 0) +
      (pages?.bytes ?? 0)
    )
  }

  /** Allocated bytes, in use or not. */
  get reservedBytes(): number {
    const lists = this.forward.reservedBytes + this.reverse.reservedBytes
    return this.#uses.bytes + lists + this.names.reservedBytes + this.#contexts.reservedBytes
  }

  /** Whether it will soon be as large as its addresses allow: 4 GB of names, or of lists in one direction. */
  get isNearlyFull(): boolean {
    return this.names.isNearlyFull || this.forward.isNearlyFull || this.reverse.isNearlyFull
  }

  /** The slot of these names; created when it is new. */
  slot(
    objectType: string,
    relation: string,
    subjectType: string,
    subjectRelation: string,
    condition: string,
  ): TupleSlot {
    const slots = this.#slots
    return slots.of(slots.typeId(objectType), relation, slots.typeId(subjectType), subjectRelation, condition)
  }

  /** The number of a type, as in the marks of `names`. */
  typeId(type: string): number {
    return this.#slots.typeId(type)
  }

  /** The name of a type by its number. */
  typeName(type: number): string {
    return this.#slots.typeName(type)
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    return this.#slots.relationId(relation)
  }

  /** The slot of a row, which need not be a tuple of this graph. */
  slotOfRow(row: TupleRow): TupleSlot {
    return this.#slots.ofRow(row)
  }

  #slotOf(object: number, subject: number, row: TupleRow): TupleSlot {
    const userset = isWildcard(row[2]) ? "*" : row[3]
    const { names } = this
    return this.#slots.of(
      typeOfMark(names.mark(object)),
      row[1],
      typeOfMark(names.mark(subject)),
      userset,
      row[4],
    )
  }

  /**
   * Takes up to `max` rows of a first load from a position of the text on; returns the position of the next one. Reading is not allowed until
   * the end of `finishLoad`.
   * @throws RangeError when the text is not one of rows
   */
  loadRows(text: PackedRows, from: number, max: number): number {
    const { names, forward, reverse } = this
    this.#load ??= new BulkLoad({ names, slots: this.#slots, contexts: this.#contexts, forward, reverse })
    return this.#load.take(text, from, max)
  }

  /** Builds the lists; yields every few milliseconds so that the caller can let others run. */
  *finishLoad(): Generator<void> {
    if (this.#load !== undefined) yield* this.#load.finish()
    this.#load = undefined
  }

  /**
   * Applies a written tuple; it replaces one with the same key and another condition. A partial graph applies it to the pages in memory.
   */
  write(row: TupleRow): void {
    const known = this.#lists(row)
    const point = this.point(row)
    if (!known.forward && !known.reverse && point === undefined) return
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    const slot = this.#slotOf(object, subject, row)
    // Keeps both names while their tuple moves to another slot.
    this.#use(object)
    this.#use(subject)
    if (slot.base.slots.length > 1) this.#erase(slot, object, subject)
    if (point !== undefined) this.setPoint(point, slot, row[5])
    if (known.forward) {
      if (this.forward.insert(object, slot.id, subject)) this.#use(subject)
      this.#contexts.set(object, slot.id, subject, row[5])
    }
    if (known.reverse && this.reverse.insert(subject, slot.id, object)) this.#use(object)
    this.#unuse(object)
    this.#unuse(subject)
  }

  /** In which of its two places the tuple, or its absence, is in memory. */
  holds(row: TupleRow): TuplePresence {
    const { forward, reverse } = this.#lists(row)
    return forward ? { forward, reverse } : { forward: this.point(row) !== undefined, reverse }
  }

  /** Which of the tuple's lists are in memory. */
  #lists(row: TupleRow): TuplePresence {
    const { pages } = this
    if (pages === undefined) return whole
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    const { relationId, subjectRelationId, base } = this.slotOfRow(row)
    return {
      forward:
        object >= 0 &&
        (pages.holds({ id: object, of: relationId, kind: forwardPage }) ||
          pages.holds({ id: object, of: base.id, kind: forwardPart })),
      reverse:
        subject >= 0 &&
        (pages.holds({ id: subject, of: subjectRelationId, kind: reversePage }) ||
          pages.holds({ id: subject, of: base.id, kind: reversePart })),
    }
  }

  /** The page of the single tuple, when it is in memory. */
  point(row: TupleRow): PagePlace | undefined {
    const { pages } = this
    if (pages === undefined || !pages.hasPoints) return undefined
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object < 0 || subject < 0) return undefined
    const place = { id: object, of: this.slotOfRow(row).base.id, kind: firstPoint + subject }
    return pages.holds(place) ? place : undefined
  }

  /** Sets the slot of a single tuple's page; undefined when the tuple does not exist. */
  setPoint(place: PagePlace, slot: TupleSlot | undefined, context: string): void {
    this.pages?.setPoint(place, slot?.id ?? -1)
    const key = pointKey(place.id, place.of, place.kind - firstPoint)
    if (context === "") this.#pointContexts.delete(key)
    else this.#pointContexts.set(key, JSON.parse(context) as StoredContext)
  }

  dropPoint({ id, of, kind }: PagePlace): void {
    this.#pointContexts.delete(pointKey(id, of, kind - firstPoint))
  }

  /** Applies the deletion of a tuple, whatever its condition was. */
  delete(row: TupleRow): void {
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object < 0 || subject < 0) return
    const point = this.point(row)
    if (point !== undefined) this.setPoint(point, undefined, "")
    this.#erase(this.slotOfRow(row), object, subject)
    if (this.pages !== undefined) return
    this.#forgetUnused(object)
    if (subject !== object) this.#forgetUnused(subject)
  }

  #erase(slot: TupleSlot, object: number, subject: number): void {
    for (const { id, condition } of slot.base.slots) {
      if (this.forward.remove(object, id, subject)) this.#unuse(subject)
      if (this.reverse.remove(subject, id, object)) this.#unuse(object)
      if (condition !== "") this.#contexts.set(object, id, subject, "")
    }
  }

  /** The current tuple with a row's key; undefined when it does not exist, or its pages are not in memory. */
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
    const single = this.pages?.point(object, this.slotOfRow(row).base.id, subject, this.epoch) ?? -1
    const slot = this.slots[single]
    return slot === undefined ? undefined : { slot, context: this.context(object, single, subject) }
  }

  /** The context stored with a tuple; undefined when it has none. */
  context(object: number, slot: number, subject: number): StoredContext | undefined {
    const context = this.#contexts.get(object, slot, subject)
    if (context !== undefined || this.#pointContexts.size === 0) return context
    return this.#pointContexts.get(pointKey(object, (this.slots[slot] as TupleSlot).base.id, subject))
  }

  /** `text` is `""` for no context. */
  setContext(object: number, slot: number, subject: number, text: string): void {
    this.#contexts.set(object, slot, subject, text)
  }

  /** While true, a list that changes is copied, and the old copy is kept until `reclaim`, because work in progress may be reading it. */
  share(shared: boolean): void {
    this.forward.lists.shared = shared
    this.reverse.lists.shared = shared
  }

  /** The memory given up since the last call while the graph was shared. */
  takeRetired(): Retired | undefined {
    const forward = this.forward.lists.takeRetired()
    const reverse = this.reverse.lists.takeRetired()
    const names = this.#retiredNames
    if (forward.length + reverse.length + names.length === 0) return undefined
    this.#retiredNames = []
    return { forward, reverse, names }
  }

  /** Frees memory that no work reads any more. */
  reclaim({ forward, reverse, names }: Retired): void {
    this.forward.lists.reclaim(forward)
    this.reverse.lists.reclaim(reverse)
    for (const id of names) this.names.release(id)
  }

  /** Whether the list of a slot of an object is in memory, and was at this epoch. */
  hasForward(object: number, slot: TupleSlot, epoch: number): boolean {
    const { pages } = this
    return (
      pages === undefined ||
      pages.has(object, slot.relationId, forwardPage, epoch) ||
      pages.has(object, slot.base.id, forwardPart, epoch)
    )
  }

  hasReverse(subject: number, slot: TupleSlot, epoch: number): boolean {
    const { pages } = this
    return (
      pages === undefined ||
      pages.has(subject, slot.subjectRelationId, reversePage, epoch) ||
      pages.has(subject, slot.base.id, reversePart, epoch)
    )
  }

  /** Whether a list is in memory by one of the two pages that can contain it. */
  isListed(id: number, slot: TupleSlot, forward: boolean): boolean {
    const { pages } = this
    const of = forward ? slot.relationId : slot.subjectRelationId
    return (
      pages !== undefined &&
      (pages.holds({ id, of, kind: forward ? forwardPage : reversePage }) ||
        pages.holds({ id, of: slot.base.id, kind: forward ? forwardPart : reversePart }))
    )
  }

  /** The id of a name; the name stays until it is released as often as it was retained. */
  retain(name: string): number {
    const id = this.names.intern(name)
    this.#use(id)
    return id
  }

  release(id: number): void {
    this.#unuse(id)
  }

  /** Releases the names of long lists that have left memory. */
  async sweep(turn: () => Promise<void>): Promise<void> {
    if (this.leaving.count > 0) await this.leaving.sweep((id) => this.#unuse(id), turn)
  }

  #use(id: number): void {
    if (this.pages !== undefined) this.#uses.set(id, this.#uses.get(id) + 1)
  }

  #unuse(id: number): void {
    if (this.pages === undefined) return
    this.#uses.set(id, this.#uses.get(id) - 1)
    this.#forgetUnused(id)
  }

  /** The id of a name that must be findable until `unkeep`, even when no tuple here contains it. */
  keep(name: string): number {
    const id = this.names.intern(name)
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

  /** Releases a name that nothing uses any more. */
  #forgetUnused(id: number): void {
    const used =
      this.pages === undefined
        ? !this.forward.isEmpty(id) || !this.reverse.isEmpty(id)
        : this.#uses.get(id) > 0
    if (used || this.#kept.has(id) || !this.names.isLinked(id)) return
    this.names.unlink(id)
    if (this.held) this.#retiredNames.push(id)
    else this.names.release(id)
  }
}

function pointKey(object: number, base: number, subject: number): string {
  return `${object}/${base}/${subject}`
}

/** Ids of long lists that have left memory, whose names are not released yet. Each takes a microsecond, and there may be a million. */
class Leaving {
  readonly #lists: Int32Array[] = []
  #sweeping = false
  #count = 0

  get count(): number {
    return this.#count
  }

  add(ids: Int32Array): void {
    this.#lists.push(ids)
    this.#count += ids.length
  }

  /** Releases them, some in each turn. */
  async sweep(release: (id: number) => void, turn: () => Promise<void>): Promise<void> {
    if (this.#sweeping) return
    this.#sweeping = true
    for (let ids = this.#lists[0]; ids !== undefined; ids = this.#lists[0]) {
      for (let at = 0; at < ids.length; at += idsAtOnce) {
        const some = ids.subarray(at, at + idsAtOnce)
        for (const id of some) release(id)
        this.#count -= some.length
        await turn()
      }
      this.#lists.shift()
    }
    this.#sweeping = false
  }
}
