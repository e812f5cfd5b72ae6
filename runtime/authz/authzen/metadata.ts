import { addressText } from "../../plan/resources.ts"
import type { ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { ApiError } from "../api-error.ts"
import type { ApiRequest } from "../route.ts"

/** A store's id or name. */
const storeForm = /^[A-Za-z0-9_-]{1,128}$/

/** `GET /.well-known/authzen-configuration`: the store that paths without a store mean. 404 where there is none. */
export function getMetadata(api: AuthzApi, request: ApiRequest): ApiResponse {
  if (api.authzen().store === undefined)
    throw new ApiError(
      "store_id_not_found",
      "there is no default store: set one with `authzen { store NAME }`, or request /.well-known/authzen-configuration/{store}",
    )
  const base = baseOf(api, request)
  return { status: 200, body: metadata(base, `${base}/access/v1`) }
}

/**
 * `GET /.well-known/authzen-configuration/{store}`. Who may read nothing may read this: it tells paths, and not whether there is such a store. The decision point's
 * identifier is the base URL with the store as path, from which this path follows (section "Obtaining Policy Decision Point Metadata").
 */
export function getStoreMetadata(api: AuthzApi, request: ApiRequest): ApiResponse {
  const { store } = request
  if (!storeForm.test(store)) throw new ApiError("store_id_not_found", "Store ID not found")
  const base = baseOf(api, request)
  return { status: 200, body: metadata(`${base}/${store}`, `${base}/stores/${store}/access/v1`) }
}

function metadata(identifier: string, endpoints: string): object {
  return {
    policy_decision_point: identifier,
    access_evaluation_endpoint: `${endpoints}/evaluation`,
    access_evaluations_endpoint: `${endpoints}/evaluations`,
    search_subject_endpoint: `${endpoints}/search/subject`,
    search_resource_endpoint: `${endpoints}/search/resource`,
    search_action_endpoint: `${endpoints}/search/action`,
  }
}

/**
 * The URL of gateway.conf; else the address this request has reached, which knows nothing of TLS or address translation in front. Never by Host: it is the caller's to choose,
 * and who keeps the answer would send every question there.
 */
function baseOf(api: AuthzApi, { reached }: ApiRequest): string {
  const { url } = api.authzen()
  if (url !== undefined) return url.replace(/\/$/, "")
  return `http://${addressText(reached)}`
}
