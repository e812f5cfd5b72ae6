import type { Caller } from "./access.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, forbidden } from "./api-error.ts"

/**
 * What a route asks of its caller. `open`: nothing. `caller`: to be known. `read` and `write`: the grant for the store of the path;
 * `manage`: that for making, listing and deleting stores.
 */
export type Right = "open" | "caller" | "read" | "write" | "manage"

/**
 * Lets a request pass, or throws: before its body is read, and on every way into the API. Without a promise when the credential is known.
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

/** Names cannot look like this: they begin with a letter or `_`, and ids with a digit. */
const idForm = /^[0-7][0-9A-Z]{25}$/

/** A store by its id may be one of those granted by name. A store that is not there is refused like one that is somebody else's. */
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
