import type { Text } from "./text.ts"

/** Parts of which there is one. `caller` is what authentication found (claims), `address` the IP address of the caller, `faults` what a judged request waits to be told. */
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
 * Parts that have names. `request.query-order` is the order of the query's parameters; `answer.header` are fields that any answer gets, refusals too; `service` is what is reached by
 * requests of our own; `slot` is a place among concurrent requests.
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

/** A part of an exchange, or of what outlives it, that steps read and change: `request.body`, `request.header:x-role`, `variable:*` (all of them). */
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

/** Fields that describe the body of a message, and go with it where another is put in its place. */
export const fieldsOfBody: Readonly<Record<"request" | "response", readonly string[]>> = {
  request: fieldsOfAnyBody,
  response: [...fieldsOfAnyBody, "content-range", "accept-ranges", "etag"],
}

type Message = "request" | "response"

/** A header field of a message. */
export function headerOf(message: Message, name: string): Place {
  return `${message}.header:${name.toLowerCase()}`
}

/** A query parameter. Expressions find some of them in any letter case, so all spellings are one place. */
export function queryOf(name: string): Place {
  return `request.query:${name.toLowerCase()}`
}

/** The name in a place where a text gives it: `*` where only a request decides. */
export function constantOr(text: Text): string {
  return typeof text === "string" ? text : "*"
}

/** What reading a body looks at: how it is coded and in which charset it is written stand in the header. */
export function bodyRead(message: Message): Place[] {
  return [`${message}.body`, headerOf(message, "content-type"), headerOf(message, "content-encoding")]
}

/** What replacing a body changes; `typed`: Content-Type too. */
export function bodyWritten(message: Message, typed: boolean): Place[] {
  const fields = fieldsOfBody[message].map((name) => headerOf(message, name))
  return [`${message}.body`, ...fields, ...(typed ? [headerOf(message, "content-type")] : [])]
}

/** All that is sent to a backend. */
export const wholeRequest: readonly Place[] = [
  "request.method",
  "request.path",
  "request.body",
  "request.header:*",
  "request.query:*",
  "request.query-order:*",
]

/** All of an answer. */
export const wholeResponse: readonly Place[] = [
  "response.status",
  "response.reason",
  "response.body",
  "response.header:*",
]

/** All that an expression nobody can look into may read. */
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

/** Whether two places are the same, or one of them is a part of the other. */
export function meets(one: Place, other: Place): boolean {
  if (one === other) return true
  const [a, b] = [one.indexOf(":"), other.indexOf(":")]
  if (a < 0 || b < 0 || one.slice(0, a) !== other.slice(0, b)) return false
  return one.endsWith(":*") || other.endsWith(":*")
}

/** The variables of these names; one that is not given is none. */
export function variablePlaces(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`variable:${name}`]))
}

/** Header fields that any answer gets. */
export function answerFields(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`answer.header:${name}`]))
}
