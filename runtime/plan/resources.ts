import * as z from "zod"
import { pathTemplates } from "./segment-template.ts"
import { stepId } from "./step-id.ts"
import { loadText, name, reference } from "./text.ts"

const milliseconds = z.number().int().min(1).max(86_400_000)

/** Where a listener binds. IPv6 without brackets; port 0 is not allowed in a plan. */
export const address = z.strictObject({
  host: z.string().min(1).max(255),
  port: z.number().int().min(1).max(65_535),
})
export type Address = z.infer<typeof address>

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
    .refine((path) => pathTemplates(path) !== undefined, "is no path of a route"),
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
