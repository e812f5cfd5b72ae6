import { z } from "zod"
import { headerName } from "./header-name.ts"
import { stepId } from "./step-id.ts"
import { expression, loadText, name, text } from "./text.ts"

/** Name of a variable that steps and expressions of one exchange share. */
export const variableName = z.string().min(1).max(256)

/** A whole number that is known when the plan is made, or found per request. */
export const count = z.union([z.number().int().min(0).max(1_000_000_000_000), z.strictObject({ expression })])
export type Count = z.infer<typeof count>

/** Yes or no, known when the plan is made or found per request. */
export const flag = z.union([z.boolean(), z.strictObject({ expression })])
export type Flag = z.infer<typeof flag>

/**
 * How much a call counts: a number, or the tokens a language model used for it, as its answer says (`usage` of OpenAI's and Anthropic's APIs, `usageMetadata` of
 * Gemini's). With `estimatePrompt` those of the prompt are estimated and counted before it is sent.
 */
export const amount = z.union([count, z.strictObject({ tokens: z.strictObject({ estimatePrompt: flag }) })])
export type Amount = z.infer<typeof amount>

/**
 * One rule on a token's claims. `has-*` treats a string as a blank-separated list (RFC 8693 `scope`); dots in `claim` walk into objects.
 * `separator` splits a string instead of blanks; empty: a string is one value.
 */
