import { type CheckError, SourceUnavailable } from "../check/ports.ts"
import type { Refusal } from "../http/server/internal-guard.ts"
import { isSchemaFault } from "../store/fault.ts"

/**
 * Codes of this API: OpenFGA's names and statuses. These differ on purpose: `forbidden` (401 in OpenFGA), and `resource_exhausted`,
 * `deadline_exceeded` and `unavailable` (500 in OpenFGA) get the status that fits them. `store_managed_by_plan` exists only here.
 */
const statusOf = {
  auth_failed_invalid_subject: 401,
  auth_failed_invalid_audience: 401,
  auth_failed_invalid_issuer: 401,
  invalid_claims: 401,
  auth_failed_invalid_bearer_token: 401,
  bearer_token_missing: 401,
  unauthenticated: 401,
  forbidden: 403,
  validation_error: 400,
  authorization_model_not_found: 400,
  authorization_model_resolution_too_complex: 400,
  invalid_write_input: 400,
  cannot_allow_duplicate_tuples_in_one_request: 400,
  invalid_continuation_token: 400,
  invalid_object_format: 400,
  write_failed_due_to_invalid_input: 400,
  latest_authorization_model_not_found: 400,
  type_not_found: 400,
  relation_not_found: 400,
  invalid_user: 400,
  invalid_tuple: 400,
  store_id_invalid_length: 400,
  tuple_key_value_not_specified: 400,
  page_size_invalid: 400,
  query_string_type_continuation_token_mismatch: 400,
  type_invalid_pattern: 400,
  invalid_start_time: 400,
  invalid_expand_input: 400,
  assertions_too_many_items: 400,
  relation_too_long: 400,
  object_too_long: 400,
  type_definitions_too_few_items: 400,
  exceeded_entity_limit: 400,
  invalid_contextual_tuple: 400,
  duplicate_contextual_tuple: 400,
  invalid_authorization_model: 400,
  difference_base_missing_value: 400,
  subtract_base_missing_value: 400,
  relations_invalid_pattern: 400,
  cancelled: 400,
  undefined_endpoint: 404,
  store_id_not_found: 404,
  unimplemented: 404,
  Aborted: 409,
  history_lost: 409,
  changes_pruned: 410,
  store_managed_by_plan: 409,
  resource_exhausted: 413,
  unsupported_media_type: 415,
  internal_error: 500,
  unavailable: 503,
  deadline_exceeded: 504,
  // Requests that violate RFC 9110 or 9112.
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  target_too_long: 414,
  expectation_failed: 417,
  misdirected: 421,
  header_too_large: 431,
  not_implemented: 501,
  version_not_supported: 505,
} as const

export type ApiErrorCode = keyof typeof statusOf

const codeOfRefusal: Readonly<Record<Refusal["name"], ApiErrorCode>> = {
  "invalid-request": "validation_error",
  "invalid-path": "validation_error",
  "invalid-header": "validation_error",
  "https-required": "validation_error",
  "certificate-required": "unauthenticated",
  "method-not-allowed": "method_not_allowed",
  "request-timeout": "request_timeout",
  "body-too-large": "body_too_large",
  "target-too-long": "target_too_long",
  "expectation-failed": "expectation_failed",
  misdirected: "misdirected",
  "header-too-large": "header_too_large",
  "not-implemented": "not_implemented",
  "version-not-supported": "version_not_supported",
}

/** The error of a request that is refused before routing. */
export function refusalError({ name, detail }: Refusal): ApiError {
  return new ApiError(codeOfRefusal[name], detail)
}

/** A failure as the client sees it: a status and `{code, message}`. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly code: ApiErrorCode
  readonly status: number
  /** The caller that was refused, for the log; not sent to the client. */
  readonly caller: string | undefined

  constructor(code: ApiErrorCode, message: string, caller?: string) {
    super(message)
    this.code = code
    this.status = statusOf[code]
    this.caller = caller
  }
}

/** gRPC codes by status. OpenFGA's streams contain them instead of names. */
const grpcCodes = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [409, 10],
  [413, 8],
  [415, 3],
  [503, 14],
  [504, 4],
])
const grpcInternal = 13

/** A failure as a line of a stream: google.rpc.Status under `error`. */
export function streamError({ status, message }: ApiError): object {
  return { error: { code: grpcCodes.get(status) ?? grpcInternal, message, details: [] } }
}

/** 403. `grant` is what the caller lacks, as text. */
export const forbidden = (caller: string, grant: string) =>
  new ApiError(
    "forbidden",
    `the caller lacks ${grant}; \`auth\` in \`authz\` of gateway.conf grants it`,
    caller,
  )

/** 404. OpenFGA's message, for an id; paths there contain nothing else. */
export const storeNotFound = () => new ApiError("store_id_not_found", "Store ID not found")

/** 404 for a path with a name instead of an id. */
export const storeNameNotFound = (name: string) =>
  new ApiError(
    "store_id_not_found",
    `gateway.conf declares no store '${name}'; name a declared store, or the id of a store made through the API`,
  )

export const modelNotFound = (id: string) =>
  new ApiError("authorization_model_not_found", `Authorization Model '${id}' not found`)

export const noModel = (storeId: string) =>
  new ApiError("latest_authorization_model_not_found", `No authorization models found for store '${storeId}'`)

export const managedByPlan = (name: string) =>
  new ApiError(
    "store_managed_by_plan",
    `store '${name}' is declared in gateway.conf, so the API cannot change its model, rename or delete it; edit gateway.conf or the model file, and run \`sallyport apply\``,
  )

export const bodyTooLarge = (bytesMax: number) =>
  new ApiError("resource_exhausted", `the request body is larger than ${bytesMax} bytes`)

/** The client's view of any rejection. Undefined: a bug of ours, whose message belongs only in the log. */
export function apiErrorOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  if (error instanceof SourceUnavailable)
    return new ApiError("unavailable", "The database is unavailable; try again shortly")
  if (isSchemaFault(error))
    return new ApiError("unavailable", "The schema of the database does not match this version")
  if (!isCheckError(error)) return undefined
  // From the engine this code means too much work at once, not a large body.
  const code = error.code === "resource_exhausted" ? "unavailable" : error.code
  return new ApiError(code, error.message)
}

function isCheckError(error: unknown): error is CheckError {
  return error instanceof Error && error.name === "CheckError"
}
