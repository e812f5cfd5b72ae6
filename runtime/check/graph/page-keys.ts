import type { PageKey, TupleRow } from "../ports.ts"
import { firstPoint, forwardPage, forwardPart, type PagePlace, reversePage, reversePart } from "./pages.ts"
import type { Base, TupleSlot } from "./slots.ts"

/** The parts of a graph that are needed to find the place of a page. */
interface Numbers {
  relationId(relation: string): number
  slotOfRow(row: TupleRow): TupleSlot
}

/** The place of a page in memory. `idOf` returns the ids of names, -1 for an unknown name, which means that there is no place. */
export function placeOf(
  key: PageKey,
  numbers: Numbers,
  idOf: (name: string) => number,
): PagePlace | undefined {
  const id = idOf(key.direction === "reverse" ? key.subject : key.object)
  if (id < 0) return undefined
  if (key.direction === "point") {
    const subject = idOf(key.subject)
    const point = rowOfPoint(key)
    if (subject < 0 || point === undefined) return undefined
    return { id, of: numbers.slotOfRow(point).base.id, kind: firstPoint + subject }
  }
  const base = baseOf(key, numbers)
  if (key.direction === "forward")
    return base === undefined
      ? { id, of: numbers.relationId(key.relation), kind: forwardPage }
      : { id, of: base.id, kind: forwardPart }
  return base === undefined
    ? { id, of: numbers.relationId(key.subjectRelation), kind: reversePage }
    : { id, of: base.id, kind: reversePart }
}

/** For a part: the base of its tuples. */
function baseOf(key: PageKey, numbers: Numbers): Base | undefined {
  if (key.direction === "point" || key.among === undefined) return undefined
  if (key.direction === "reverse") {
    const object = `${key.among.objectType}:`
    return numbers.slotOfRow([object, key.among.relation, key.subject, key.subjectRelation, "", ""]).base
  }
  const { subjectType, subjectRelation } = key.among
  const subject = subjectRelation === "*" ? `${subjectType}:*` : `${subjectType}:`
  const own = subjectRelation === "*" ? "" : subjectRelation
  return numbers.slotOfRow([key.object, key.relation, subject, own, "", ""]).base
}

/** The key of a single tuple, as a row without a condition. */
export function rowOfPoint(key: PageKey): TupleRow | undefined {
  if (key.direction !== "point") return undefined
  return [key.object, key.relation, key.subject, key.subjectRelation, "", ""]
}

/** Whether a page of a name contains the content of this slot. */
export function coveredBy(slot: TupleSlot, { of, kind }: PagePlace): boolean {
  if (kind === forwardPage) return slot.relationId === of
  return (kind === reversePage ? slot.subjectRelationId : slot.base.id) === of
}

/** Whether a tuple belongs to a page, by its names. */
export function covers(key: PageKey, row: TupleRow, numbers: Numbers): boolean {
  const [object, relation, subject, subjectRelation] = row
  const ofObject = key.direction === "reverse" || (object === key.object && relation === key.relation)
  const ofSubject =
    key.direction === "forward" || (subject === key.subject && subjectRelation === key.subjectRelation)
  if (!ofObject || !ofSubject) return false
  const base = baseOf(key, numbers)
  return base === undefined || numbers.slotOfRow(row).base === base
}

/** A page's tuples, as text for people. */
export function pageText(key: PageKey): string {
  if (key.direction !== "reverse") return `${key.object}#${key.relation}`
  return `${key.subject}${key.subjectRelation === "" ? "" : `#${key.subjectRelation}`}`
}
