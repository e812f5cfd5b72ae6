import * as z from "zod"
import { type NamedResource, named, type StepFacts } from "./facts.ts"
import { headerName } from "./http-syntax.ts"
import {
  bodyRead,
  constantOr,
  everyPlace,
  headerOf,
  type Place,
  queryOf,
  variablePlaces,
  wholeResponse,
} from "./places.ts"
import { expression, name, type Text, text } from "./text.ts"

/** Name of a variable that the steps and expressions of one exchange share. */
export const variableName = z.string().min(1).max(256)

/** A whole number: constant, or computed per request. */
export const count = z.union([z.number().int().min(0).max(1_000_000_000_000), z.strictObject({ expression })])

export type Count = z.infer<typeof count>

/** The number, or the given default if it depends on the request. */
export function constantCount(value: Count, byDefault: number): number {
  return typeof value === "number" ? value : byDefault
}

/** A boolean: constant, or computed per request. */
export const flag = z.union([z.boolean(), z.strictObject({ expression })])

export type Flag = z.infer<typeof flag>

/** Which message of the exchange a step works on. */
export const message = z.enum(["request", "response"])

/** A name computed per request, and checked then. */
export const dynamicName = z.strictObject({ text })

/** The value for a variable or the cache: a text, or the value of an expression. */
export const textOrExpression = z.union([text, z.strictObject({ expression })])

export type TextOrExpression = z.infer<typeof textOrExpression>

/** The constant name; `*` if it depends on the request. */
export function constantName(name: string | { readonly text: Text }): string {
  return typeof name === "string" ? name : constantOr(name.text)
}

/** The place of a cached value. */
export function cacheKey(key: Text): Place {
  return `cache:${constantOr(key)}`
}

/**
 * Where a body comes from. `value`: an expression; maps and lists are written as JSON, strings and bytes as they are. `liquid`: a template with `body`,
 * `context` (APIM's names) and the names of the language (`request`, `var`, …).
 */
export const bodyContent = z.union([
  z.strictObject({ text }),
  z.strictObject({ value: expression }),
  z.strictObject({ liquid: z.string().max(262_144), xsiNil: z.enum(["blank", "null"]).optional() }),
])

export type BodyContent = z.infer<typeof bodyContent>

/** A template is opaque: it may read everything. */
export function contentRead(content: BodyContent | undefined): readonly Place[] {
  return content !== undefined && "liquid" in content ? everyPlace : []
}

/** Headers of `respond`, and of requests sent by the gateway itself. */
export const headerLines = z
  .array(
    z.strictObject({
      name: headerName,
      action: z.enum(["set", "append", "default", "remove"]),
      values: z.array(text).max(100),
    }),
  )
  .max(100)

export type HeaderLines = z.infer<typeof headerLines>

/** How the gateway authenticates a request of its own, or a request to the backend. */
export const authentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: text, password: text }),
  z.strictObject({ scheme: z.literal("bearer"), token: text }),
  /** A token of a declared client. */
  z.strictObject({ scheme: z.literal("token"), client: name }),
  /** Presented in TLS. */
  z.strictObject({ scheme: z.literal("certificate"), certificate: name }),
])

export type Authentication = z.infer<typeof authentication>

/** The declared resource with which a request authenticates. */
export function namedAuthentication(authentication: Authentication | undefined): NamedResource[] {
  if (authentication?.scheme === "token")
    return named("tokenClients", "authentication", authentication.client)
  return authentication?.scheme === "certificate"
    ? named("certificates", "authentication", authentication.certificate)
    : []
}

/**
 * One rule on a token's claims. `has-*` treats a string as a list separated by spaces (RFC 8693 `scope`); dots in `claim` walk into objects. `separator`
 * replaces the space; empty: a string is one value.
 */
export const claimRule = z.strictObject({
  claim: z.string().min(1).max(256),
  test: z.enum(["present", "has-any", "has-all", "equals-any"]),
  values: z.array(text).max(100),
  separator: z.string().max(16).optional(),
})

export type ClaimRule = z.infer<typeof claimRule>

/**
 * Where a credential is read. `scheme` null: the value alone, or with a `Bearer` prefix; otherwise the scheme is required. A value from the query or a
 * cookie is removed from the request unless `forward`; a header stays.
 */
const credentialSource = z.union([
  z.strictObject({ header: headerName, scheme: z.string().min(1).max(64).nullable() }),
  z.strictObject({ query: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ cookie: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ text }),
])

