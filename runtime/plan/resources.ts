import * as z from "zod"
import { pathTemplates } from "./segment-template.ts"
import { loadText, name, reference, stepId } from "./text.ts"

const milliseconds = z.number().int().min(1).max(86_400_000)
const status = z.number().int().min(100).max(599)

/** Where a listener binds. IPv6 without brackets; port 0 is not allowed in a plan. */
export const address = z.strictObject({
  host: z.string().min(1).max(255),
  port: z.number().int().min(1).max(65_535),
})
export type Address = z.infer<typeof address>

/** An address as it stands in gateway.conf, in a URL and in messages: `127.0.0.1:8000`, `[::1]:8000`. */
export function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}

/** Bits of an IPv6 address that limits count callers by: a customer has a /64 at least (RFC 6177), of which every address is theirs. */
export const ipv6PrefixDefault = 64

/** Limits of the public listener; every one has a default, so the plan always says all of them. `timeoutMs` null: none. */
export const limits = z.strictObject({
  bodyBytesMax: z.number().int().min(0).max(1_099_511_627_776),
  /** Largest body, of a request or an answer, that is read whole because a policy needs it; with its codings and without. */
  bufferBytesMax: z.number().int().min(0).max(1_073_741_824),
  headerBytesMax: z.number().int().min(1024).max(1_048_576),
  headersMax: z.number().int().min(1).max(10_000),
  timeoutMs: milliseconds.nullable(),
  /** Absent: `ipv6PrefixDefault`, as in plans from before there was a choice. */
  ipv6Prefix: z.number().int().min(32).max(128).optional(),
  /** Values and names of a JSON body that a policy reads. Absent: `jsonValuesDefault`. */
  jsonValuesMax: z.number().int().min(1000).max(100_000_000).optional(),
})

/** The public side. `trust`: CIDRs of proxies whose X-Forwarded-For is believed. */
export const gateway = z.strictObject({
  name,
  listen: z.array(address).min(1).max(16),
  trust: z.array(z.string()).max(1000),
  /** How failures look: RFC 9457 problem bodies, or those of Azure API Management. */
  errors: z.enum(["problem", "apim"]),
  limits,
  /** What runs, as the on-error section of a route does, where no route serves a request: that of the gateway's policy documents. Absent: nothing. */
  onUnmatched: z.array(stepId).max(1000).optional(),
})

/** A named value: read from outside, or text that may use other values. Constants nobody needs at run time are inlined and not here. */
export const value = z.union([z.strictObject({ from: reference }), z.strictObject({ text: loadText })])

/** What we show when we are asked who we are in TLS: PEM files, read again when they change. */
export const clientCertificate = z.strictObject({
  cert: z.strictObject({ file: z.string().min(1) }),
  key: z.strictObject({ file: z.string().min(1) }),
})
/** A certificate of the plan. */
export type ClientCertificatePlan = z.infer<typeof clientCertificate>

/**
 * Gets tokens for ourselves by client credentials (RFC 6749 §4.4), from the token endpoint of a discovery document or of its own. `inBody`: the secret goes
 * in the form and not in an Authorization header (§2.3.1); absent: as the discovery document says.
 */
export const tokenClient = z.strictObject({
  endpoint: z.union([z.strictObject({ discovery: loadText }), z.strictObject({ url: loadText })]),
  client: loadText,
  secret: name,
  scope: loadText.optional(),
  audience: loadText.optional(),
  inBody: z.boolean().optional(),
})
/** A token client of the plan. */
export type TokenClientPlan = z.infer<typeof tokenClient>

/** Who is asked about opaque tokens (RFC 7662), with our own credentials there. What it said counts for `cacheSeconds` at most, and never beyond `exp`. */
export const introspection = z.strictObject({
  url: loadText,
  client: loadText,
  secret: name,
  cacheSeconds: z.number().int().min(0).max(3_600),
})

