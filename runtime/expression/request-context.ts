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

/** One sentence for each name, exhaustive by type: a name cannot be added without it. */
const docs: {
  readonly [Name in keyof typeof objects]: {
    readonly self: string
    readonly members: Readonly<
      Record<
        | keyof (typeof objects)[Name]["fields"]
        | ((typeof objects)[Name] extends { readonly methods: infer Methods } ? keyof Methods : never),
        string
      >
    >
  }
} = {
  request: {
    self: "The request of the client.",
    members: {
      method: "The method, in capitals: `GET`.",
      path: "The canonical path, without the query.",
      id: "The id of the request, as in the header `X-Request-Id` and in the log.",
      ip: "The client's address, after `gateway { trust }`.",
      host: "The host name, without the port.",
      scheme: "`http` or `https`.",
      time: "The time when the request arrived.",
      body: "The JSON of the body; null without a body.",
      text: "The body as text.",
      header: 'The value of a header, `""` without it. Names ignore case.',
      headers: "The values of every line of a header; an empty list without it.",
      query: 'The first value of a query parameter, decoded; `""` without it.',
      queries: "The values of every query parameter of the name in any case, decoded.",
      cookie: 'The value of a cookie; `""` without it.',
    },
  },
  query: { self: "The first value of each query parameter, decoded: `query.page`.", members: {} },
  subscription: {
    self: "The subscription of the caller's key.",
    members: {
      name: "The name of the subscription.",
      product: 'The product of the subscription; `""` for a subscription to one API.',
    },
  },
  product: {
    self: "The product of the caller's subscription.",
    members: { name: "The name of the product." },
  },
  api: {
    self: "The API of the route.",
    members: { name: "The name of the API.", version: 'The version; `""` without versions.' },
  },
  operation: {
    self: "The operation of the route.",
    members: {
      name: "`METHOD /path` as written in the API.",
      method: "The method of the operation; `*` for `ANY`.",
      path: "The path of the operation, with its parameters in braces.",
    },
  },
  backend: {
    self: "The backend of the request.",
    members: { name: 'The name of the backend; `""` for a route that responds itself.' },
  },
  gateway: {
    self: "The gateway.",
    members: { name: "The name of the gateway.", state: "`serving` or `draining`." },
  },
  response: {
    self: "The response, in `outbound` and `on-error`.",
    members: {
      status: "The status code.",
      reason: "The reason phrase.",
      body: "The JSON of the body; null without a body.",
      text: "The body as text.",
      header: 'The value of a header, `""` without it. Names ignore case.',
      headers: "The values of every line of a header; an empty list without it.",
    },
  },
  error: {
    self: "The error, in `on-error`.",
    members: {
      source: "The kind of the statement that failed.",
      reason: "A stable code of the error.",
      message: "A sentence that describes the error.",
      section: "The section in which the error occurred.",
      status: "The status that the client gets.",
      scope: 'The scope of the policy document; `""` for other statements.',
      path: 'The place in the policy document, e.g. `choose[1]/when[2]`; `""` for other statements.',
      policy: 'The `id` of the policy in a document; `""` for other statements.',
    },
  },
}

const otherDocs: Readonly<Record<string, string>> = {
  path: "The parameters of the route's path, decoded: `path.id`.",
  jwt: "The claims of the caller's token: `jwt.sub`.",
  item: "The item of the list that `filter` looks at.",
  var: "The variables that earlier statements set: `var.tenant` of `set tenant (…)`.",
  now: "The time when it is read.",
}

/** What a name of the context means, in Markdown: a variable, or a member of one of its objects. Undefined for all other names. */
export function contextDocs(name: string, member?: string): string | undefined {
  const known: Readonly<Record<string, { self: string; members: Readonly<Record<string, string>> }>> = docs
  if (member === undefined)
    return (
      (Object.hasOwn(otherDocs, name) ? otherDocs[name] : undefined) ??
      (Object.hasOwn(known, name) ? known[name]?.self : undefined)
    )
  const members = Object.hasOwn(known, name) ? known[name]?.members : undefined
  return members !== undefined && Object.hasOwn(members, member) ? members[member] : undefined
}

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
