import type { Graph } from "./graph.ts"
import type { Pins } from "./pages.ts"
import type { PageKey, Pages, TupleChange, TupleRow } from "./ports.ts"

/**
 * Installs pages, yielding after each; `recent` are the changes the graph has got since they were asked for, of which those after the pages' own
 * revision are added to them. Returns the key of a page that was too large, if there was one.
 */
export function* installPages(
  graph: Graph,
  keys: readonly PageKey[],
  { revision, pages }: Pages,
  pins: Pins,
  recent: readonly TupleChange[],
): Generator<void, PageKey | undefined> {
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as PageKey
    const rows = pages[at]
    if (rows === undefined) continue
    if (rows === "too many") return key
    graph.pages?.record(pins)
    // The graph may have gone on since the page before.
    graph.install(key, changed(rows, key, revision, recent))
    graph.pages?.record(undefined)
    yield
  }
  return undefined
}

/** A page's rows with what has changed in it since. */
function changed(
  rows: readonly TupleRow[],
  key: PageKey,
  revision: number,
  recent: readonly TupleChange[],
): readonly TupleRow[] {
  const later = recent.filter((change) => change.revision > revision && covers(key, change.row))
  if (later.length === 0) return rows
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  for (const { operation, row } of later) {
    byKey.delete(keyOf(row))
    if (operation === "write") byKey.set(keyOf(row), row)
  }
  return [...byKey.values()]
}

function covers(key: PageKey, [object, relation, subject, subjectRelation]: TupleRow): boolean {
  return key.direction === "forward"
    ? object === key.object && relation === key.relation
    : subject === key.subject && subjectRelation === key.subjectRelation
}

/** What identifies a tuple; a blank can't be in any part. */
function keyOf(row: TupleRow): string {
  return row.slice(0, 4).join(" ")
}
