import type { PackedRows, TupleRow, TupleShape, TupleSnapshot } from "../check/ports.ts"
import { packRows } from "../check/ports.ts"
import type { ModelPlan, RelationNode, RelationPlans } from "../plan/authorization-model.ts"
import type { ImpactSource } from "./store-impact.ts"

/** Tuples that are written and deleted together. No tuple is in both. */
export interface TupleEdit {
  readonly writes: readonly TupleRow[]
  /** Condition and context do not matter. */
  readonly deletes: readonly TupleRow[]
}

/** A store before and after an edit, as two models over the same tuples. */
export interface EditedStore {
  readonly before: ModelPlan
  readonly after: ModelPlan
  /** The tuples of a source with those of the edit. */
  source(stored: ImpactSource): ImpactSource
}

/** Relations of one type and name whose tuples are written or deleted, and the name under which these tuples are kept apart. */
interface Mark {
  readonly type: string
  readonly relation: string
  readonly name: string
  /** The side that reads them: before for deleted tuples, after for written ones. */
  readonly side: "before" | "after"
}

/**
 * Makes of an edit of tuples a change of the model, so that the comparison of two models tells what the edit does: tuples that are written get a relation
 * of their own, which only the later model reads wherever it reads their relation. Deleted ones get one that only the earlier model reads.
 */
export function editedStore(model: ModelPlan, edit: TupleEdit): EditedStore {
  const marks = marksOf(model.relations, edit)
  const nameOf = ([object, relation]: TupleRow, side: Mark["side"]) =>
    marks.find((mark) => mark.side === side && mark.relation === relation && mark.type === typeOf(object))
      ?.name
  const renamed = (row: TupleRow, side: Mark["side"]): TupleRow => {
    const [object, relation, ...rest] = row
    return [object, nameOf(row, side) ?? relation, ...rest]
  }
  const written = edit.writes.map((row) => renamed(row, "after"))
  const gone = new Map(edit.deletes.map((row) => [keyOf(row), renamed(row, "before")]))
  const deletedIn = (row: TupleRow): TupleRow => {
    const other = gone.get(keyOf(row))
    return other === undefined ? row : [row[0], other[1], row[2], row[3], row[4], row[5]]
  }
  return {
    before: { ...model, relations: readingMarks(model.relations, marks, "before") },
    after: { ...model, relations: readingMarks(model.relations, marks, "after") },
    source: (stored) => ({
      snapshot: (storeId, read) =>
        stored.snapshot(storeId, (snapshot) =>
          read(editedSnapshot(snapshot, written, [...gone.values()], deletedIn)),
        ),
      load: async (storeId, onBatch, terms) => {
        const commit = await stored.load(
          storeId,
          (rows, part) => onBatch(withoutDeleted(rows, edit.deletes, deletedIn), part),
          terms,
        )
        if (written.length > 0) await onBatch(packRows(written))
        return commit
      },
    }),
  }
}

function marksOf({ relations }: RelationPlans, { writes, deletes }: TupleEdit): readonly Mark[] {
  const used = new Set(relations.map(({ type, relation }) => `${type}#${relation}`))
  const marks = new Map<string, Mark>()
  const add = ([object, relation]: TupleRow, side: Mark["side"]) => {
    const type = typeOf(object)
    const key = `${side} ${type}#${relation}`
    if (marks.has(key)) return
    let name = `${relation}${side === "after" ? "+" : "-"}`
    while (used.has(`${type}#${name}`)) name += "'"
    used.add(`${type}#${name}`)
    marks.set(key, { type, relation, name, side })
  }
  for (const row of writes) add(row, "after")
  for (const row of deletes) add(row, "before")
  return [...marks.values()]
}

/** The plans of a model in which one side reads its marks wherever it reads the tuples of their relation. */
function readingMarks(plans: RelationPlans, marks: readonly Mark[], side: Mark["side"]): RelationPlans {
  const relations = [...plans.relations]
  const slots = [...plans.slots]
  /** By slot: those of the marks that are read like it. */
  const more = new Map<number, number[]>()
  for (const mark of marks) {
    const own = plans.relations.findIndex(
      ({ type, relation }) => type === mark.type && relation === mark.relation,
    )
    // By itself it grants nothing: the comparison tells of the relations that read it.
    relations.push({ type: mark.type, relation: mark.name, plan: { any: {} }, reach: [] })
    plans.slots.forEach(([relation, subject, condition], slot) => {
      if (relation !== own) return
      slots.push([relations.length - 1, subject, condition])
      if (mark.side === side) more.set(slot, [...(more.get(slot) ?? []), slots.length - 1])
    })
  }
  const reading = relations.map((each) => ({ ...each, plan: withSlots(each.plan, more) }))
  return { ...plans, relations: reading, slots }
}