/** Users with passwords: names of secrets, whose text is the password or its `scrypt:` hash. */
export const users = z.strictObject({
  users: z
    .array(
      z.strictObject({
        user: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[^:\p{Cc}]*$/u),
        secret: name,
      }),
    )
    .min(1)
    .max(10_000),
})
/** A table of users of the plan. */
export type UsersPlan = z.infer<typeof users>

/** How the gateway shows a backend who it is, in every request. */
const backendAuthentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: loadText, password: name }),
  z.strictObject({ scheme: z.literal("token"), client: name }),
])
/** Credentials of a backend. */
export type BackendAuthentication = z.infer<typeof backendAuthentication>

/**
 * Keeps requests from a target that fails: no answer in time, or one of `statuses`. Opens after `calls` failures in `windowMs`; with `percent`, when such a share
 * of at least `calls` calls failed. While more than `ejectedMaxPercent` of a backend's targets are open, breakers do not count: some answer is better than none.
 */
const breaker = z.strictObject({
  calls: z.number().int().min(1).max(1_000_000),
  percent: z.number().int().min(1).max(100).optional(),
  windowMs: milliseconds,
  openMs: milliseconds,
  statuses: z.array(status).max(500),
  ejectedMaxPercent: z.number().int().min(0).max(100),
})
/** A breaker as the plan has it. */
export type BreakerPlan = z.infer<typeof breaker>

/** Asks every target by itself whether it is well. A target is down after `downAfter` bad answers in a row, and up after `upAfter` good ones; it begins up. */
const health = z.strictObject({
  method: z.enum(["GET", "HEAD"]),
  path: z.string().regex(/^\//).max(2048),
  everyMs: z.number().int().min(100).max(3_600_000),
  timeoutMs: milliseconds,
  statuses: z.array(status).min(1).max(500),
  downAfter: z.number().int().min(1).max(100),
  upAfter: z.number().int().min(1).max(100),
})
/** Health checks as the plan has them. */
export type HealthPlan = z.infer<typeof health>

/** What a request is sent again for. `connect-error`: nothing of it was sent. `reset`: no answer before the connection broke. `timeout`: no head in time. */
const retryCause = z.union([z.enum(["connect-error", "reset", "timeout"]), status])
export type RetryCause = z.infer<typeof retryCause>

/**
 * Sends a request again, to another target where there is one: at most `times`, never after a byte of an answer went to the client, and only methods that may be repeated
 * (RFC 9110 §9.2.2) or are in `methods` (but for `connect-error`). Repetitions are at most `budgetPercent` of the requests. What could not be brought to one target goes
 * to the others in any case, and is none.
 */
const backendRetry = z.strictObject({
  times: z.number().int().min(1).max(10),
  on: z.array(retryCause).min(1).max(50),
  methods: z.array(z.string()).max(20),
  budgetPercent: z.number().int().min(1).max(100),
})
export type BackendRetry = z.infer<typeof backendRetry>

/**
 * Where requests go. URLs are `http:` or `https:` with an optional base path. `totalMs` null: the operation's own deadline only. Without `balance` targets take turns by weight;
 * `hash` sends equal keys (of the forward step) to the same target.
 */
export const backend = z.strictObject({
  targets: z
    .array(z.strictObject({ url: loadText, weight: z.number().int().min(1).max(1000) }))
    .min(1)
    .max(256),
  connectMs: milliseconds,
  totalMs: milliseconds.nullable(),
  /** Until the head of the answer; absent: no limit of its own. */
  firstByteMs: milliseconds.optional(),
  /** Between two pieces of the answer; absent: no limit of its own. */
  idleMs: milliseconds.optional(),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** Which of the plan's certificates we show. */
    certificate: name.optional(),
  }),
  /** Offers HTTP/2 where there is TLS (ALPN). */
  http2: z.boolean().optional(),
  balance: z.enum(["least-outstanding", "hash"]).optional(),
  health: health.optional(),
  breaker: breaker.optional(),
  retry: backendRetry.optional(),
  /** Goes to these targets alone, and in place of any Authorization the request has. */
  authentication: backendAuthentication.optional(),
})
export type Backend = z.infer<typeof backend>

