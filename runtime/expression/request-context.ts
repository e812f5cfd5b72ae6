import type { Declarations, ObjectType } from "./environment.ts"
import type { CelType } from "./types.ts"

/**
 * What expressions of gateway.conf may name, as data: the compiler checks every expression against `requestContext` of its place, and
 * runtime/policies binds objects of these shapes. Both import this file, so that a name can't exist on one side only.
 *
 * Values: `request.header(name)`, `request.query(name)` and `response.header(name)` answer "" when there is none; names of headers are
 * matched without case. Fields that do not apply are "" (`api.version` without versions, `subscription.product` of a subscription to one
 * API, `backend.name` of a route that answers itself). `request.body` and `response.body` are the JSON of the body, null where there is none;
 * `text` is the body as text. `now` is the time when it is read. `request.cookie(name)` answers "" when there is none. `headers(name)` answers the values of every line of the name, `queries(name)` those of
 * every parameter of the name in any case, decoded; empty lists where there is none. Where several ways of `auth` are allowed, `jwt` or `subscription` of the ways the
 * caller did not use have no fields: `has(jwt.sub)` asks. What a `send` with `ignore-error` left where there was no answer is null, and null has no fields: `has(var.reply.status)` is false then.
 */
const objects = {
  /** `ip` is the client's address after `gateway { trust }`; `path` is the canonical path; `host` has no port; `time` is when it came. */
  request: {
    fields: {
      method: "string",
      path: "string",
      id: "string",
      ip: "string",
      host: "string",
      scheme: "string",
      time: "timestamp",
      body: "dyn",
      text: "string",
    },
    methods: {
      header: { parameters: ["string"], returns: "string" },
      headers: { parameters: ["string"], returns: "list<string>" },
      query: { parameters: ["string"], returns: "string" },
      queries: { parameters: ["string"], returns: "list<string>" },
      cookie: { parameters: ["string"], returns: "string" },
    },
  },
  /** The first value of each query parameter, decoded. */
  query: { fields: {}, open: "string" },
  subscription: { fields: { name: "string", product: "string" } },
  /** The product of the caller's subscription. */
  product: { fields: { name: "string" } },
  api: { fields: { name: "string", version: "string" } },
  /** `name` is `METHOD /path` as written in the API. */
  operation: { fields: { name: "string", method: "string", path: "string" } },
  backend: { fields: { name: "string" } },
  /** `state` is `serving` or `draining`. */
  gateway: { fields: { name: "string", state: "string" } },
  response: {
    fields: { status: "int", reason: "string", body: "dyn", text: "string" },
    methods: {
      header: { parameters: ["string"], returns: "string" },
      headers: { parameters: ["string"], returns: "list<string>" },
    },
  },
  /**
   * What broke: the kind of the statement, a stable word, a sentence, the section it was in, the status of the answer; of policies of a document
   * the scope of that, the place in it (`choose[1]/when[2]/set-header[1]`) and the policy's `id`, else empty.
   */
  error: {
    fields: {
      ...{ source: "string", reason: "string", message: "string", section: "string", status: "int" },
      ...{ scope: "string", path: "string", policy: "string" },
    },
  },
} as const satisfies Record<string, ObjectType>

/** Names that are variables somewhere: no named value may take one of them. */
export const contextNames: readonly string[] = [
  ...Object.keys(objects),
  ...["path", "jwt", "item", "var", "now"],
]

/** How expressions of most places call what one might write as a bare name: `ip` is `request.ip`, `subscription` is `subscription.name`. */
export function expressionOf(name: string): string | undefined {
  if (Object.hasOwn(objects.request.fields, name)) return `request.${name}`
  const named: Readonly<Record<string, { readonly fields: object }>> = objects
  return Object.hasOwn(named, name) && Object.hasOwn(named[name]?.fields ?? {}, "name")
    ? `${name}.name`
    : undefined
}

/** Variables every place has. */
const everywhere = ["request", "query", "api", "operation", "backend", "gateway"] as const

/** A place where an expression stands. */
export interface RequestPlace {
  /** `response` exists in `outbound` and `on-error`, `error` in `on-error` only. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Parameters of the route's path, `id` for `{id}` and `rest` for `{rest*}`; all strings, decoded. */
  readonly pathParameters: readonly string[]
  /** Claims the route's `auth` provides with their types, `any` when the issuer declares none, undefined when no way of `auth` is a token. */
  readonly claims: Readonly<Record<string, CelType>> | "any" | undefined
  /** Whether a way of the route's `auth` is a subscription key. */
  readonly subscription: boolean
  /** Named values: strings. */
  readonly values: readonly string[]
  /** What statements before it leave in `var`, with their types; `any` where that is not known. */
  readonly variables?: Readonly<Record<string, CelType>> | "any"
  /** Whether `item` is there: an item of an answer's list, of any form. */
  readonly item?: boolean
}

/** What an expression at this place may name. */
export function requestContext(place: RequestPlace): Declarations {
  const { section, pathParameters, claims, subscription, values, variables: left = {} } = place
  const variables: Record<string, CelType> = { path: "path" }
  for (const value of values) variables[value] = "string"
  for (const name of everywhere) variables[name] = name
  if (section !== "inbound") variables["response"] = "response"
  if (section === "on-error") variables["error"] = "error"
  variables["var"] = "var"
  variables["now"] = "timestamp"
  if (place.item === true) variables["item"] = "dyn"
  if (claims !== undefined) variables["jwt"] = "jwt"
  if (subscription) {
    variables["subscription"] = "subscription"
    variables["product"] = "product"
  }
  const path: ObjectType = { fields: Object.fromEntries(pathParameters.map((name) => [name, "string"])) }
  const jwt: ObjectType =
    claims === "any" ? { fields: {}, open: "dyn" } : { fields: claims === undefined ? {} : claims }
  const own: ObjectType = left === "any" ? { fields: {}, open: "dyn" } : { fields: left }
  return { variables, objects: { ...objects, path, jwt, var: own }, nullHasNothing: true, extended: true }
}

/**
 * The context of every place at once, for a runtime that compiles a step without knowing the routes that use it. What `requestContext`
 * of a narrower place accepted is accepted here too: open objects answer with a type that fits any use.
 */
export function anyRequestContext(values: readonly string[]): Declarations {
  const place = {
    section: "on-error",
    variables: "any",
    pathParameters: [],
    claims: "any",
    subscription: true,
    values,
    item: true,
  } as const
  const declared = requestContext(place)
  return { ...declared, objects: { ...declared.objects, path: { fields: {}, open: "string" } } }
}
