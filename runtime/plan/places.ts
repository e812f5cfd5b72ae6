import type { Text } from "./text.ts"

/**
 * Parts that exist once. `caller`: the claims from authentication. `address`: the IP address of the caller. `faults`: faults found in a request that a
 * later step reports.
 */
type SinglePlace =
  | "request.method"
  | "request.path"
  | "request.body"
  | "response.status"
  | "response.reason"
  | "response.body"
  | "response.cached"
  | "backend"
  | "certificate"
  | "caller"
  | "address"
  | "subscription"
  | "error"
  | "faults"
  | "clock"
  | "log"

/**
 * Parts that have names. `request.query-order`: the order of the query parameters. `answer.header`: fields on every response, refusals included.
 * `service`: a service reached by requests of the gateway itself. `slot`: a slot of a concurrency limit.
 */
type NamedPlace =
  | "request.header"
  | "request.query"
  | "request.query-order"
  | "response.header"
  | "answer.header"
  | "variable"
  | "counter"
  | "slot"
  | "cache"
  | "tuples"
  | "service"
  | "metric"

/** A part of an exchange, or of something that outlives it, which steps read and change: `request.body`, `request.header:x-role`, `variable:*` (all variables). */
export type Place = SinglePlace | `${NamedPlace}:${string}`

/** Fields that describe the body of any message. */
const fieldsOfAnyBody = [
  "content-length",
  "content-encoding",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
] as const

/** Fields that describe the body of a message. Replacing the body removes them. */
export const fieldsOfBody: Readonly<Record<"request" | "response", readonly string[]>> = {
  request: fieldsOfAnyBody,
  response: [...fieldsOfAnyBody, "content-range", "accept-ranges", "etag"],
}

type Message = "request" | "response"

/** A header field of a message. */
export function headerOf(message: Message, name: string): Place {
  return `${message}.header:${name.toLowerCase()}`
}

/** A query parameter. Some expressions ignore the letter case of its name, so all spellings are one place. */
export function queryOf(name: string): Place {
  return `request.query:${name.toLowerCase()}`
}

/** The name of a place that is given by a text; `*` if it depends on the request. */
export function constantOr(text: Text): string {
  return typeof text === "string" ? text : "*"
}

/** What reading a body reads: the body, and the headers with its coding and charset. */
export function bodyRead(message: Message): Place[] {
  return [`${message}.body`, headerOf(message, "content-type"), headerOf(message, "content-encoding")]
}

/** What replacing a body changes; `typed`: Content-Type as well. */
export function bodyWritten(message: Message, typed: boolean): Place[] {
  const fields = fieldsOfBody[message].map((name) => headerOf(message, name))
  return [`${message}.body`, ...fields, ...(typed ? [headerOf(message, "content-type")] : [])]
}

/** Everything that is sent to a backend. */
export const wholeRequest: readonly Place[] = [
  "request.method",
  "request.path",
  "request.body",
  "request.header:*",
  "request.query:*",
  "request.query-order:*",
]

/** Everything in a response. */
export const wholeResponse: readonly Place[] = [
  "response.status",
  "response.reason",
  "response.body",
  "response.header:*",
]

/** Everything that an expression may read if it cannot be analyzed. */
export const everyPlace: readonly Place[] = [
  ...wholeRequest,
  ...wholeResponse,
  "backend",
  "caller",
  "subscription",
  "error",
  "clock",
  "variable:*",
]

/** Whether two places are equal or one contains the other. */
export function meets(one: Place, other: Place): boolean {
  if (one === other) return true
  const [a, b] = [one.indexOf(":"), other.indexOf(":")]
  if (a < 0 || b < 0 || one.slice(0, a) !== other.slice(0, b)) return false
  return one.endsWith(":*") || other.endsWith(":*")
}

/** The places of these variables; undefined names are skipped. */
export function variablePlaces(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`variable:${name}`]))
}

/** Header fields on every response. */
export function answerFields(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`answer.header:${name}`]))
}