export type CredentialSource = z.infer<typeof credentialSource>

/** The field of HTTP authentication. */
export const authorization = headerOf("request", "authorization")

/** What a step requires of a token of any kind. */
export const tokenDemands = {
  from: credentialSource,
  claims: z.array(claimRule).max(50),
  audiences: z.array(text).max(100).optional(),
}

/** How such a step ends. Refused: `status`, optionally with `message`. Claims not met: `claimStatus`. `output`: the variable that gets the content of the token. */
export const tokenOutcome = {
  status: count,
  claimStatus: count,
  message: text.optional(),
  output: variableName.optional(),
}

/** A step that verifies a token. */
export type TokenCheck = z.infer<z.ZodObject<typeof tokenDemands & typeof tokenOutcome, z.core.$strict>>

/**
 * Where a request carries a credential: a token, user and password (RFC 7617), the client certificate of its connection, a
 * signature in headers, a session in cookies, or the subscription key of an API, which is looked for in the header first. A key or a password is not forwarded unless
 * `forward`.
 */
export type ShownCredential =
  | { readonly is: "token"; readonly from: CredentialSource }
  | { readonly is: "password"; readonly forward: boolean }
  | { readonly is: "certificate" }
  | { readonly is: "signature"; readonly header: string }
  | { readonly is: "session" }
  | {
      readonly is: "key"
      readonly api: string
      readonly header: string | null
      readonly query: string | null
      readonly forward: boolean
    }

/** Facts of a step that authenticates by a credential, including where the credential is. */
export interface CredentialFacts extends StepFacts {
  readonly shown: ShownCredential
}

/** Where a credential is read, and what is removed from the request after it was accepted. */
function credentialPlaces(from: CredentialSource): {
  readonly read: Place[]
  readonly taken: Place[]
} {
  if ("header" in from) return { read: [headerOf("request", from.header)], taken: [] }
  if ("text" in from) return { read: [], taken: [] }
  const place = "query" in from ? queryOf(from.query) : headerOf("request", "cookie")
  return { read: [place], taken: from.forward ? [] : [place] }
}

/** Facts of a step that verifies a token; `asked`: other services that it asks about the token. */
export function tokenFacts(
  { from, output, status, claimStatus, claims }: TokenCheck,
  asked: readonly Place[] = [],
): CredentialFacts {
  const { read, taken } = credentialPlaces(from)
  return {
    shown: { is: "token", from },
    statuses: [constantCount(status, 401), ...(claims.length === 0 ? [] : [constantCount(claimStatus, 403)])],
    reads: [...read, ...asked],
    writes: ["caller", ...variablePlaces(output), ...taken],
    ends: ["refuse"],
    waits: true,
  }
}

/** Values computed per request, by name. */
const namedValues = z
  .array(z.strictObject({ key: z.string().min(1).max(256), value: expression }))
  .max(100)
  .optional()

/** Who decides, one of the two: a store of the engine, or a decision point. */
const asked = { store: name.optional(), pdp: name.optional() }

/** Optional inputs of a check: values for conditions. The engine also takes contextual tuples; a decision point takes properties of subject, resource and action. */
const circumstances = {
  context: namedValues,
  properties: z.strictObject({ subject: namedValues, resource: namedValues, action: namedValues }).optional(),
  tuples: z
    .array(z.strictObject({ user: text, relation: z.string(), object: text }))
    .max(20)
    .optional(),
}

/** The fields of a step that checks whether `user` has `relation` on `object`. */
export const relationQuestion = { ...asked, relation: z.string(), object: text, user: text, ...circumstances }

export type RelationQuestion = z.infer<z.ZodObject<typeof relationQuestion, z.core.$strict>>

/** What the decision depends on: the tuples of a store, or an external service. */
export function decider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): Place {
  return pdp === undefined ? `tuples:${store ?? ""}` : `service:${pdp}`
}

/** The store or the decision point that decides. */
export function namedDecider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): NamedResource[] {
  return [
    ...(store === undefined ? [] : named("stores", "store", store)),
    ...(pdp === undefined ? [] : named("pdps", "pdp", pdp)),
  ]
}

/**
 * How much a call counts: a number, or the tokens that a language model used for it, as reported in its response (`usage` of OpenAI's and Anthropic's
 * APIs, `usageMetadata` of Gemini's). With `estimatePrompt`, prompt tokens are estimated and counted before sending.
 */
