import { splitObject } from "../object-name.ts"
import type { TupleRow } from "../ports.ts"

/** The tuples of one restriction. `subjectRelation` is `""` for objects and `*` for the wildcard; `condition` is `""` for none. */
export interface TupleSlot {
  readonly id: number
  readonly objectType: string
  readonly relation: string
  readonly subjectType: string
  readonly subjectRelation: string
  readonly condition: string
  /** The slot without its condition: a tuple's key is in only one slot of a base. */
  readonly base: Base
  /** For pages: one number per relation name, one per subject relation name. */
  readonly relationId: number
  readonly subjectRelationId: number
}

export interface Base {
  readonly id: number
  readonly slots: TupleSlot[]
}

/** The slots of a graph, made of the names in its tuples and in the models of its questions. Slots are never removed. */
export class Slots {
  readonly all: TupleSlot[] = []
  /** By object type, relation and subject type, which are small numbers. */
  readonly #byTypes = new Map<number, TupleSlot[]>()
  readonly #bases = new Map<string, Base>()
  readonly #typeIds = new Map<string, number>()
  readonly #types: string[] = []
  readonly #relationIds = new Map<string, number>()

  /** The slot of these types (by number) and names; created when it is new. */
  of(
    objectType: number,
    relation: string,
    subjectType: number,
    subjectRelation: string,
    condition: string,
  ): TupleSlot {
    const relationId = this.relationId(relation)
    const key = (objectType * 0x2_0000 + relationId) * 0x2_0000 + subjectType
    const known = this.#byTypes.get(key) ?? []
    for (const slot of known)
      if (slot.subjectRelation === subjectRelation && slot.condition === condition) return slot
    const baseKey = `${key}#${subjectRelation}`
    const base = this.#bases.get(baseKey) ?? { id: this.#bases.size, slots: [] }
    this.#bases.set(baseKey, base)
    const slot: TupleSlot = {
      id: this.all.length,
      objectType: this.#types[objectType] ?? "",
      relation,
      subjectType: this.#types[subjectType] ?? "",
      subjectRelation,
      condition,
      base,
      relationId,
      subjectRelationId: this.relationId(subjectRelation === "*" ? "" : subjectRelation),
    }
    this.all.push(slot)
    base.slots.push(slot)
    known.push(slot)
    this.#byTypes.set(key, known)
    return slot
  }

  ofRow([object, relation, subject, subjectRelation, condition]: TupleRow): TupleSlot {
    const userset = isWildcard(subject) ? "*" : subjectRelation
    return this.of(this.typeOfName(object), relation, this.typeOfName(subject), userset, condition)
  }

  /** The number of a type. */
  typeId(type: string): number {
    const known = this.#typeIds.get(type)
    if (known !== undefined) return known
    this.#types.push(type)
    this.#typeIds.set(type, this.#types.length - 1)
    return this.#types.length - 1
  }

  typeName(type: number): string {
    return this.#types[type] ?? ""
  }

  /** The number of the type of `type:id`. */
  typeOfName(name: string): number {
    return this.typeId(name.slice(0, name.indexOf(":")))
  }

  /** The mark of a name: its type's number, and whether it is an object. */
  markOf(name: string): number {
    const parts = splitObject(name)
    if (parts === undefined) return 2 * this.typeOfName(name)
    return 2 * this.typeId(parts.type) + (parts.id === "*" ? 0 : 1)
  }

  /** A number for a relation's name, so that (object, relation) is one number too. */
  relationId(relation: string): number {
    const known = this.#relationIds.get(relation)
    if (known !== undefined) return known
    const id = this.#relationIds.size
    this.#relationIds.set(relation, id)
    return id
  }
}

/** The type's number in a mark. */
export function typeOfMark(mark: number): number {
  return mark >>> 1
}

/** Whether a mark is that of `type:id`, and not of a wildcard or an invalid name. */
export function isObjectMark(mark: number): boolean {
  return (mark & 1) === 1
}

/** `type:*`. */
export function isWildcard(name: string): boolean {
  return name.charCodeAt(name.length - 1) === 42 && name.charCodeAt(name.length - 2) === 58
}
