import type { Caller } from "./access.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, forbidden } from "./api-error.ts"
import { storeIdForm } from "./store-directory.ts"

/**
 * The right that a route requires. `open`: none. `caller`: authentication. `read` and `write`: the grant for the store in the path;
 * `manage`: the grant for creating, renaming and deleting stores.
 */
export type Right = "open" | "caller" | "read" | "write" | "manage"

/**
 * Admits a request or throws, before its body is read and on every way into the API. Synchronous when the credential is known.
 * @returns the caller; undefined where nobody has to authenticate
 * @throws ApiError 401, 403, 503 · SourceUnavailable
 */
export function admit(
  api: AuthzApi,
  right: Right,
  store: string,
  authorization: string | undefined,
): Promise<Caller | undefined> | Caller | undefined {
  const caller = identify(api, right, authorization)
  if (caller instanceof Promise) return caller.then((known) => authorize(api, known, right, store))
  return authorize(api, caller, right, store)
}

/**
 * The first half of `admit`: the caller; undefined where nobody has to authenticate.
 * @throws ApiError 401, 503
 */
export function identify(
  api: AuthzApi,
  right: Right,
  authorization: string | undefined,
): Promise<Caller | undefined> | Caller | undefined {
  const access = right === "open" ? undefined : api.access()
  return access?.identify(authorization)
}

/**
 * The second half of `admit`, for a caller that is already known.
 * @throws ApiError 403 · SourceUnavailable
 */
export function authorize(
  api: AuthzApi,
  caller: Caller | undefined,
  right: Right,
  store: string,
): Promise<Caller> | Caller | undefined {
  const judged = caller === undefined ? undefined : judge(api, caller, right, store)
  return judged === undefined ? caller : judged.then(() => caller as Caller)
}

function judge(
  api: AuthzApi,
  { name, grants }: Caller,
  right: Right,
  store: string,
): Promise<void> | undefined {
  if (right === "open" || right === "caller") return undefined
  if (right === "manage") {
    if (!grants.manage) throw forbidden(name, "`manage stores`")
    return undefined
  }
  const stores = grants[right]
  if (stores === "*" || stores.has(store)) return undefined
  const refusal = forbidden(name, store === "" ? `\`${right}\`` : `\`${right}\` on store '${store}'`)
  if (stores.size === 0 || !storeIdForm.test(store)) throw refusal
  return judgeId(api, stores, store, refusal)
}

/** A store named by its id may be one that is granted by name. A missing store is refused like a store without a grant. */
function judgeId(
  api: AuthzApi,
  stores: ReadonlySet<string>,
  id: string,
  refusal: ApiError,
): Promise<void> | undefined {
  const judgeName = ({ declaredName }: { readonly declaredName: string | null }): undefined => {
    if (declaredName === null || !stores.has(declaredName)) throw refusal
    return undefined
  }
  const found = api.stores.find(id)
  if (!(found instanceof Promise)) return judgeName(found)
  return found.then(judgeName, (error: unknown) => {
    throw error instanceof ApiError && error.code === "store_id_not_found" ? refusal : error
  })
}
