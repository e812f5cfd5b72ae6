import type { Problem, ProblemName } from "../../policies/messages/answer.ts"
import { usualSpelling } from "../../policies/messages/header-list.ts"

interface ProblemRow {
  readonly status: number
  readonly title: string
  readonly detail: string
}

/** Texts and statuses for clients, by name. The names are stable: they are part of the interface of every API behind the gateway (RFC 9457 §3.1). */
export const problemTable: { readonly [Name in ProblemName]: ProblemRow } = {
  "invalid-request": row(
    400,
    "Invalid request",
    "The request is malformed, or contains a value that is not valid at its place.",
  ),
  "invalid-path": row(
    400,
    "Invalid path",
    "The path has no canonical form (empty or dot segments, encoded separators, characters that must be encoded), or more than one reading.",
  ),
  "invalid-header": row(
    400,
    "Invalid header",
    "A header that may be given once is given twice, or a header is malformed.",
  ),
  "https-required": row(
    400,
    "HTTPS required",
    "This port accepts only HTTPS. Repeat the request with https: in the URL.",
  ),
  "certificate-required": row(
    401,
    "Client certificate required",
    "A valid client certificate is required. Present one in the TLS handshake of a new connection.",
  ),
  unauthorized: row(401, "Unauthorized", "Valid credentials are required."),
  "signature-missing": row(401, "Signature missing", "The request must be signed."),
  "signature-malformed": row(
    401,
    "Signature malformed",
    "The signature, or a header that belongs to it, does not have the form that this operation requires.",
  ),
  "signature-invalid": row(401, "Signature invalid", "The signature does not match the request."),
  "signature-expired": row(
    401,
    "Signature expired",
    "The time of the signature differs too much from the current time.",
  ),
  "signature-replayed": row(409, "Request repeated", "A request with this signature was already accepted."),
  "login-required": row(
    401,
    "Login required",
    "There is no valid session. Open a page of this site in the browser to log in, and repeat the request.",
  ),
  "login-invalid": row(
    400,
    "Login not completed",
    "The login was not begun in this browser, was already finished, or took too long. Open the page again.",
  ),
  "login-refused": row(403, "Login refused", "The identity provider did not let you in."),
  "login-failed": row(502, "Login failed", "The response of the identity provider was not valid."),
  "session-too-large": row(
    502,
    "Session too large",
    "The identity provider returned more than fits into the cookies of a browser.",
  ),
  "sessions-unavailable": row(
    503,
    "Service unavailable",
    "Sessions cannot be read at the moment. Try again after the time in Retry-After.",
  ),
  "insufficient-scope": row(
    403,
    "Insufficient scope",
    "The token does not contain the claims that this operation requires.",
  ),
  forbidden: row(403, "Forbidden", "You do not have permission for this operation."),
  "not-found": row(404, "Not found", "No route matches this path."),
  "method-not-allowed": row(
    405,
    "Method not allowed",
    "This path does not support the method. The Allow header lists the supported methods.",
  ),
  "request-timeout": row(408, "Request timeout", "The request was not received in time."),
  sunset: row(410, "Gone", "This version of the API is no longer available."),
  "body-too-large": row(413, "Content too large", "The body is larger than the gateway accepts."),
  "target-too-long": row(414, "URI too long", "The request target is longer than the gateway accepts."),
  "expectation-failed": row(417, "Expectation failed", "The only supported expectation is 100-continue."),
  misdirected: row(
    421,
    "Misdirected request",
    "The connection was opened for another host. Repeat the request on a new connection for this host.",
  ),
  "unsupported-coding": row(
    415,
    "Unsupported media type",
    "The gateway does not support the content coding of the body.",
  ),
  "header-too-large": row(
    431,
    "Request header fields too large",
    "The header is larger or has more fields than the gateway accepts.",
  ),
  "rate-limited": row(
    429,
    "Too many requests",
    "The limit of calls is used up. Try again after the time in Retry-After.",
  ),
  "internal-error": row(
    500,
    "Internal error",
    "The gateway failed. Its log contains the reason under the request id.",
  ),
  "not-implemented": row(501, "Not implemented", "The gateway does not support what the request asks for."),
  "bad-gateway": row(502, "Bad gateway", "The backend could not be reached, or its response was not valid."),
  "backend-refused": row(502, "Bad gateway", "The backend did not do what the request asked for."),
  "permissions-unchanged": row(
    502,
    "Permissions unchanged",
    "The backend has carried out the request, but the permissions that go with it could not be changed. Repeating the request may carry it out a second time.",
  ),
  "backend-unavailable": row(
    503,
    "Service unavailable",
    "The backend is unavailable at the moment. Try again after the time in Retry-After.",
  ),
  "limits-unavailable": row(
    503,
    "Service unavailable",
    "Calls cannot be counted at the moment. Try again after the time in Retry-After.",
  ),
  "issuer-unavailable": row(
    503,
    "Service unavailable",
    "The token cannot be verified, or the login cannot be started, at the moment. Try again after the time in Retry-After.",
  ),
  "authorization-unavailable": row(
    503,
    "Service unavailable",
    "The permission cannot be checked at the moment. Try again after the time in Retry-After.",
  ),
  overloaded: row(
    503,
    "Service unavailable",
    "Too many requests are waiting. Try again after the time in Retry-After.",
  ),
  "gateway-timeout": row(504, "Gateway timeout", "There was no response in time."),
  "version-not-supported": row(
    505,
    "HTTP version not supported",
    "The gateway supports HTTP/1.0, HTTP/1.1 and, where the listener has it, HTTP/2.",
  ),
}

