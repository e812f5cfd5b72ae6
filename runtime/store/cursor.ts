import type { PreparedStatement, Queryable, SqlRow } from "./database.ts"

/** Rows per fetch: reading them blocks the event loop for a few milliseconds only. */
export const batchRows = 1000

/** A statement that opens the cursor over what `select` returns. A transaction has one at a time. */
export function cursorOf(name: string, select: string): PreparedStatement {
  return { name, text: `declare some_tuples no scroll cursor for ${select}` }
}

const fetchBatch: PreparedStatement = { name: "cursor-fetch", text: `fetch ${batchRows} from some_tuples` }
const closeCursor: PreparedStatement = { name: "cursor-close", text: "close some_tuples" }

/** All rows of a cursor, which is closed then. The server reads the next batch while we process one. */
export async function fetchAll<Row extends SqlRow>(
  transaction: Queryable,
  [cursor, parameters]: readonly [statement: PreparedStatement, parameters: readonly unknown[]],
  deliver: (rows: readonly Row[]) => Promise<void> | void,
): Promise<void> {
  const opened = transaction.query(cursor, parameters)
  let next = transaction.query<Row>(fetchBatch)
  for (const sent of [opened, next]) sent.catch(() => undefined)
  await opened
  for (;;) {
    const rows = await next
    const isLast = rows.length < batchRows
    next = transaction.query(isLast ? closeCursor : fetchBatch)
    next.catch(() => undefined)
    if (rows.length > 0) await deliver(rows)
    if (isLast) break
  }
  await next
}
