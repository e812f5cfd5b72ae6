import { canonicalJson } from "../plan/canonical.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { PreparedStatement, Queryable } from "./database.ts"
import { declareMoves } from "./declared-moves.ts"
import { newId, newIdAfter } from "./ids.ts"

/** A store of the plan, as the database knows it. `modelDigest` is its key in the plan's `models`. */
export interface DeclaredStore {
  readonly storeId: string
  readonly modelId: string
  readonly modelDigest: string
}

const insertStore: PreparedStatement = {
  name: "declared-store-insert",
  text: `insert into sallyport.stores (id, name, declared_name) values ($1, $2, $2) on conflict (declared_name) do nothing`,
}
const lockStore: PreparedStatement = {
  name: "declared-store-lock",
  text: "select id from sallyport.stores where declared_name = $1 for update",
}
const findModel: PreparedStatement = {
  name: "declared-model-find",
  text: "select id from sallyport.models where store_id = $1 and digest = $2",
}
const newestModel: PreparedStatement = {
  name: "declared-model-newest",
  text: "select max(id) from sallyport.models where store_id = $1",
}
const insertModel: PreparedStatement = {
  name: "declared-model-insert",
  text: "insert into sallyport.models (store_id, id, digest, schema_version, model) values ($1, $2, $3, $4, $5)",
}
const manage: PreparedStatement = {
  name: "declared-store-manage",
  text: `update sallyport.stores set managed = true, model_id = $2, deleted_at = null, updated_at = now()
    where id = $1 and (not managed or model_id is distinct from $2 or deleted_at is not null)`,
}
const release: PreparedStatement = {
  name: "declared-stores-release",
  text: `update sallyport.stores set managed = false, updated_at = now()
    where managed and not (declared_name = any($1::text[]))`,
}
const listDeclared: PreparedStatement = {
  name: "declared-stores-list",
  text: `select s.declared_name, s.id, s.model_id, m.digest from sallyport.stores s
    join sallyport.models m on m.store_id = s.id and m.id = s.model_id
    where s.managed and s.deleted_at is null`,
}

/**
 * Creates the plan's stores. A store always keeps its id and its tuples, and each of its models keeps its first id. A store that the plan
 * no longer declares stays, under its id, as a store of the API. Stores are taken in name order, so that two callers cannot deadlock.
 * @throws MoveRefused when the moves of a store do not allow the plan yet
 */
export async function ensureDeclaredStores(
  transaction: Queryable,
  body: PlanBody,
): Promise<ReadonlyMap<string, DeclaredStore>> {
  const declared = Object.entries(body.authz?.stores ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const stores = new Map<string, DeclaredStore>()
  for (const [name, { model: digest, moves = [] }] of declared) {
    const storeId = await ensureStore(transaction, name)
    const model = body.models[digest]?.model
    if (model !== undefined) await declareMoves(transaction, { name, storeId, model, moves })
    const modelId = await ensureModel(transaction, storeId, digest, body)
    await transaction.query(manage, [storeId, modelId])
    stores.set(name, { storeId, modelId, modelDigest: digest })
  }
  await transaction.query(release, [declared.map(([name]) => name)])
  return stores
}

/** The stores of the most recently declared plan, by name. */
export async function declaredStores(database: Queryable): Promise<ReadonlyMap<string, DeclaredStore>> {
  const rows = await database.query<[string, string, string, string]>(listDeclared)
  return new Map(
    rows.map(([name, storeId, modelId, modelDigest]) => [name, { storeId, modelId, modelDigest }]),
  )
}

async function ensureStore(transaction: Queryable, name: string): Promise<string> {
  await transaction.query(insertStore, [newId(), name])
  const [row] = await transaction.query<[string]>(lockStore, [name])
  return (row as [string])[0]
}

async function ensureModel(
  transaction: Queryable,
  storeId: string,
  digest: string,
  body: PlanBody,
): Promise<string> {
  const [known] = await transaction.query<[string]>(findModel, [storeId, digest])
  if (known !== undefined) return known[0]
  const planned = body.models[digest]
  if (planned === undefined) throw new Error(`the plan has no model ${digest}`)
  const [row] = await transaction.query<[string | null]>(newestModel, [storeId])
  const id = newIdAfter(row?.[0] ?? null)
  const { model } = planned
  await transaction.query(insertModel, [storeId, id, digest, model.schema_version, canonicalJson(model)])
  return id
}
