import type { IncomingMessage } from "node:http"
import type { AnswerHeaders } from "./answer.ts"
import { ApiError } from "./api-error.ts"
import type { AuthzCors } from "./ports.ts"

const noHeaders: AnswerHeaders = []
/** How long a browser may remember what a preflight said. */
const rememberS = "600"

/**
 * What a browser is to be told about a request of a page: the headers that let the page read the answer. Pages of origins that are not let in are refused before anything
 * happens, because a browser sends a simple POST without asking first. Credentials (cookies, client certificates) are never allowed for: keys and tokens are sent in
 * `Authorization` by the page itself.
 * @throws ApiError `forbidden`
 */
export function originHeaders(request: IncomingMessage, cors: () => AuthzCors): AnswerHeaders {
  const { origin } = request.headers
  if (origin === undefined) return noHeaders
  const { origins } = cors()
  if (origins.includes("*")) return ["Access-Control-Allow-Origin", "*", ...exposed]
  if (origins.includes(origin)) return ["Access-Control-Allow-Origin", origin, "Vary", "Origin", ...exposed]
  throw new ApiError("forbidden", "web pages of this origin are not allowed to call")
}

const exposed = [
  "Access-Control-Expose-Headers",
  "X-Request-Id, Openfga-Store-Id, Openfga-Authorization-Model-Id, Sallyport-Revision, Sallyport-Consistency-Token, Retry-After",
]

/** Whether a browser asks what it may send, and not for an answer. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  )
}

/** The answer to a preflight of an origin that is let in. */
export function preflightHeaders(request: IncomingMessage, { headers }: AuthzCors): AnswerHeaders {
  const asked = request.headers["access-control-request-headers"]
  // `*` does not stand for Authorization in browsers: what is asked for is named.
  const allowed = headers.includes("*") ? asked : headers.join(", ")
  return [
    "Access-Control-Allow-Methods",
    "GET, POST, PUT, PATCH, DELETE",
    ...(allowed === undefined || allowed === "" ? [] : ["Access-Control-Allow-Headers", allowed]),
    "Access-Control-Max-Age",
    rememberS,
  ]
}
