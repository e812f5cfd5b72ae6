import type { PreparedStatement, Queryable } from "./database.ts"

const insertBatch: PreparedStatement = {
  name: "usage-batch",
  text: "insert into sallyport.usage_batches (id) values ($1) on conflict (id) do nothing returning id",
}

/**
 * Returns true when this batch id (a ULID) is new. Call it in the transaction that adds the batch: a second sender of the same id waits for
 * the commit.
 */
export async function isFirst(transaction: Queryable, id: string): Promise<boolean> {
  return (await transaction.query(insertBatch, [id])).length > 0
}
