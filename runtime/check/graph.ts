import { Adjacency } from "./adjacency.ts"
import { Names } from "./names.ts"
import type { PageKey, TupleRow } from "./ports.ts"

/** The tuples of one restriction: `subjectRelation` is `""` for objects, `*` for the wildcard, `condition` `""` for none. */
export interface Slot {
  readonly id: number
  readonly objectType: string
  readonly relation: string
  readonly subjectType: string
  readonly subjectRelation: string
  readonly condition: string
  /** The slot without its condition: a tuple's key stands in one slot of a base only. */
  readonly base: Base
  /** For pages: one number per relation name, one per subject relation name. */
  readonly relationId: number
  readonly subjectRelationId: number
}

export interface Base {
  readonly id: number
  readonly slots: Slot[]
}

/** A condition's context stored with a tuple, parsed when it is first needed. */
export class StoredContext {
  readonly text: string
  #value: Readonly<Record<string, unknown>> | undefined

  constructor(text: string) {
    this.text = text
  }

  get value(): Readonly<Record<string, unknown>> {
    this.#value ??= JSON.parse(this.text) as Readonly<Record<string, unknown>>
    return this.#value
  }
}

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
  readonly slots: Slot[] = []
  revision = 0
  /** Loaded pages of a partial graph; undefined when the graph is whole. */
  readonly pages: { readonly forward: Set<number>; readonly reverse: Set<number> } | undefined
  readonly #slotIds = new Map<string, number>()
  readonly #bases = new Map<string, Base>()
  readonly #relationIds = new Map<string, number>()
  readonly #contexts = new Map<string, StoredContext>()

  constructor(options: { readonly paged?: boolean | undefined } = {}) {
    this.pages = options.paged === true ? { forward: new Set(), reverse: new Set() } : undefined
  }

  /** The slot of these names; made when it is new. */
  slot(
    objectType: string,
    relation: string,
    subjectType: string,
    subjectRelation: string,
    condition: string,
  ): Slot {
    const baseKey = `${objectType}#${relation}@${subjectType}#${subjectRelation}`
    const key = `${baseKey} ${condition}`
    const known = this.#slotIds.get(key)
    if (known !== undefined) return this.slots[known] as Slot
    const base = this.#bases.get(baseKey) ?? { id: this.#bases.size, slots: [] }
    this.#bases.set(baseKey, base)
    const slot: Slot = {
      id: this.slots.length,
      objectType,
      relation,
      subjectType,
      subjectRelation,
      condition,
      base,
      relationId: this.relationId(relation),
      subjectRelationId: this.relationId(subjectRelation === "*" ? "" : subjectRelation),
    }
    this.slots.push(slot)
    base.slots.push(slot)
    this.#slotIds.set(key, slot.id)
    return slot
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    const known = this.#relationIds.get(relation)
    if (known !== undefined) return known
    const id = this.#relationIds.size
    this.#relationIds.set(relation, id)
    return id
  }

  slotOfRow(row: TupleRow): Slot {
    const [object, relation, subject, subjectRelation, condition] = row
    const colon = subject.indexOf(":")
    const wildcard = subject.length === colon + 2 && subject.charCodeAt(colon + 1) === 42
    return this.slot(
      object.slice(0, object.indexOf(":")),
      relation,
      subject.slice(0, colon),
      wildcard ? "*" : subjectRelation,
      condition,
    )
  }

  /** Takes one row of a first load; between `startLoad` and the end of `finishLoad` nothing may be asked. */
  loadRow(row: TupleRow): void {
    const slot = this.slotOfRow(row)
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    this.forward.insert(object, slot.id, subject)
    this.reverse.insert(subject, slot.id, object)
    if (row[5] !== "") this.#setContext(object, slot.id, subject, row[5])
  }

  startLoad(): void {
    this.forward.startBulk()
    this.reverse.startBulk()
  }

  /** Sorts what was loaded, yielding after every few thousand names so that the caller can let others run. */
  *finishLoad(): Generator<void> {
    const step = 4096
    for (let from = 0; from < this.names.count; from += step) {
      const to = Math.min(from + step, this.names.count)
      this.forward.sort(from, to)
      this.reverse.sort(from, to)
      yield
    }
    this.forward.endBulk()
    this.reverse.endBulk()
  }

  /** A tuple written: it replaces one of the same key under another condition. A partial graph takes what its pages cover. */
  write(row: TupleRow): void {
    const slot = this.slotOfRow(row)
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    if (slot.base.slots.length > 1) this.#erase(slot, object, subject)
    if (this.hasForward(object, slot)) {
      this.forward.insert(object, slot.id, subject)
      this.#setContext(object, slot.id, subject, row[5])
    }
    if (this.hasReverse(subject, slot)) this.reverse.insert(subject, slot.id, object)
  }

  /** A tuple deleted, whatever its condition was. */
  delete(row: TupleRow): void {
    const object = this.names.find(row[0])
    const subject = this.names.find(row[2])
    if (object >= 0 && subject >= 0) this.#erase(this.slotOfRow(row), object, subject)
  }

  #erase(slot: Slot, object: number, subject: number): void {
    for (const { id, condition } of slot.base.slots) {
      this.forward.remove(object, id, subject)
      this.reverse.remove(subject, id, object)
      if (condition !== "") this.#contexts.delete(`${object}/${id}/${subject}`)
    }
  }

  /** The context stored with a tuple; undefined when it has none. */
  context(object: number, slot: number, subject: number): StoredContext | undefined {
    return this.#contexts.get(`${object}/${slot}/${subject}`)
  }

  #setContext(object: number, slot: number, subject: number, text: string): void {
    if (text === "") this.#contexts.delete(`${object}/${slot}/${subject}`)
    else this.#contexts.set(`${object}/${slot}/${subject}`, new StoredContext(text))
  }

  hasForward(object: number, slot: Slot): boolean {
    return this.pages?.forward.has(pageOf(object, slot.relationId)) ?? true
  }

  hasReverse(subject: number, slot: Slot): boolean {
    return this.pages?.reverse.has(pageOf(subject, slot.subjectRelationId)) ?? true
  }

  hasReversePage(subject: number, subjectRelation: string): boolean {
    return this.pages?.reverse.has(pageOf(subject, this.relationId(subjectRelation))) ?? true
  }

  /** Installs a page read at this graph's revision. A page without rows is one too: absence is known then. */
  install(key: PageKey, rows: readonly TupleRow[]): void {
    if (this.pages === undefined) return
    const forward = key.direction === "forward"
    const id = this.names.intern(forward ? key.object : key.subject)
    const page = pageOf(id, this.relationId(forward ? key.relation : key.subjectRelation))
    const loaded = forward ? this.pages.forward : this.pages.reverse
    if (loaded.has(page)) return
    loaded.add(page)
    for (const row of rows) {
      const slot = this.slotOfRow(row)
      const object = this.names.intern(row[0])
      const subject = this.names.intern(row[2])
      if (forward) {
        this.forward.insert(object, slot.id, subject)
        this.#setContext(object, slot.id, subject, row[5])
      } else this.reverse.insert(subject, slot.id, object)
    }
  }
}

/** Ids are below 2^31 and relation names few, so this is exact. */
function pageOf(id: number, relation: number): number {
  return id * 0x10_0000 + relation
}