export const claimRule = z.strictObject({
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
export const credentialSource = z.union([
  z.strictObject({ header: headerName, scheme: z.string().min(1).max(64).nullable() }),
  z.strictObject({ query: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ cookie: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ text }),
])
export type CredentialSource = z.infer<typeof credentialSource>

/**
 * Verifies a JWT (RFC 7519, 8725) of any of `issuers` (the first whose keys verify it counts) and sets the caller's claims, and the variable `output`
 * to `{claims, header}`. `audiences` and `issuerValues` replace what the issuers say; absent: the issuers' own. Failure: `status`, when it is 401 with
 * `WWW-Authenticate` (RFC 6750 §3), and perhaps `message`; claims not met: `claimStatus`.
 */
export const validateJwt = z.strictObject({
  kind: z.literal("validate-jwt"),
  issuers: z.array(name).min(1).max(20),
  /** Of the issuers in `cases` only those count whose address is what `by` says. */
  chosen: z
    .strictObject({
      by: text,
      cases: z
        .array(z.strictObject({ address: loadText, issuer: name }))
        .min(1)
        .max(20),
    })
    .optional(),
  from: credentialSource,
  claims: z.array(claimRule).max(50),
  audiences: z.array(text).max(100).optional(),
  issuerValues: z.array(text).max(100).optional(),
  clockSkewSeconds: count.optional(),
  requireExpiration: flag,
  status: count,
  claimStatus: count,
  message: text.optional(),
  output: variableName.optional(),
})

/** As `validate-jwt` for opaque tokens: the introspection endpoint says whether it counts, and its claims (RFC 7662). No answer: 503. */
export const introspect = z.strictObject({
  kind: z.literal("introspect"),
  introspection: name,
  from: credentialSource,
  claims: z.array(claimRule).max(50),
  audiences: z.array(text).max(100).optional(),
  status: count,
  claimStatus: count,
  message: text.optional(),
  output: variableName.optional(),
})

/** User and password (RFC 7617). Sets the claim `sub` to the user; the password goes no further unless `forward`. */
export const basicAuth = z.strictObject({
  kind: z.literal("basic-auth"),
  users: name,
  realm: z.string().regex(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,128}$/),
  status: count,
  message: text.optional(),
  forward: z.boolean(),
})

/** The header is there, and is one of `values` (none: presence only). More than one line fails. */
export const checkHeader = z.strictObject({
  kind: z.literal("check-header"),
  name: headerName,
  values: z.array(text).max(100),
  ignoreCase: flag,
  status: count,
  message: text.optional(),
})

/** Lets only (`allow`) or all but (`deny`) addresses of these networks pass. CIDR notation. */
export const ipFilter = z.strictObject({
  kind: z.literal("ip-filter"),
  action: z.enum(["allow", "deny"]),
  networks: z.array(z.string()).max(10_000),
  ranges: z.array(z.strictObject({ from: z.string(), to: z.string() })).max(10_000),
})

/** What a limit counts by; the first that the request has is taken. `ip` is always there. */
export const limitKey = z.union([
  z.strictObject({ by: z.literal("subscription") }),
  z.strictObject({ by: z.literal("ip") }),
  z.strictObject({ by: z.literal("claim"), claim: z.string().min(1).max(256) }),
  z.strictObject({ by: z.literal("text"), text }),
])
export type LimitKey = z.infer<typeof limitKey>

/** Names of headers and variables a limit tells its state by, besides the standard ones. */
const limitSigns = {
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

/**
 * Never more than `callsMax` in any `periodSeconds` per key. `counter` names the table of counts: it survives a new plan that keeps the name.
 * With `countIf` (perhaps about the response) a call is counted when that holds, after the response if it reads one; `increment` is how much one counts.
 */
export const rateLimit = z.strictObject({
  kind: z.literal("rate-limit"),
  counter: z.string().min(1).max(512),
  callsMax: count,
  periodSeconds: count,
  keys: z.array(limitKey).min(1).max(8),
  countIf: expression.optional(),
  increment: amount.optional(),
  ...limitSigns,
})

/**
 * A volume that is used up: calls (how many may be found per request) or bytes in a fixed period, durable over restarts (kept with usage). `periodSeconds` 0: for ever. The period starts at
 * `startsAt` (ISO date-time), absent: with the subscription, or at the epoch. Used up: 403 with Retry-After.
 */
export const quota = z.strictObject({
  kind: z.literal("quota"),
  counter: z.string().min(1).max(512),
  callsMax: z.union([z.number().int().min(1), z.strictObject({ expression })]).optional(),
  bytesMax: z.number().int().min(1).optional(),
  periodSeconds: z.number().int().min(0).max(2_147_483_647),
  startsAt: z.iso.datetime().optional(),
  keys: z.array(limitKey).min(1).max(8),
  countIf: expression.optional(),
  increment: amount.optional(),
  remainingHeader: headerName.optional(),
  remainingVariable: variableName.optional(),
  consumedHeader: headerName.optional(),
  consumedVariable: variableName.optional(),
})

/** Cross-origin resource sharing (Fetch standard). `origins` `["*"]`: any. On a preflight (OPTIONS with Access-Control-Request-Method) nothing else runs. */
export const cors = z.strictObject({
  kind: z.literal("cors"),
  origins: z.array(text).min(1).max(1000),
  methods: z.array(z.string()).max(50),
  headers: z.array(z.string()).max(200),
  expose: z.array(z.string()).max(200),
  credentials: z.boolean(),
  maxAgeSeconds: z.number().int().min(0).max(2_147_483_647),
  /** A preflight that matches nothing ends here with an empty 200, instead of going on to the backend. */
  terminateUnmatched: z.boolean(),
})

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

/** Asks the engine, or a decision point: may `user` have `relation` on `object`? No: 403. No answer: 503. Dynamic parts must be ids (no `#`, `:`, `*`, blanks), else 400. */
export const require_ = z.strictObject({
  kind: z.literal("require"),
  ...asked,
  relation: z.string(),
  object: text,
  user: text,
  ...circumstances,
})

/** One of several `require` steps is enough. None says yes: 403, unless one had no answer: 503. */
export const requireAny = z.strictObject({
  kind: z.literal("require-any"),
  steps: z.array(stepId).min(2).max(20),
})

/** Each of several `require` steps; of one decision point all are asked in one request. The first that is no yes: 403, or as it is refused. */
export const requireAll = z.strictObject({
  kind: z.literal("require-all"),
  steps: z.array(stepId).min(2).max(20),
})

/**
 * Takes out of a JSON answer (2xx) the items the caller may not see, by one batch: of the array at `items` (dots walk into objects; empty: the whole).
 * `object`, `user` and what else is asked may read `item`. No answer to it: 503, an answer without such an array: 502; never unfiltered.
 */
export const filter = z.strictObject({
  kind: z.literal("filter"),
  ...asked,
  items: z.string().max(1024),
  relation: z.string(),
  object: text,
  user: text,
  ...circumstances,
})

/** Writes or deletes a tuple after the backend said yes (2xx), before its answer goes out; retried, a failure is told as 502 with a log line. What is there (or gone) already is fine. */
export const grant = z.strictObject({
  kind: z.literal("grant"),
  action: z.enum(["write", "delete"]),
  store: name,
  user: text,
  relation: z.string(),
  object: text,
})
