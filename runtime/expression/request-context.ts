import type { Declarations, ObjectType } from "./environment.ts"
import type { CelType } from "./types.ts"

/**
 * The names that expressions of gateway.conf may use, as data: the compiler checks every expression against `requestContext` of its place, and
 * runtime/policies binds objects of these shapes. Both import this file, so that a name cannot exist on one side only.
 * - `request.header(name)`, `request.query(name)`, `request.cookie(name)` and `response.header(name)` return "" if absent. Header names ignore case.
 * - `headers(name)` returns the values of every line of the header, `queries(name)` those of every query parameter of the name in any case, decoded.
 *   Both return an empty list if there is none.
 * - Fields that do not apply are "": `api.version` without versions, `subscription.product` of a subscription to one API, `backend.name` of a route that
 *   responds itself.
 * - `request.body` and `response.body` are the JSON of the body, null if there is no body; `text` is the body as text.
 * - `now` is the time when it is read.
 * - If `auth` accepts several credentials, `jwt` or `subscription` of the unused ones have no fields: test with `has(jwt.sub)`.
 * - A `send` with `ignore-error` and without a response leaves null, and null has no fields: `has(var.reply.status)` is then false.
 */
const objects = {
  /** `ip` is the client's address after `gateway { trust }`; `path` is the canonical path; `host` has no port; `time` is when the request arrived. */
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
   * The error: the kind of the statement, a stable code, a sentence, its section, and the status of the response. For policies of a document also the
   * document's scope, the place in it (`choose[1]/when[2]/set-header[1]`) and the policy's `id`; otherwise these are empty.
   */
  error: {
    fields: {
      ...{ source: "string", reason: "string", message: "string", section: "string", status: "int" },
      ...{ scope: "string", path: "string", policy: "string" },
    },
  },
} as const satisfies Record<string, ObjectType>

/** Names that are variables at some place. Named values must not use them. */
export const contextNames: readonly string[] = [
  ...Object.keys(objects),
  ...["path", "jwt", "item", "var", "now"],
]

/** The expression for a word that users write as a bare name: `ip` is `request.ip`, `subscription` is `subscription.name`. */
export function expressionOf(name: string): string | undefined {
  if (Object.hasOwn(objects.request.fields, name)) return `request.${name}`
  const named: Readonly<Record<string, { readonly fields: object }>> = objects
  return Object.hasOwn(named, name) && Object.hasOwn(named[name]?.fields ?? {}, "name")
    ? `${name}.name`
    : undefined
}

/** Variables available at every place. */
const everywhere = ["request", "query", "api", "operation", "backend", "gateway"] as const

/** The place of an expression. */
export interface RequestPlace {
  /** `response` exists only in `outbound` and `on-error`, `error` only in `on-error`. */
  readonly section: "inbound" | "outbound" | "on-error"
  /** Parameters of the route's path, `id` for `{id}` and `rest` for `{rest*}`; all strings, decoded. */
  readonly pathParameters: readonly string[]
  /** Claims from the route's `auth`, with types; `any` if the issuer declares none; undefined if `auth` accepts no token. */
  readonly claims: Readonly<Record<string, CelType>> | "any" | undefined
  /** Whether the route's `auth` accepts a subscription key. */
  readonly subscription: boolean
  /** Named values: strings. */
  readonly values: readonly string[]
  /** Secrets: keys of `hmac`. */
  readonly secrets: readonly string[]
  /** Variables that earlier statements set in `var`, with types; `any` if unknown. */
  readonly variables?: Readonly<Record<string, CelType>> | "any"
  /** Whether `item` exists: an item of a list in the response, of any type. */
  readonly item?: boolean
}

/** The declarations for expressions at this place. */
export function requestContext(place: RequestPlace): Declarations {
  const { section, pathParameters, claims, subscription, values, secrets, variables: left = {} } = place
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
  return {
    variables,
    secrets,
    objects: { ...objects, path, jwt, var: own },
    nullHasNothing: true,
    extended: true,
  }
}

/**
 * The union of all contexts, for a runtime that compiles a step without knowing the routes that use it. It accepts everything that `requestContext` of a
 * narrower place accepts: open objects have a type that fits any use.
 */
export function anyRequestContext(values: readonly string[], secrets: readonly string[] = []): Declarations {
  const place = {
    section: "on-error",
    variables: "any",
    pathParameters: [],
    claims: "any",
    subscription: true,
    values,
    secrets,
    item: true,
  } as const
  const declared = requestContext(place)
  return { ...declared, objects: { ...declared.objects, path: { fields: {}, open: "string" } } }
}
