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

/** Name of a variable that steps and expressions of one exchange share. */
export const variableName = z.string().min(1).max(256)

/** A whole number that is known when the plan is made, or found per request. */
export const count = z.union([z.number().int().min(0).max(1_000_000_000_000), z.strictObject({ expression })])

export type Count = z.infer<typeof count>

/** The number, or what it is by default where only a request decides. */
export function constantCount(value: Count, byDefault: number): number {
  return typeof value === "number" ? value : byDefault
}

/** Yes or no, known when the plan is made or found per request. */
export const flag = z.union([z.boolean(), z.strictObject({ expression })])

export type Flag = z.infer<typeof flag>

/** Which message of the exchange a step works on. */
export const message = z.enum(["request", "response"])

/** A name known when the plan is made, or found per request and checked then. */
export const dynamicName = z.strictObject({ text })

/** What a variable or the cache gets: a text, or the value of an expression. */
export const textOrExpression = z.union([text, z.strictObject({ expression })])

export type TextOrExpression = z.infer<typeof textOrExpression>

/** The name that stands in the plan; `*` where only a request decides. */
export function constantName(name: string | { readonly text: Text }): string {
  return typeof name === "string" ? name : constantOr(name.text)
}

/** The place of a value in the cache. */
export function cacheKey(key: Text): Place {
  return `cache:${constantOr(key)}`
}

/**
 * What a body is made of. `value`: an expression whose value is written as JSON (maps, lists) or as text or bytes (strings, bytes).
 * `liquid`: a template with `body`, `context` (APIM's names) and what the language has (`request`, `var`, …).
 */
export const bodyContent = z.union([
  z.strictObject({ text }),
  z.strictObject({ value: expression }),
  z.strictObject({ liquid: z.string().max(262_144), xsiNil: z.enum(["blank", "null"]).optional() }),
])

export type BodyContent = z.infer<typeof bodyContent>

/** What a template reads cannot be seen from outside. */
export function contentRead(content: BodyContent | undefined): readonly Place[] {
  return content !== undefined && "liquid" in content ? everyPlace : []
}

/** What an answer is made of: `respond`, and requests of our own. */
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

/** How a request of our own, or to the backend, says who we are. */
export const authentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: text, password: text }),
  z.strictObject({ scheme: z.literal("bearer"), token: text }),
  /** A token of a declared client. */
  z.strictObject({ scheme: z.literal("token"), client: name }),
  /** Shown in TLS. */
  z.strictObject({ scheme: z.literal("certificate"), certificate: name }),
])

export type Authentication = z.infer<typeof authentication>

/** The declared thing that a request of our own, or to the backend, authenticates with. */
export function namedAuthentication(authentication: Authentication | undefined): NamedResource[] {
  if (authentication?.scheme === "token")
    return named("tokenClients", "authentication", authentication.client)
  return authentication?.scheme === "certificate"
    ? named("certificates", "authentication", authentication.certificate)
    : []
}

/**
 * One rule on a token's claims. `has-*` treats a string as a blank-separated list (RFC 8693 `scope`); dots in `claim` walk into objects.
 * `separator` splits a string instead of blanks; empty: a string is one value.
 */
const claimRule = z.strictObject({
  claim: z.string().min(1).max(256),
  test: z.enum(["present", "has-any", "has-all", "equals-any"]),
  values: z.array(text).max(100),
  separator: z.string().max(16).optional(),
})

export type ClaimRule = z.infer<typeof claimRule>

/**
 * Where a credential is taken from. `scheme` null: the value stands alone, or behind `Bearer` all the same; else the scheme is demanded.
 * What came in the query or a cookie is taken out of the request unless `forward`; a header stays.
 */
const credentialSource = z.union([
  z.strictObject({ header: headerName, scheme: z.string().min(1).max(64).nullable() }),
  z.strictObject({ query: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ cookie: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ text }),
])

export type CredentialSource = z.infer<typeof credentialSource>

/** The field of HTTP's own credentials. */
export const authorization = headerOf("request", "authorization")

/** What a step that judges a token, of whatever kind, demands of it. */
export const tokenDemands = {
  from: credentialSource,
  claims: z.array(claimRule).max(50),
  audiences: z.array(text).max(100).optional(),
}

/** How such a step ends. Refused: `status`, perhaps with `message`; claims not met: `claimStatus`. `output`: the variable that gets what the token says. */
export const tokenOutcome = {
  status: count,
  claimStatus: count,
  message: text.optional(),
  output: variableName.optional(),
}

/** A step that judges a token. */
export type TokenCheck = z.infer<z.ZodObject<typeof tokenDemands & typeof tokenOutcome, z.core.$strict>>

/**
 * Where in a request a credential is shown: a token, user and password (RFC 7617), or the subscription key of an API, in the header first. A key or a password goes no further unless
 * `forward`.
 */
export type ShownCredential =
  | { readonly is: "token"; readonly from: CredentialSource }
  | { readonly is: "password"; readonly forward: boolean }
  | {
      readonly is: "key"
      readonly api: string
      readonly header: string | null
      readonly query: string | null
      readonly forward: boolean
    }

/** What a step does that lets in who shows a credential, and where the credential is shown. */
export interface CredentialFacts extends StepFacts {
  readonly shown: ShownCredential
}

