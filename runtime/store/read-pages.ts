import type { PageBatch, PageKey, TupleRow } from "../check/ports.ts"
import type { PreparedStatement, Queryable } from "./database.ts"
import { type CommitRow, commitOf, stampOfStore } from "./read-commits.ts"
import { tupleColumns } from "./read-tuples.ts"

/** A page with more rows is not read, because installing it would block the event loop too long. */
const pageRowsMax = 20_000
/** Maximum number of rows for all pages of one statement. */
const answerRowsMax = 40_000

interface PageKind {
  readonly direction: PageKey["direction"]
  readonly part: boolean
  /** Names of the parameters after the ordinal, see `pageParameters`. */
  readonly columns: readonly string[]
  readonly where: string
}

/** The kinds of pages in the order of the statement's parameters. */
const kinds: readonly PageKind[] = [
  {
    direction: "forward",
    part: false,
    columns: ["object", "relation"],
    where: "t.object = k.object and t.relation = k.relation",
  },
  {
    direction: "reverse",
    part: false,
    columns: ["subject", "subject_relation"],
    where: "t.subject = k.subject and t.subject_relation = k.subject_relation",
  },
  {
    direction: "forward",
    part: true,
    columns: ["object", "relation", "low", "high", "subject_relation"],
    where: `t.object = k.object and t.relation = k.relation and t.subject >= k.low and t.subject < k.high
      and t.subject_relation = k.subject_relation`,
  },
  {
    direction: "reverse",
    part: true,
    columns: ["subject", "subject_relation", "low", "high", "relation"],
    where: `t.subject = k.subject and t.subject_relation = k.subject_relation and t.object >= k.low and t.object < k.high
      and t.relation = k.relation`,
  },
  {
    direction: "point",
    part: false,
    columns: ["object", "relation", "subject", "subject_relation"],
    where: `t.object = k.object and t.relation = k.relation and t.subject = k.subject
      and t.subject_relation = k.subject_relation`,
  },
]

type PageRow = [ordinal: number, revision: number, ...row: TupleRow]

/** Reads pages of a store and its newest commit in one snapshot. Pages beyond the maximum of one statement are undefined. */
export async function readPages(
  database: Queryable,
  storeId: string,
  keys: readonly PageKey[],
): Promise<PageBatch> {
  const columns = kinds.map(({ columns: { length } }): (string | number)[][] =>
    Array.from({ length: length + 1 }, () => []),
  )
  keys.forEach((key, ordinal) => {
    const own = columns[kindOf(key)]
    for (const [at, value] of [ordinal, ...pageParameters(key)].entries()) own?.[at]?.push(value)
  })
  const wanted = kinds.flatMap((_, kind) => ((columns[kind]?.[0]?.length ?? 0) > 0 ? [kind] : []))
  const rows = await database.query<PageRow>(statementOf(wanted), [
    storeId,
    ...wanted.flatMap((kind) => columns[kind]),
  ])
  const found = keys.map((): TupleRow[] => [])
  const newest: CommitRow[] = []
  for (const [ordinal, revision, ...row] of rows) {
    if (ordinal < 0) newest.push([revision, row[0]])
    else found[ordinal]?.push(row)
  }
  // The result was cut within the page of its last row; later pages may have rows that were not read.
  const full = rows.length === answerRowsMax ? (rows.at(-1)?.[0] ?? 0) : Number.POSITIVE_INFINITY
  return {
    at: commitOf(newest, storeId),
    pages: found.map((page, place) =>
      page.length > pageRowsMax ? "too many" : place >= full ? undefined : page,
    ),
  }
}

/** The index in `kinds`. */
function kindOf(key: PageKey): number {
  const isPart = key.direction !== "point" && key.among !== undefined
  return kinds.findIndex(({ direction, part }) => direction === key.direction && part === isPart)
}

const statements = new Map<string, PreparedStatement>()

function statementOf(wanted: readonly number[]): PreparedStatement {
  const name = `source-pages-${wanted.join("-")}`
  const known = statements.get(name)
  if (known !== undefined) return known
  const statement = { name, text: textOf(wanted) }
  statements.set(name, statement)
  return statement
}

/**
 * The first row contains the store's newest commit (its stamp in place of an object); each other row belongs to the page with its ordinal.
 * One statement has one snapshot, so the pages belong to that commit. Lateral and with a limit, so that the server looks each key up by
 * index and reads no more than one page's maximum. The server plans a statement for the values of its arrays whenever it sees them, and
 * planning takes four times as long as reading the pages. `(select …)` hides them, so that one plan is made and used again.
 */
function textOf(wanted: readonly number[]): string {
  let parameters = 1
  const pagesOf = wanted.map((at) => {
    const { columns, where } = kinds[at] as PageKind
    const arrays = ["integer", ...columns.map(() => "text")].map(
      (type) => `(select $${++parameters}::${type}[])`,
    )
    return `
  union all
  select k.ordinal, 0, t.* from unnest(${arrays}) as k(ordinal, ${columns})
  cross join lateral (select ${tupleColumns} from sallyport.tuples t
    where t.store_id = $1 and ${where} limit ${pageRowsMax + 1}) t`
  })
  return `
select * from (
  select -1 as ordinal, s.revision, ${stampOfStore} as o, '' as r, '' as s, '' as sr, '' as c, '' as x from sallyport.stores s
  where s.id = $1 and s.deleted_at is null${pagesOf.join("")}
) found order by ordinal limit ${answerRowsMax}`
}

/** Names of a type range from `type:` to the character after the colon; a wildcard's range ends at the next character. */
function rangeOf(type: string, wildcard: boolean): readonly [low: string, high: string] {
  return wildcard ? [`${type}:*`, `${type}:+`] : [`${type}:`, `${type};`]
}

/** The parameters of a page's part of the statement, after its ordinal. */
export function pageParameters(key: PageKey): readonly string[] {
  if (key.direction === "point") return [key.object, key.relation, key.subject, key.subjectRelation]
  if (key.direction === "reverse") {
    const { subject, subjectRelation, among } = key
    if (among === undefined) return [subject, subjectRelation]
    return [subject, subjectRelation, ...rangeOf(among.objectType, false), among.relation]
  }
  const { object, relation, among } = key
  if (among === undefined) return [object, relation]
  const wildcard = among.subjectRelation === "*"
  return [object, relation, ...rangeOf(among.subjectType, wildcard), wildcard ? "" : among.subjectRelation]
}
