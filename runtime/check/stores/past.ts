import { CheckError, type Commit, type TupleChange, type TupleRow, type TupleSource } from "../ports.ts"
import type { Snapshot } from "./snapshot.ts"

/** Changes read at a time. */
const batch = 1_000
/** A past revision cannot be reconstructed when more tuples than this have changed since. */
const changesMax = 100_000

export interface PastSource {
  readonly source: TupleSource
  readonly storeId: string
  readonly turn: () => Promise<void>
  /** Makes room for the snapshot's current size; false when there is none. */
  readonly fits: () => boolean
}

/**
 * Fills a snapshot of a past revision from the change feed: the past state of every tuple that has changed up to the graph's revision.
 * @throws CheckError when the feed does not reach back that far, or memory is short
 */
export async function layPast(view: Snapshot, { source, storeId, turn, fits }: PastSource): Promise<void> {
  const upTo = view.graph.revision
  view.gather()
  const first = new Map<string, TupleChange>()
  for (let at = view.at; at.revision < upTo; ) {
    const changes = await source.changes(storeId, at, batch)
    const last = changes.at(-1)
    if (last === undefined || changes[0]?.revision !== at.revision + 1) throw notKept(view)
    for (const change of changes) {
      const key = change.row.slice(0, 4).join(" ")
      if (change.revision <= upTo && !first.has(key)) first.set(key, change)
    }
    if (first.size > changesMax)
      throw new CheckError(
        "validation_error",
        `more than ${changesMax} tuples have changed since the store's revision ${view.revision}: ask again from the beginning`,
      )
    at = { revision: last.revision, stamp: last.stamp }
  }
  const changes = [...first.values()]
  for (let at = 0; at < changes.length; at += batch) {
    const part = changes.slice(at, at + batch)
    const deleted = part.filter(({ operation }) => operation === "delete").map(({ row }) => row)
    const stood = deleted.length === 0 ? [] : await source.stood(storeId, view.revision, deleted)
    let next = 0
    // A written tuple did not exist before; a deleted one did.
    for (const { operation, row } of part)
      view.lay(row, operation === "delete" ? (stood[next++] as TupleRow) : undefined)
    if (!fits())
      throw new CheckError(
        "resource_exhausted",
        `what has changed since the store's revision ${view.revision} does not fit into the memory for all stores; raise 'memory' in 'authz'`,
      )
    await turn()
  }
  view.gathered()
}

/** The error for a past commit whose changes were pruned. */
export function notKept({ revision }: Pick<Commit, "revision">): CheckError {
  return new CheckError("validation_error", `the store's revision ${revision} is no longer kept`)
}