function withSlots(node: RelationNode, more: ReadonlyMap<number, readonly number[]>): RelationNode {
  if ("all" in node) return { all: node.all.map((each) => withSlots(each, more)) }
  if ("but" in node) return { but: [withSlots(node.but[0], more), withSlots(node.but[1], more)] }
  const { direct, from, branches, ...rest } = node.any
  return {
    any: {
      ...rest,
      ...(direct && { direct: direct.flatMap((slot) => [slot, ...(more.get(slot) ?? [])]) }),
      ...(from && {
        from: from.flatMap(([slot, relation]): [number, number][] => [
          [slot, relation],
          ...(more.get(slot) ?? []).map((other): [number, number] => [other, relation]),
        ]),
      }),
      ...(branches && { branches: branches.map((each) => withSlots(each, more)) }),
    },
  }
}

/** A store with an edit. Of deleted tuples more may be told than exist: they are read again before they count. */
function editedSnapshot(
  stored: TupleSnapshot,
  written: readonly TupleRow[],
  gone: readonly TupleRow[],
  deletedIn: (row: TupleRow) => TupleRow,
): TupleSnapshot {
  const own = [...written, ...gone]
  const distinct = (names: readonly string[], others: readonly string[]) => [
    ...new Set([...names, ...others]),
  ]
  const withWritten = (rows: readonly TupleRow[], fits: (row: TupleRow) => boolean) => [
    ...rows.map(deletedIn),
    ...written.filter(fits),
  ]
  return {
    at: stored.at,
    objectsWith: async (shape, max) =>
      distinct(
        await stored.objectsWith(shape, max),
        own.filter((row) => hasShape(row, shape)).map(([object]) => object),
      ),
    objectsOf: async (type, relations, max) =>
      distinct(
        await stored.objectsOf(type, relations, max),
        own
          .filter(([object, relation]) => typeOf(object) === type && relations.includes(relation))
          .map(([object]) => object),
      ),
    objectsOfSets: async (type, relations, max) =>
      distinct(
        await stored.objectsOfSets(type, relations, max),
        own.filter((row) => typeOf(row[2]) === type && relations.includes(row[3])).map((row) => row[2]),
      ),
    tuplesOf: async (objects, relations, max) =>
      withWritten(
        await stored.tuplesOf(objects, relations, max),
        ([object, relation]) => objects.includes(object) && relations.includes(relation),
      ),
    tuplesOfSets: async (objects, max) =>
      withWritten(
        await stored.tuplesOfSets(objects, max),
        (row) => row[3] !== "" && objects.includes(row[2]),
      ),
    tuplesNaming: async (objects, max) =>
      withWritten(await stored.tuplesNaming(objects, max), (row) => objects.includes(row[2])),
  }
}

/** Whether a tuple may have a shape; its condition is not compared. */
function hasShape([object, relation, subject, subjectRelation]: TupleRow, shape: TupleShape): boolean {
  const set = subject.endsWith(":*") ? "*" : subjectRelation
  return (
    relation === shape.relation &&
    typeOf(object) === shape.objectType &&
    typeOf(subject) === shape.subjectType &&
    set === shape.subjectRelation
  )
}

/** Rows of a load, in which deleted tuples have the relation of their mark. */
function withoutDeleted(
  rows: PackedRows,
  deletes: readonly TupleRow[],
  deletedIn: (row: TupleRow) => TupleRow,
): PackedRows {
  let text = rows
  for (const row of deletes) {
    const start = packedKey(row)
    const at = text.startsWith(start) ? 0 : text.indexOf(`\n${start}`) + 1
    if (at > 0 || text.startsWith(start))
      text = text.slice(0, at) + packedKey(deletedIn(row)) + text.slice(at + start.length)
  }
  return text
}

/** The beginning of a packed row: object, subject, relation and the subject's relation. */
const packedKey = ([object, relation, subject, subjectRelation]: TupleRow): string =>
  `${object}\t${subject}\t${relation}\t${subjectRelation}\t`

const keyOf = (row: TupleRow): string => row.slice(0, 4).join("\t")

function typeOf(object: string): string {
  return object.slice(0, object.indexOf(":"))
}
