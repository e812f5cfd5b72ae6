import { decodeToken, encodeToken } from "../store/continuation.ts"
import { createStore, deleteStore, listStores, renameStore, type StoreRecord } from "../store/stores.ts"
import { visibleStores } from "./access.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, managedByPlan, storeNotFound } from "./api-error.ts"
import { continuationField, invalidToken, pageSizeField, storeNameField } from "./fields.ts"
import type { ApiRequest } from "./route.ts"

const tokenKind = "stores-1"

/** `POST /stores` `{name}` → 201. The store belongs to the API. */
export async function postStore(api: AuthzApi, { body }: ApiRequest): Promise<ApiResponse> {
  const store = await createStore(api.database, storeNameField(body["name"], "CreateStoreRequest"))
  const { id, name, createdAt, updatedAt } = store
  return { status: 201, body: { id, name, created_at: createdAt, updated_at: updatedAt } }
}

/** `GET /stores?page_size&continuation_token&name` → the stores that the caller has a grant for, including declared ones. */
export async function getStores(api: AuthzApi, { query, caller }: ApiRequest): Promise<ApiResponse> {
  const limit = pageSizeField(query.get("page_size"), "ListStoresRequest")
  const token = continuationField(query.get("continuation_token"), "ListStoresRequest")
  const after = token === "" ? "" : decodeToken(tokenKind, token, 1)?.[0]
  if (after === undefined) throw invalidToken()
  const named = query.get("name") ?? ""
  const name = named === "" ? undefined : storeNameField(named, "ListStoresRequest")
  const declared = caller === undefined ? undefined : visibleStores(caller.grants)
  const found = await listStores(api.database, { after, limit: limit + 1, name, declared })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    status: 200,
    body: {
      stores: page.map(storeBody),
      continuation_token: last === undefined ? "" : encodeToken(tokenKind, [last.id]),
    },
  }
}

/** `GET /stores/{store}` */
export async function getStore(api: AuthzApi, { store }: ApiRequest): Promise<ApiResponse> {
  const found = await api.stores.find(store)
  return { status: 200, body: storeBody(found), headers: ["Openfga-Store-Id", found.id] }
}

/** `PATCH /stores/{store}` `{name}`: renames a store of the API; 409 for a declared one. */
export async function patchStore(api: AuthzApi, { store, body }: ApiRequest): Promise<ApiResponse> {
  const name = storeNameField(body["name"], "UpdateStoreRequest")
  const found = await api.stores.find(store)
  if (found.managed) throw managedByPlan(found.declaredName ?? found.name)
  const renamed = await renameStore(api.database, found.id, name)
  api.stores.forget(found)
  if (renamed === "absent") throw storeNotFound()
  if (renamed === "managed") throw managedByPlan(found.declaredName ?? found.name)
  const { id, createdAt, updatedAt } = renamed
  return { status: 200, body: { id, name: renamed.name, created_at: createdAt, updated_at: updatedAt } }
}

/** `DELETE /stores/{store}` → 204, also when it never existed; 409 for a declared one. */
export async function removeStore(api: AuthzApi, { store }: ApiRequest): Promise<ApiResponse> {
  const found = await findOrNothing(api, store)
  if (found === undefined) return { status: 204 }
  const outcome = await deleteStore(api.database, found.id)
  api.stores.forget(found)
  if (outcome === "deleted") {
    api.engine.dropped(found.id)
    api.watches.wake(found.id)
  }
  if (outcome === "managed") throw managedByPlan(found.declaredName ?? found.name)
  return { status: 204 }
}

async function findOrNothing(api: AuthzApi, store: string): Promise<StoreRecord | undefined> {
  try {
    return await api.stores.find(store)
  } catch (error) {
    if (error instanceof ApiError && error.code === "store_id_not_found") return undefined
    throw error
  }
}

function storeBody({ id, name, createdAt, updatedAt }: StoreRecord): object {
  return { id, name, created_at: createdAt, updated_at: updatedAt, deleted_at: null }
}
