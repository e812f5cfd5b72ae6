import type { Commit, TupleRow, TupleShape, TupleSnapshot } from "../check/ports.ts"
import { cursorOf, fetchAll } from "./cursor.ts"
import type { Database, PreparedStatement, Queryable, SqlRow } from "./database.ts"
import { type CommitRow, commitOf, selectNewest } from "./read-commits.ts"
import { tupleColumns } from "./read-tuples.ts"

const objectsWith = cursorOf(
  "snapshot-objects-with",
  `select distinct object from sallyport.tuples where store_id = $1 and object >= $2 and object < $3 and relation = $4
    and subject >= $5 and subject < $6 and subject_relation = $7 and condition = $8 limit $9`,
)
const objectsOf = cursorOf(
  "snapshot-objects-of",
  `select distinct object from sallyport.tuples where store_id = $1 and object >= $2 and object < $3 and relation = any($4::text[]) limit $5`,
)
const objectsOfSets = cursorOf(
  "snapshot-objects-of-sets",
  `select distinct subject from sallyport.tuples
    where store_id = $1 and subject >= $2 and subject < $3 and subject_relation = any($4::text[]) limit $5`,
)
const tuplesOf = cursorOf(
  "snapshot-tuples-of",
  `select ${tupleColumns} from sallyport.tuples where store_id = $1 and object = any($2::text[]) and relation = any($3::text[]) limit $4`,
)
// Looked up laterally: for a cursor the planner expects that few rows are fetched, and would read the whole index in its order.
const tuplesOfSets = cursorOf(
  "snapshot-tuples-of-sets",
  `select found.* from unnest($2::text[]) as o(name)
  cross join lateral (select distinct on (subject_relation) ${tupleColumns} from sallyport.tuples
    where store_id = $1 and subject = o.name and subject_relation > '' order by subject_relation, object, relation) found limit $3`,
)
const tuplesNaming = cursorOf(
  "snapshot-tuples-naming",
  `select ${tupleColumns} from sallyport.tuples where store_id = $1 and subject = any($2::text[]) limit $3`,
)
/**
 * Reads parts of a store in one snapshot; resolves to what `read` does. Undefined when the server has no cursors.
 * @throws StoreGone · SourceUnavailable
 */
export async function readSnapshot<T>(
  database: Database,
  storeId: string,
  read: (snapshot: TupleSnapshot) => Promise<T>,
): Promise<T | undefined> {
  if (database.missing.has("cursors")) return undefined
  return database.transaction(
    async (transaction) => {
      const at = commitOf(await transaction.query<CommitRow>(selectNewest, [storeId]), storeId)
      return read(snapshotIn(transaction, storeId, at))
    },
    { snapshot: true },
  )
}

function snapshotIn(transaction: Queryable, storeId: string, at: Commit): TupleSnapshot {
  const read = async <Row extends SqlRow>(statement: PreparedStatement, parameters: readonly unknown[]) => {
    const all: Row[] = []
    await fetchAll<Row>(transaction, [statement, [storeId, ...parameters]], (rows) => {
      for (const row of rows) all.push(row)
    })
    return all
  }
  const names = async (statement: PreparedStatement, parameters: readonly unknown[]) =>
    (await read<[string]>(statement, parameters)).map(([name]) => name)
  return {
    at,
    objectsWith: (shape, max) =>
      names(objectsWith, [
        ...range(shape.objectType),
        shape.relation,
        ...subjectsOf(shape),
        shape.condition,
        max,
      ]),
    objectsOf: (type, relations, max) => names(objectsOf, [...range(type), relations, max]),
    objectsOfSets: (type, relations, max) => names(objectsOfSets, [...range(type), relations, max]),
    tuplesOf: (objects, relations, max) => read<TupleRow & SqlRow>(tuplesOf, [objects, relations, max]),
    tuplesOfSets: (objects, max) => read<TupleRow & SqlRow>(tuplesOfSets, [objects, max]),
    tuplesNaming: (objects, max) => read<TupleRow & SqlRow>(tuplesNaming, [objects, max]),
  }
}

/** The names of a type's objects, in the order of bytes: the first one, and the first that does not belong to it. */
function range(type: string): [from: string, to: string] {
  return [`${type}:`, `${type};`]
}

function subjectsOf({
  subjectType,
  subjectRelation,
}: TupleShape): [from: string, to: string, relation: string] {
  if (subjectRelation !== "*") return [...range(subjectType), subjectRelation]
  const everybody = `${subjectType}:*`
  return [everybody, `${everybody}\u0001`, ""]
}