function row(status: number, title: string, detail: string): ProblemRow {
  return { status, title, detail }
}

/** `type` of a problem body. A URN, because it only identifies the problem; an installation need not serve a page for it. */
export function problemType(name: ProblemName): string {
  return `urn:sallyport:problem:${name}`
}

export function problemStatus(found: Problem): number {
  return found.status ?? problemTable[found.name].status
}

/** The format of error responses: RFC 9457, or `{"statusCode", "message"}` of Azure API Management. */
export type ErrorFormat = "problem" | "apim"

/** A problem in its final form, without Content-Length. */
export interface RenderedProblem {
  readonly status: number
  /** Names and values alternate. */
  readonly headers: string[]
  readonly body: Buffer
}

/**
 * Renders a problem in the gateway's format. `realm` is the address of the API, for challenges. In the format `problem`, `request_id` leads to the
 * log line with the reason, and `trace_id` to the trace; the body never contains internal text.
 */
export function renderProblem(
  found: Problem,
  requestId: string,
  format: ErrorFormat,
  { realm = "", traceId }: { readonly realm?: string; readonly traceId?: string | undefined } = {},
): RenderedProblem {
  const status = problemStatus(found)
  const [media, body] =
    format === "apim"
      ? ["application/json", { statusCode: status, message: apimMessage(found) }]
      : ["application/problem+json", problemMembers(found, status, requestId, traceId)]
  return {
    status,
    headers: [
      "content-type",
      media,
      "cache-control",
      "no-store",
      ...(format === "apim" ? apimHeaders(found.headers ?? [], realm) : (found.headers ?? [])),
    ],
    body: Buffer.from(JSON.stringify(body)),
  }
}

/** The members of a problem (RFC 9457). `request_id` lets a client name the request to the operator. */
function problemMembers(
  found: Problem,
  status: number,
  requestId: string,
  traceId: string | undefined,
): object {
  const { title, detail } = problemTable[found.name]
  const { message, errors, errorsLeftOut = 0 } = found
  return {
    type: problemType(found.name),
    title,
    status,
    detail: message ?? detail,
    request_id: requestId,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    ...(errors === undefined ? {} : { errors }),
    ...(errorsLeftOut === 0 ? {} : { errors_left_out: errorsLeftOut }),
  }
}

/** The challenge for a subscription key in the form of Azure API Management: the first place where a key is accepted, with usual capitalization of a header. */
function apimHeaders(headers: readonly string[], realm: string): string[] {
  return headers.map((value) => {
    const [, type, name] = /^Subscription-Key (header|query)="([^"]*)"/.exec(value) ?? []
    if (type === undefined || name === undefined) return value
    const shown = type === "header" ? usualSpelling(name) : name
    return `AzureApiManagementKey realm="${realm.replace(/[^\x21-\x7e]|["\\]/g, "")}",name="${shown}",type="${type}"`
  })
}

/** The message for clients of Azure API Management, by `reason`, otherwise by name. */
export function apimMessage(found: Problem): string {
  const own = found.apimMessage ?? found.message
  if (own !== undefined) return own
  const byReason = found.reason === undefined ? undefined : apimReasons[found.reason]
  const words = byReason ?? apimNames[found.name] ?? problemTable[found.name].detail
  return words.replace("{retry}", retryAfterOf(found)) + faultsOf(found)
}

/** This format has no member for errors, so the message lists them for the caller. */
function faultsOf({ errors = [], errorsLeftOut = 0 }: Problem): string {
  const shown = errors.slice(0, errorsShown).map((each) => `${each.in} ${each.pointer} ${each.message}`)
  const more = errors.length - shown.length + errorsLeftOut
  return shown.length === 0 ? "" : ` ${shown.join("; ")}${more === 0 ? "" : `; and ${more} more`}`
}

const errorsShown = 10
const invalidToken = "Invalid JWT."
const otherAddress = "Forbidden"

/** The texts of Azure API Management, for clients that compare them. */
const apimReasons: Readonly<Record<string, string>> = {
  SubscriptionKeyNotFound:
    "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.",
  SubscriptionKeyInvalid:
    "Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.",
  TokenNotPresent: "JWT not present.",
  JwtInvalid: invalidToken,
  TokenAudienceNotAllowed: invalidToken,
  TokenClaimNotFound: invalidToken,
  TokenClaimValueNotAllowed: invalidToken,
  TokenExpired: invalidToken,
  TokenIssuerNotAllowed: invalidToken,
  TokenSignatureInvalid: invalidToken,
  TokenSignatureKeyNotFound: invalidToken,
  CallerIpBlocked: otherAddress,
  CallerIpNotAllowed: otherAddress,
  FailedToParseCallerIP: otherAddress,
  ConcurrencyLimitExceeded: "Too many requests are under way.",
}

const apimNames: Readonly<Partial<Record<ProblemName, string>>> = {
  "not-found": "Resource not found",
  "rate-limited": "Rate limit is exceeded. Try again in {retry} seconds.",
  "internal-error": "Internal server error",
  "bad-gateway": "The request could not be processed due to an internal error. Contact the API owner.",
}

function retryAfterOf({ headers = [] }: Problem): string {
  const at = headers.indexOf("retry-after")
  return at === -1 ? "1" : (headers[at + 1] ?? "1")
}
