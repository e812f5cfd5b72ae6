import type { IncomingRequest } from "../http/server/incoming.ts"
import type { AnswerHeaders } from "./answer.ts"
import { ApiError } from "./api-error.ts"
import type { AuthzCors } from "./ports.ts"

const noHeaders: AnswerHeaders = []
/** How long a browser may cache the response to a preflight, in seconds. */
const rememberS = "600"

/**
 * Headers that let a page of an allowed origin read the response. Requests from pages of other origins are refused before they have any
 * effect, because a browser sends a simple POST without a preflight. Credentials (cookies, client certificates) are never allowed: pages
 * send keys and tokens in `Authorization` themselves.
 * @throws ApiError `forbidden`
 */
export function originHeaders(request: IncomingRequest, cors: () => AuthzCors): AnswerHeaders {
  const { origin } = request.headers
  if (origin === undefined) return noHeaders
  const { origins } = cors()
  if (origins.includes("*")) return ["Access-Control-Allow-Origin", "*", ...exposed]
  if (origins.includes(origin)) return ["Access-Control-Allow-Origin", origin, "Vary", "Origin", ...exposed]
  throw new ApiError(
    "forbidden",
    "web pages of this origin are not allowed to call the engine; add the origin to `cors` in `authz` of gateway.conf",
  )
}

const exposed = [
  "Access-Control-Expose-Headers",
  "X-Request-Id, Openfga-Store-Id, Openfga-Authorization-Model-Id, Sallyport-Revision, Sallyport-Consistency-Token, Retry-After",
]

/** Whether the request is a CORS preflight. */
export function isPreflight({ method, headers }: IncomingRequest): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  )
}

/** The response to a preflight from an allowed origin. */
export function preflightHeaders(request: IncomingRequest, { headers }: AuthzCors): AnswerHeaders {
  const asked = request.headers["access-control-request-headers"]
  // In browsers `*` does not include Authorization, so repeat the requested names.
  const allowed = headers.includes("*") ? asked : headers.join(", ")
  return [
    "Access-Control-Allow-Methods",
    "GET, POST, PUT, PATCH, DELETE",
    ...(allowed === undefined || allowed === "" ? [] : ["Access-Control-Allow-Headers", allowed]),
    "Access-Control-Max-Age",
    rememberS,
  ]
}