/** How the gateway shows a decision point who it is: as to a backend, or by a token that does not change (RFC 6750). */
const pdpAuthentication = z.union([
  ...backendAuthentication.options,
  z.strictObject({ scheme: z.literal("bearer"), token: name }),
])
/** Credentials for a decision point. */
export type PdpAuthentication = z.infer<typeof pdpAuthentication>

/**
 * A policy decision point that is asked by AuthZEN's Authorization API 1.0. With `discover` its metadata names the endpoints, else they stand below `url`.
 * `cacheMs` 0: no decision is kept.
 */
export const pdp = z.strictObject({
  url: loadText,
  discover: z.boolean(),
  /** For one question, all its requests together. */
  timeoutMs: z.number().int().min(1).max(60_000),
  cacheMs: z.number().int().min(0).max(3_600_000),
  /** Evaluations in one request. */
  batchMax: z.number().int().min(1).max(10_000),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** Which of the plan's certificates we show. */
    certificate: name.optional(),
  }),
  authentication: pdpAuthentication.optional(),
  breaker: breaker.optional(),
})
/** A decision point of the plan. */
export type PdpPlan = z.infer<typeof pdp>

/** Types of claims an issuer promises (notation of runtime/expression/types.ts). */
export const claimTypes = z.record(z.string(), z.string())

/** Signatures a token may have by a public key (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export const signatureAlgorithm = z.enum([
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
])

/** Signatures by a shared secret (HMAC): for issuers whose keys are such secrets, and for no others. */
export const secretAlgorithm = z.enum(["HS256", "HS384", "HS512"])

/** A key that is written in the text. `id` is the `kid` of its tokens; null: any. A secret's text is its bytes, or they are in Base64. */
export const inlineKey = z.union([
  z.strictObject({
    id: z.string().max(256).nullable(),
    rsa: z.strictObject({ n: z.string().max(4096), e: z.string().max(64) }),
  }),
  z.strictObject({
    id: z.string().max(256).nullable(),
    certificate: z.strictObject({ file: z.string().min(1) }),
  }),
  z.strictObject({ id: z.string().max(256).nullable(), secret: name, encoding: z.enum(["text", "base64"]) }),
])
export type InlineKey = z.infer<typeof inlineKey>

/**
 * Who signs tokens: found by OIDC discovery, or with keys from a JWKS file or of the text, and the `iss` value given; null: any (said by `any-issuer`). `exact`: the
 * document is at this very URL and may name another issuer than that; tokens must carry the name it says.
 * `audiences` null: any (said by `any-audience`). */
export const issuer = z.strictObject({
  source: z.union([
    z.strictObject({ discovery: loadText, exact: z.literal(true).optional() }),
    z.strictObject({ keys: z.strictObject({ file: z.string().min(1) }), issuer: loadText.nullable() }),
    z.strictObject({ inline: z.array(inlineKey).min(1).max(20), issuer: loadText.nullable() }),
  ]),
  audiences: z.array(loadText).min(1).max(100).nullable(),
  clockSkewSeconds: z.number().int().min(0).max(600),
  algorithms: z.union([z.array(signatureAlgorithm).min(1), z.array(secretAlgorithm).min(1)]),
  claims: claimTypes.nullable(),
})
export type Issuer = z.infer<typeof issuer>

/** What a call costs: a decimal number as text, so that it is exact, and an ISO 4217 code. */
export const price = z.strictObject({
  amount: z.string().regex(/^(0|[1-9]\d{0,11})(\.\d{1,12})?$/),
  currency: z.string().regex(/^[A-Z]{3}$/),
})

/**
 * A bundle of APIs that a subscription opens. `open`: without any key too, as a call of the product. `unpublished`: nobody new can subscribe, and it is
 * not open; keys that were issued count on. `approval`: what is issued waits for an operator. What is absent does not hold, or has no bound.
 */
export const product = z.strictObject({
  apis: z.array(name).max(10_000),
  unpublished: z.literal(true).optional(),
  open: z.literal(true).optional(),
  approval: z.literal(true).optional(),
  subscriptionsPerOwner: z.number().int().min(1).max(1_000_000).optional(),
  price: price.optional(),
})
export type Product = z.infer<typeof product>