const amount = z.union([count, z.strictObject({ tokens: z.strictObject({ estimatePrompt: flag }) })])

export type Amount = z.infer<typeof amount>

/** Which tokens that a language model reports. */
export const tokenKind = z.enum(["prompt", "completion", "total"])

export type TokenKind = z.infer<typeof tokenKind>

/** What a limit counts by: the first key that the request has. `ip` always exists. */
const limitKey = z.union([
  z.strictObject({ by: z.literal("subscription") }),
  z.strictObject({ by: z.literal("ip") }),
  z.strictObject({ by: z.literal("claim"), claim: z.string().min(1).max(256) }),
  z.strictObject({ by: z.literal("text"), text }),
])

export type LimitKey = z.infer<typeof limitKey>

/** Names of headers and variables in which a limit reports its state, in addition to the standard ones. */
export const limitSigns = {
  retryAfterHeader: headerName.optional(),
  retryAfterVariable: variableName.optional(),
  remainingHeader: headerName.optional(),
  remainingVariable: variableName.optional(),
  totalHeader: headerName.optional(),
  totalVariable: variableName.optional(),
  /** How many tokens the call used. Like the remainder, it is known only after a response that is not a stream. */
  consumedHeader: headerName.optional(),
  consumedVariable: variableName.optional(),
}

/** What a step counts, and by what. */
export const counted = {
  counter: z.string().min(1).max(512),
  keys: z.array(limitKey).min(1).max(8),
  countIf: expression.optional(),
  increment: amount.optional(),
}

type Counted = z.infer<z.ZodObject<typeof counted, z.core.$strict>>

function keysRead(keys: readonly LimitKey[]): Place[] {
  return keys.flatMap(({ by }): Place[] =>
    by === "claim" ? ["caller"] : by === "subscription" ? ["subscription"] : by === "ip" ? ["address"] : [],
  )
}

/** Which calls are counted, how much a call counts, and where a limit reports its state. */
export type Counting = Omit<
  z.infer<z.ZodObject<typeof counted & typeof limitSigns, z.core.$strict>>,
  "counter" | "keys"
>

/** Facts of a step that counts. If the count depends on the response, it is known only when the exchange has ended. */
export function countingFacts({ keys, counter, countIf, increment }: Counted): StepFacts {
  const place: Place = `counter:${counter}`
  const isTokens = typeof increment === "object" && "tokens" in increment
  const isLate = countIf !== undefined || typeof increment === "object"
  const estimated = isTokens && increment.tokens.estimatePrompt !== false
  return {
    reads: [place, ...keysRead(keys), ...(estimated ? bodyRead("request") : [])],
    leaves: [place],
    ends: estimated ? ["refuse", "fail"] : ["refuse"],
    waits: true,
    ...(isLate ? { late: wholeResponse } : {}),
  }
}

/** What happens on a violation: nothing, an entry in variable and log, or 400 (request) and 502 (response). */
export const violationAction = z.enum(["ignore", "detect", "prevent"])

export type ViolationAction = z.infer<typeof violationAction>

/** The responses a description applies to: a status, a class, or `default` for all others. */
export const describedStatus = z.string().regex(/^(default|[1-5]xx|[1-5][0-9]{2})$/)

/** Facts of a step that validates a message. Tolerated faults are written to the log and appended to the variable. */
export function judging(
  { errors }: { readonly errors?: string | undefined },
  actions: readonly unknown[],
  reads: readonly Place[],
): StepFacts {
  const writes: Place[] = errors === undefined ? [] : [`variable:${errors}`]
  return {
    reads: [...reads, ...writes],
    writes: writes,
    leaves: actions.includes("detect") || actions.some((each) => typeof each === "object") ? ["log"] : [],
    // An expression can yield `prevent`.
    ends: actions.some((each) => each === "prevent" || typeof each === "object") ? ["refuse"] : [],
  }
}

/** The schemas that the rules use. */
export function namedSchemas(rules: readonly { readonly schema?: string | undefined }[]): NamedResource[] {
  return named("schemas", "schema", ...rules.flatMap(({ schema }) => (schema === undefined ? [] : [schema])))
}

/** The counter of accepted signatures. One for all routes: a request that one route accepted must not pass on another. */
export const replayCounter = "signatures"
