import { Adjacency } from "./adjacency.ts"
import { IntColumn } from "./int-column.ts"
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
  /** Slots by object type, relation and subject type, which are small numbers. */
  readonly #slotsByTypes = new Map<number, Slot[]>()
  readonly #bases = new Map<string, Base>()
  readonly #typeIds = new Map<string, number>()
  readonly #types: string[] = []
  /** For each name the number of its type, plus 1. */
  readonly #typeOfName = new IntColumn()
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
    return this.#slot(
      this.#typeId(objectType),
      relation,
      this.#typeId(subjectType),
      subjectRelation,
      condition,
    )
  }

  #slot(
    objectType: number,
    relation: string,
    subjectType: number,
    subjectRelation: string,
    condition: string,
  ): Slot {
    const relationId = this.relationId(relation)
    const key = (objectType * 0x2_0000 + relationId) * 0x2_0000 + subjectType
    const known = this.#slotsByTypes.get(key) ?? []
    for (const slot of known)
      if (slot.subjectRelation === subjectRelation && slot.condition === condition) return slot
    const baseKey = `${key}#${subjectRelation}`
    const base = this.#bases.get(baseKey) ?? { id: this.#bases.size, slots: [] }
    this.#bases.set(baseKey, base)
    const slot: Slot = {
      id: this.slots.length,
      objectType: this.#types[objectType] ?? "",
      relation,
      subjectType: this.#types[subjectType] ?? "",
      subjectRelation,
      condition,
      base,
      relationId,
      subjectRelationId: this.relationId(subjectRelation === "*" ? "" : subjectRelation),
    }
    this.slots.push(slot)
    base.slots.push(slot)
    known.push(slot)
    this.#slotsByTypes.set(key, known)
    return slot
  }

  #typeId(type: string): number {
    const known = this.#typeIds.get(type)
    if (known !== undefined) return known
    this.#types.push(type)
    this.#typeIds.set(type, this.#types.length - 1)
    return this.#types.length - 1
  }

  /** The number of a name's type: taken out of the name once. */
  #typeOf(id: number, name: string): number {
    const known = this.#typeOfName.get(id)
    if (known !== 0) return known - 1
    const type = this.#typeId(name.slice(0, name.indexOf(":")))
    this.#typeOfName.set(id, type + 1)
    return type
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    const known = this.#relationIds.get(relation)
    if (known !== undefined) return known
    const id = this.#relationIds.size
    this.#relationIds.set(relation, id)
    return id
  }

  /** The slot of a row that may be no tuple of this graph. */
  slotOfRow([object, relation, subject, subjectRelation, condition]: TupleRow): Slot {
    return this.slot(
      object.slice(0, object.indexOf(":")),
      relation,
      subject.slice(0, subject.indexOf(":")),
      isWildcard(subject) ? "*" : subjectRelation,
      condition,
    )
  }

  #slotOf(object: number, subject: number, row: TupleRow): Slot {
    return this.#slot(
      this.#typeOf(object, row[0]),
      row[1],
      this.#typeOf(subject, row[2]),
      isWildcard(row[2]) ? "*" : row[3],
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
    const object = this.names.intern(row[0])
    const subject = this.names.intern(row[2])
    const slot = this.#slotOf(object, subject, row)
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
      const object = this.names.intern(row[0])
      const subject = this.names.intern(row[2])
      const slot = this.#slotOf(object, subject, row)
      if (forward) {
        this.forward.insert(object, slot.id, subject)
        this.#setContext(object, slot.id, subject, row[5])
      } else this.reverse.insert(subject, slot.id, object)
    }
  }
}

/** `type:*`. */
function isWildcard(name: string): boolean {
  return name.charCodeAt(name.length - 1) === 42 && name.charCodeAt(name.length - 2) === 58
}

/** Ids are below 2^31 and relation names few, so this is exact. */
function pageOf(id: number, relation: number): number {
  return id * 0x10_0000 + relation
}
