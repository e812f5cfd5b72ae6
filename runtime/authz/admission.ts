import type { Caller } from "./access.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, forbidden } from "./api-error.ts"

/**
 * The right that a route requires. `open`: none. `caller`: authentication. `read` and `write`: the grant for the store in the path;
 * `manage`: the grant for creating, listing and deleting stores.
 */
export type Right = "open" | "caller" | "read" | "write" | "manage"

/**
 * Admits a request or throws, before its body is read and on every way into the API. Synchronous when the credential is known.
 * @throws ApiError 401, 403, 503 · SourceUnavailable
 */
export function admit(
  api: AuthzApi,
  right: Right,
  store: string,
  authorization: string | undefined,
): Promise<void> | undefined {
  const access = right === "open" ? undefined : api.access()
  if (access === undefined) return undefined
  const caller = access.identify(authorization)
  if (caller instanceof Promise) return caller.then((known) => judge(api, known, right, store))
  return judge(api, caller, right, store)
}

function judge(
  api: AuthzApi,
  { name, grants }: Caller,
  right: Right,
  store: string,
): Promise<void> | undefined {
  if (right === "open" || right === "caller") return undefined
  if (right === "manage") {
    if (!grants.manage) throw forbidden(name)
    return undefined
  }
  const stores = grants[right]
  if (stores === "*" || stores.has(store)) return undefined
  if (stores.size === 0 || !idForm.test(store)) throw forbidden(name)
  return judgeId(api, stores, store, name)
}

/** Names cannot have this form: they begin with a letter or `_`, and ids with a digit. */
const idForm = /^[0-7][0-9A-Z]{25}$/

/** A store named by its id may be one that is granted by name. A missing store is refused like a store without a grant. */
function judgeId(
  api: AuthzApi,
  stores: ReadonlySet<string>,
  id: string,
  caller: string,
): Promise<void> | undefined {
  const judgeName = ({ declaredName }: { readonly declaredName: string | null }): undefined => {
    if (declaredName === null || !stores.has(declaredName)) throw forbidden(caller)
    return undefined
  }
  const found = api.stores.find(id)
  if (!(found instanceof Promise)) return judgeName(found)
  return found.then(judgeName, (error: unknown) => {
    throw error instanceof ApiError && error.code === "store_id_not_found" ? forbidden(caller) : error
  })
}
