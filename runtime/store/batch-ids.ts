import type { PreparedStatement, Queryable } from "./database.ts"

const insertBatch: PreparedStatement = {
  name: "usage-batch",
  text: "insert into sallyport.usage_batches (id) values ($1) on conflict (id) do nothing returning id",
}

/** Whether a batch with this id, a ULID, comes for the first time. In the transaction that counts it; whoever sends it meanwhile waits. */
export async function isFirst(transaction: Queryable, id: string): Promise<boolean> {
  return (await transaction.query(insertBatch, [id])).length > 0
}
