import type { PreparedStatement, Queryable } from "./database.ts"

const upsert: PreparedStatement = {
  name: "assertions-put",
  text: `insert into sallyport.assertions (store_id, model_id, assertions)
    select m.store_id, m.id, $3 from sallyport.models m join sallyport.stores s on s.id = m.store_id
    where m.store_id = $1 and m.id = $2 and s.deleted_at is null
    on conflict (store_id, model_id) do update set assertions = excluded.assertions, updated_at = now()
    returning model_id`,
}
const find: PreparedStatement = {
  name: "assertions-find",
  text: "select assertions from sallyport.assertions where store_id = $1 and model_id = $2",
}

/** Keeps a model's assertions (JSON) in place of those it had. False: the store has no such model. */
export async function putAssertions(
  database: Queryable,
  storeId: string,
  modelId: string,
  json: string,
): Promise<boolean> {
  return (await database.query(upsert, [storeId, modelId, json])).length > 0
}

/** The JSON that was kept for a model; undefined when nothing was. */
export async function findAssertions(
  database: Queryable,
  storeId: string,
  modelId: string,
): Promise<string | undefined> {
  const [row] = await database.query<[string]>(find, [storeId, modelId])
  return row?.[0]
}
