import type { AuthorizationModel } from "../plan/authorization-model.ts"
import { canonicalJson } from "../plan/canonical.ts"
import type { Database, PreparedStatement, Queryable } from "./database.ts"
import { newIdAfter } from "./ids.ts"

/** A stored model. For a model of a plan, `digest` is its key in the plan's `models`. */
export interface ModelRecord {
  readonly id: string
  readonly digest: string | null
  readonly model: AuthorizationModel
}

type ModelRow = [id: string, digest: string | null, model: string]

const lockStore: PreparedStatement = {
  name: "model-lock-store",
  text: "select managed from sallyport.stores where id = $1 and deleted_at is null for update",
}
const newest: PreparedStatement = {
  name: "model-newest-id",
  text: "select max(id) from sallyport.models where store_id = $1",
}
const insert: PreparedStatement = {
  name: "model-insert",
  text: "insert into sallyport.models (store_id, id, schema_version, model, source) values ($1, $2, $3, $4, $5)",
}
const find: PreparedStatement = {
  name: "model-find",
  text: "select id, digest, model from sallyport.models where store_id = $1 and id = $2",
}
const findSource: PreparedStatement = {
  name: "model-find-source",
  text: "select source from sallyport.models where store_id = $1 and id = $2",
}
const list: PreparedStatement = {
  name: "model-list",
  text: `select id, digest, model from sallyport.models
    where store_id = $1 and ($2 = '' or id < $2) order by id desc limit $3`,
}

const putModelAssertions: PreparedStatement = {
  name: "assertions-put",
  text: `insert into sallyport.assertions (store_id, model_id, assertions)
    select m.store_id, m.id, $3 from sallyport.models m join sallyport.stores s on s.id = m.store_id
    where m.store_id = $1 and m.id = $2 and s.deleted_at is null
    on conflict (store_id, model_id) do update set assertions = excluded.assertions, updated_at = now()
    returning model_id`,
}

const findModelAssertions: PreparedStatement = {
  name: "assertions-findModelAssertions",
  text: "select assertions from sallyport.assertions where store_id = $1 and model_id = $2",
}

/**
 * Adds a model to a store of the API; it becomes the newest. `source` is the model's text, when the client sent text. `managed` and
 * `absent` as in `deleteStore`.
 */
export async function insertModel(
  database: Database,
  storeId: string,
  model: AuthorizationModel,
  source?: string,
): Promise<{ readonly id: string } | "managed" | "absent"> {
  return database.transaction(async (transaction) => {
    const [store] = await transaction.query<[boolean]>(lockStore, [storeId])
    if (store === undefined) return "absent"
    if (store[0]) return "managed"
    const [row] = await transaction.query<[string | null]>(newest, [storeId])
    const id = newIdAfter(row?.[0] ?? null)
    const json = canonicalJson(model)
    await transaction.query(insert, [storeId, id, model.schema_version, json, source ?? null])
    return { id }
  })
}

/** A model of that store; undefined when the store has no model with that id. */
export async function findModel(
  database: Queryable,
  storeId: string,
  id: string,
): Promise<ModelRecord | undefined> {
  const [row] = await database.query<ModelRow>(find, [storeId, id])
  return row === undefined ? undefined : recordOf(row)
}

/** The text of a model; undefined when it came as JSON or with a plan. */
export async function findModelSource(
  database: Queryable,
  storeId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await database.query<[string | null]>(findSource, [storeId, id])
  return row?.[0] ?? undefined
}

/** Models of a store, newest first, at most `limit`. Only models before `before`; `""`: start at the newest. */
export async function listModels(
  database: Queryable,
  storeId: string,
  { before, limit }: { before: string; limit: number },
): Promise<readonly ModelRecord[]> {
  const rows = await database.query<ModelRow>(list, [storeId, before, limit])
  return rows.map(recordOf)
}

function recordOf([id, digest, model]: ModelRow): ModelRecord {
  return { id, digest, model: JSON.parse(model) as AuthorizationModel }
}

/** Replaces a model's assertions (JSON). False: the store has no such model. */
export async function putAssertions(
  database: Queryable,
  storeId: string,
  modelId: string,
  json: string,
): Promise<boolean> {
  return (await database.query(putModelAssertions, [storeId, modelId, json])).length > 0
}

/** The stored assertions of a model (JSON); undefined when it has none. */
export async function findAssertions(
  database: Queryable,
  storeId: string,
  modelId: string,
): Promise<string | undefined> {
  const [row] = await database.query<[string]>(findModelAssertions, [storeId, modelId])
  return row?.[0]
}