/** Where a credential is read, and what is taken out of the request once it was good. */
function credentialPlaces(from: CredentialSource): {
  readonly read: Place[]
  readonly taken: Place[]
} {
  if ("header" in from) return { read: [headerOf("request", from.header)], taken: [] }
  if ("text" in from) return { read: [], taken: [] }
  const place = "query" in from ? queryOf(from.query) : headerOf("request", "cookie")
  return { read: [place], taken: from.forward ? [] : [place] }
}

/** Facts of a step that judges a token; `asked`: who else is asked about it. */
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

/** Values found per request, by name. */
const namedValues = z
  .array(z.strictObject({ key: z.string().min(1).max(256), value: expression }))
  .max(100)
  .optional()

/** Who is asked, one of the two: a store of the engine, or a decision point. */
const asked = { store: name.optional(), pdp: name.optional() }

/**
 * What every question may bring along: values for conditions; to the engine tuples that count for this question only, to a decision point properties of subject,
 * resource and action.
 */
const circumstances = {
  context: namedValues,
  properties: z.strictObject({ subject: namedValues, resource: namedValues, action: namedValues }).optional(),
  tuples: z
    .array(z.strictObject({ user: text, relation: z.string(), object: text }))
    .max(20)
    .optional(),
}

/** The fields of a step that asks whether `user` has `relation` on `object`. */
export const relationQuestion = { ...asked, relation: z.string(), object: text, user: text, ...circumstances }

export type RelationQuestion = z.infer<z.ZodObject<typeof relationQuestion, z.core.$strict>>

/** Who decides: the tuples of a store, or a service outside. */
export function decider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): Place {
  return pdp === undefined ? `tuples:${store ?? ""}` : `service:${pdp}`
}

/** The store or the decision point that is asked. */
export function namedDecider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): NamedResource[] {
  return [
    ...(store === undefined ? [] : named("stores", "store", store)),
    ...(pdp === undefined ? [] : named("pdps", "pdp", pdp)),
  ]
}

/**
 * How much a call counts: a number, or the tokens a language model used for it, as its answer says (`usage` of OpenAI's and Anthropic's APIs, `usageMetadata` of
 * Gemini's). With `estimatePrompt` those of the prompt are estimated and counted before it is sent.
 */
const amount = z.union([count, z.strictObject({ tokens: z.strictObject({ estimatePrompt: flag }) })])

export type Amount = z.infer<typeof amount>

/** Which of the tokens a language model used for a call, as its answer says. */
export const tokenKind = z.enum(["prompt", "completion", "total"])

export type TokenKind = z.infer<typeof tokenKind>

/** What a limit counts by; the first that the request has is taken. `ip` is always there. */
const limitKey = z.union([
  z.strictObject({ by: z.literal("subscription") }),
  z.strictObject({ by: z.literal("ip") }),
  z.strictObject({ by: z.literal("claim"), claim: z.string().min(1).max(256) }),
  z.strictObject({ by: z.literal("text"), text }),
])

export type LimitKey = z.infer<typeof limitKey>

/** Names of headers and variables a limit tells its state by, besides the standard ones. */
export const limitSigns = {
  retryAfterHeader: headerName.optional(),
  retryAfterVariable: variableName.optional(),
  remainingHeader: headerName.optional(),
  remainingVariable: variableName.optional(),
  totalHeader: headerName.optional(),
  totalVariable: variableName.optional(),
  /** How many tokens the call counted. As what is left after it, this is known when an answer has come that is no stream. */
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

/** Which calls are counted, how much one counts, and by which names a limit tells its state. */
export type Counting = Omit<
  z.infer<z.ZodObject<typeof counted & typeof limitSigns, z.core.$strict>>,
  "counter" | "keys"
>

/** Facts of a step that counts. What is counted may depend on the answer, and is then known when the exchange is over. */
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

/** What happens on a violation: nothing, a note in variable and log, or 400 (request) and 502 (response). */
export const violationAction = z.enum(["ignore", "detect", "prevent"])

export type ViolationAction = z.infer<typeof violationAction>

/** Which answers a description is for: a status, a class, or all that no other is for. */
export const describedStatus = z.string().regex(/^(default|[1-5]xx|[1-5][0-9]{2})$/)

/** Facts of a step that judges a message. Faults that are let pass are told in the log and in the variable, behind those that are there. */
export function judging(
  { errors }: { readonly errors?: string | undefined },
  actions: readonly unknown[],
  reads: readonly Place[],
): StepFacts {
  const told: Place[] = errors === undefined ? [] : [`variable:${errors}`]
  return {
    reads: [...reads, ...told],
    writes: told,
    leaves: actions.includes("detect") || actions.some((each) => typeof each === "object") ? ["log"] : [],
    // What an expression decides may be `prevent`.
    ends: actions.some((each) => each === "prevent" || typeof each === "object") ? ["refuse"] : [],
  }
}

/** The schemas that rules judge by. */
export function namedSchemas(rules: readonly { readonly schema?: string | undefined }[]): NamedResource[] {
  return named("schemas", "schema", ...rules.flatMap(({ schema }) => (schema === undefined ? [] : [schema])))
}
