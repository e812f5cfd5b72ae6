import { type Commit, firstCommit, type TupleRow } from "../ports.ts"
import { Adjacency } from "./adjacency.ts"
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

/** What the graph no longer refers to, but work under way may be reading. */
export interface Retired {
  readonly forward: readonly number[]
  readonly reverse: readonly number[]
  readonly names: readonly number[]
}

/** A stored tuple as the graph has it. */
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

/** Names given back in a turn: about a millisecond. */
const idsAtOnce = 1_024

/**
 * The tuples of a store at one revision: names as integers, adjacency both ways. It knows no model: slots are made of the names in the
 * tuples, so that one graph serves every model of the store, and tuples a model forbids lie in slots its plans never name.
 *
 * A graph is whole, or it holds pages: then an adjacency that is not in memory is a miss, and changes are applied only to what is.
 */
export class Graph {
  readonly forward = new Adjacency()
  readonly reverse = new Adjacency()
  /** The commit it stands at. */
  at: Commit
  /** Counts what makes the graph another: changes applied, pages installed. */
  epoch = 1
  /** Work is under way: ids of names that are given up are not given to others before `reclaim`. */
  held = false
  /** Pages in memory of a partial graph; undefined when the graph is whole. */
  readonly pages: Pages | undefined
  /** Counted as if it were gone. */
  readonly leaving = new Leaving()
  readonly #slots = new Slots()
  readonly slots: readonly TupleSlot[] = this.#slots.all
  readonly names = new NameArena((name) => this.#slots.markOf(name))
  readonly #contexts = new Contexts()
  /** Of a partial graph: how many pages and list entries a name stands for. In a whole one a name without neighbours is none. */
  readonly #uses = new IntColumn()
  /** Contexts of single tuples that have a page of their own. */
  readonly #pointContexts = new Map<string, StoredContext>()
  /** Names that snapshots speak of, with how often they do. */
  readonly #kept = new Map<number, number>()
  #retiredNames: number[] = []

  constructor(options: { readonly paged?: boolean | undefined; readonly at?: Commit } = {}) {
    this.at = options.at ?? firstCommit
    this.pages = options.paged === true ? new Pages() : undefined
  }

  get revision(): number {
    return this.at.revision
  }

  /** Bytes in use: what the memory budget counts. */
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
      (pages?.bytes ?? 0)
    )
  }

  /** Bytes held, in use or not. */
  get reservedBytes(): number {
    const lists = this.forward.reservedBytes + this.reverse.reservedBytes
    return this.#uses.bytes + lists + this.names.reservedBytes + this.#contexts.reservedBytes
  }

  /** The slot of these names; made when it is new. */
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

  /** The number of a type, as the marks of `names` have it. */
  typeId(type: string): number {
    return this.#slots.typeId(type)
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    return this.#slots.relationId(relation)
  }

  /** The slot of a row that may be no tuple of this graph. */
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
    const known = this.#lists(row)
    const point = this.point(row)
    if (!known.forward && !known.reverse && point === undefined) return
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    const slot = this.#slotOf(object, subject, row)
    // So that neither name is given up while its tuple changes place.
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

  /** In which of its two places is a tuple, or is it known not to be, in memory? */
  holds(row: TupleRow): TuplePresence {
    const { forward, reverse } = this.#lists(row)
    return forward ? { forward, reverse } : { forward: this.point(row) !== undefined, reverse }
  }

  /** Which of the lists it stands in are in memory. */
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

  /** The page of the tuple alone, when it is in memory. */
  point(row: TupleRow): PagePlace | undefined {
    const { pages } = this
    if (pages === undefined || !pages.hasPoints) return undefined
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object < 0 || subject < 0) return undefined
    const place = { id: object, of: this.slotOfRow(row).base.id, kind: firstPoint + subject }
    return pages.holds(place) ? place : undefined
  }

  /** In which slot the tuple of such a page stands, undefined for none. */
  setPoint(place: PagePlace, slot: TupleSlot | undefined, context: string): void {
    this.pages?.setPoint(place, slot?.id ?? -1)
    const key = pointKey(place.id, place.of, place.kind - firstPoint)
    if (context === "") this.#pointContexts.delete(key)
    else this.#pointContexts.set(key, JSON.parse(context) as StoredContext)
  }

  dropPoint({ id, of, kind }: PagePlace): void {
    this.#pointContexts.delete(pointKey(id, of, kind - firstPoint))
  }

  /** A tuple deleted, whatever its condition was. */
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

  /** `text` is `""` for none. */
  setContext(object: number, slot: number, subject: number, text: string): void {
    this.#contexts.set(object, slot, subject, text)
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

  /** Is the list of who stands in a slot of an object in memory, and was it by this epoch? */
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

  /** Is a list in memory by either of the pages it may be in? */
  isListed(id: number, slot: TupleSlot, forward: boolean): boolean {
    const { pages } = this
    const of = forward ? slot.relationId : slot.subjectRelationId
    return (
      pages !== undefined &&
      (pages.holds({ id, of, kind: forward ? forwardPage : reversePage }) ||
        pages.holds({ id, of: slot.base.id, kind: forward ? forwardPart : reversePart }))
    )
  }

  /** The id of a name that stays as long as it is not released as often. */
  retain(name: string): number {
    const id = this.names.intern(name)
    this.#use(id)
    return id
  }

  release(id: number): void {
    this.#unuse(id)
  }

  /** Gives the names of long lists back that have left memory. */
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

  /** The id of a name that is to be found, whether a tuple here has it or not, until it is given to `unkeep`. */
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

  /** Gives a name up that stands for nothing any more. */
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

/** Ids of a long list that has left memory, whose names are yet to be given back: each takes a microsecond, and there may be a million. */
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

  /** Gives them back, some in each turn. */
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
