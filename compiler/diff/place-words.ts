import type { Place } from "../../runtime/plan/places.ts"

type Kind = Place extends infer Each ? (Each extends `${infer Name}:${string}` ? Name : Each) : never

/** The words for a part of an exchange. A named part is followed by its name. */
const words: { readonly [Name in Kind]: string } = {
  "request.method": "the method",
  "request.path": "the path",
  "request.body": "the body of the request",
  "request.header": "the request header",
  "request.query": "the query parameter",
  "request.query-order": "the order of the query parameters",
  "response.status": "the status",
  "response.reason": "the reason phrase",
  "response.body": "the body of the response",
  "response.header": "the response header",
  "response.cached": "the cached response",
  "answer.header": "the response header",
  backend: "the backend",
  certificate: "the client certificate",
  caller: "the caller's identity",
  address: "the caller's address",
  subscription: "the subscription",
  error: "the error",
  faults: "the errors of the parameters",
  clock: "the time",
  log: "the log",
  variable: "the variable",
  counter: "the counter",
  slot: "the concurrent requests",
  cache: "the cached value",
  tuples: "the relations of store",
  service: "the service",
  metric: "the metric",
}

/** The words for all parts of one kind. */
const allWords: { readonly [Name in Kind]?: string } = {
  "request.header": "the request headers",
  "request.query": "the query parameters",
  "request.query-order": "the order of the query parameters",
  "response.header": "the response headers",
  variable: "the variables",
  cache: "the cache",
  service: "the services that are called",
}

/** A part of an exchange in words: ``the request header `x-role` ``. */
export function placeWords(place: Place): string {
  const at = place.indexOf(":")
  const kind = (at < 0 ? place : place.slice(0, at)) as Kind
  const name = at < 0 ? undefined : place.slice(at + 1)
  if (name === undefined) return words[kind]
  return name === "*" ? (allWords[kind] ?? words[kind]) : `${words[kind]} \`${name}\``
}
