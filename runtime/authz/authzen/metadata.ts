import { addressText } from "../../plan/resources.ts"
import type { ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { ApiError } from "../api-error.ts"
import type { ApiRequest } from "../route.ts"

/** A store's id or name. */
const storeForm = /^[A-Za-z0-9_-]{1,128}$/

/** `GET /.well-known/authzen-configuration`: the default store, for paths without a store. 404 when there is none. */
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
 * `GET /.well-known/authzen-configuration/{store}`. It needs no right, because it contains only paths and does not reveal whether the store
 * exists. The decision point's identifier is the base URL with the store as its path; this path follows from it (section "Obtaining Policy
 * Decision Point Metadata").
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
 * The URL of gateway.conf; else the address that this request has reached, which ignores TLS and address translation in front of it. Never
 * the Host header: the caller chooses it, and a client that caches the metadata would send every later question to that host.
 */
function baseOf(api: AuthzApi, { reached }: ApiRequest): string {
  const { url } = api.authzen()
  if (url !== undefined) return url.replace(/\/$/, "")
  return `http://${addressText(reached)}`
}