/** A subscription declared in text. `key` and `secondary` name secrets; either lets in. It covers one product, one API, or all. */
export const subscription = z.strictObject({
  scope: z.union([
    z.strictObject({ product: name }),
    z.strictObject({ api: name }),
    z.strictObject({ all: z.literal(true) }),
  ]),
  key: name,
  secondary: name.optional(),
})

/** The ordered steps of one route. `backend` is empty where the inbound section always answers. */
export const sections = z.strictObject({
  inbound: z.array(stepId).max(1000),
  backend: z.array(stepId).max(1000),
  outbound: z.array(stepId).max(1000),
  onError: z.array(stepId).max(1000),
})

/** Forms of a path that servers read in different ways. What is absent is refused. */
export const pathForms = z.strictObject({
  /** `%2F` in a segment. */
  encodedSlash: z.literal(true).optional(),
  /** `;` in a segment, raw or encoded. */
  pathParameters: z.literal(true).optional(),
  /** `//` in what a last `{name*}` stands for. */
  emptySegments: z.literal(true).optional(),
})
export type PathForms = z.infer<typeof pathForms>

/** The element of a policy document that a step was made of, in the words of Azure API Management's `LastError`. */
const policyElement = z.strictObject({
  /** Name of the policy: `validate-jwt`. */
  source: z.string().min(1).max(128),
  scope: z.enum(["global", "product", "api", "operation"]),
  /** Inside of its section: `choose[1]/when[2]/set-header[1]`. */
  path: z.string().max(8192),
  /** Its `id`, where its author gave one. */
  id: z.string().max(1024).optional(),
})
export type PolicyElement = z.infer<typeof policyElement>

/** Elements of a route's steps, by the step's index path: `inbound.3.matched.0`. Steps of gateway.conf's own statements have none. */
export const outline = z.record(z.string(), policyElement)
export type Outline = z.infer<typeof outline>

/**
 * One operation of one API version. `method` is a token or `*` (any). `path` is the full pattern from the root: literal segments, `{name}`,
 * literals and parameters in one segment (`{id}:cancel`), and perhaps a last `{name*}`. `stripPrefix` is the canonical prefix (version and API path) that is not sent to the backend.
 */
export const route = z.strictObject({
  api: name,
  version: name.nullable(),
  operation: z.string(),
  method: z.string().regex(/^(\*|[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})$/),
  path: z
    .string()
    .regex(/^\//)
    .max(2048)
    .refine((path) => pathTemplates(path) !== undefined, "is not a path of a route"),
  /** Names it is served on, lower case, `*.example.com` for all below one; absent: every name. */
  hosts: z
    .array(z.string().regex(/^(?:\*\.)?[a-z0-9._~[\]:-]{1,253}$/))
    .min(1)
    .max(100)
    .optional(),
  stripPrefix: z.string().max(2048),
  /** Absent: none. */
  passes: pathForms.optional(),
  timeoutMs: milliseconds.nullable(),
  /** What ends WebSockets besides the two ends; null: none are opened, absent: nothing else does. */
  websocket: z
    .strictObject({
      idleMs: milliseconds.nullable(),
      expireWithToken: z.boolean(),
      closeWhenRemoved: z.boolean(),
    })
    .nullable()
    .optional(),
  sections,
  /** What of policy documents its steps were made of; absent: of none. */
  outline: stepId.optional(),
  /** Parameters of the query that policy documents find in the operation's template; absent: none. */
  queryParameters: z.array(z.string().min(1).max(256)).max(500).optional(),
})

export type Route = z.infer<typeof route>

/** The key of a route in the plan: `METHOD /path`, and for some hosts only `METHOD api.example.com,*.example.com/path`. */
export function routeKeyOf(route: {
  readonly method: string
  readonly path: string
  readonly hosts?: readonly string[] | undefined
}): string {
  return `${route.method} ${(route.hosts ?? []).join(",")}${route.path}`
}
