import * as z from "zod"
import { headerName } from "./http-syntax.ts"
import { pathTemplates } from "./segment-template.ts"
import { loadText, name, reference, stepId } from "./text.ts"

const milliseconds = z.number().int().min(1).max(86_400_000)
const status = z.number().int().min(100).max(599)

/** Address of a listener. IPv6 without brackets; port 0 is not allowed in a plan. */
export const address = z.strictObject({
  host: z.string().min(1).max(255),
  port: z.number().int().min(1).max(65_535),
})
export type Address = z.infer<typeof address>

/** An address as written in gateway.conf, URLs and messages: `127.0.0.1:8000`, `[::1]:8000`. */
export function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}

const file = z.strictObject({ file: z.string().min(1) })

/**
 * Asks clients for a certificate (RFC 8446 §4.3.2) that these authorities signed. `require`: clients without a valid one are refused; `request`: they
 * are served, and `validate-certificate` refuses them. `hosts`: only clients that name one of these in TLS; absent: all other clients.
 */
const clientCertificate = z.strictObject({
  demand: z.enum(["require", "request"]),
  hosts: z
    .array(z.string().regex(/^(?:\*\.)?[a-z0-9.-]{1,253}$/))
    .min(1)
    .max(100)
    .optional(),
  ca: z.array(file).min(1).max(20),
  /** Revocation lists (PEM) of every authority. Absent: revocation is not checked. */
  revoked: z.array(file).min(1).max(100).optional(),
})
/** Whose client certificates a listener accepts. */
export type ClientCertificatePlan = z.infer<typeof clientCertificate>

/**
 * TLS of a listener. The first certificate is for clients that name no host, or one that no certificate has; with `unknownHosts` such clients are
 * refused. Absent `profile`: `intermediate`.
 */
const listenerTls = z.strictObject({
  certificates: z.array(name).min(1).max(1000),
  profile: z.literal("modern").optional(),
  unknownHosts: z.literal("refuse").optional(),
  /** Absent: no client is asked for a certificate. */
  clientCertificates: z.array(clientCertificate).min(1).max(100).optional(),
  /** Strict-Transport-Security (RFC 6797 §6.1) of every response; absent: none. */
  hsts: z
    .strictObject({
      maxAgeSeconds: z.number().int().min(0).max(315_360_000),
      subdomains: z.literal(true).optional(),
      preload: z.literal(true).optional(),
    })
    .optional(),
})
/** TLS of a listener, with its certificates by name. */
export type ListenerTlsPlan = z.infer<typeof listenerTls>

/** An address that is known when the plan is loaded. */
const addressSource = z.union([
  z.strictObject({ text: z.array(z.union([z.string(), z.strictObject({ value: name })])).min(1) }),
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), default: z.string().optional() }),
])
/** Where the address of a listener comes from. */
export type AddressSourcePlan = z.infer<typeof addressSource>

/** A listener: its address, or where the address comes from, and how clients reach it. */
function listenerOf<Ways extends z.core.$ZodLooseShape>(ways: Ways) {
  return z.union([address.extend(ways), z.strictObject({ at: addressSource, ...ways })])
}

/**
 * Absent `tls`: plain HTTP. `proxies`: CIDRs of the proxies whose connections begin with a header of the PROXY protocol (version 1 or 2); absent:
 * none.
 */
const ways = {
  tls: listenerTls.optional(),
  proxies: z.array(z.string()).min(1).max(1000).optional(),
}
/** Absent `http2`: with `tls`, HTTP/2 and HTTP/1.1; without, HTTP/1.1. */
const http2 = z.boolean().optional()
/** Requests by plain HTTP are redirected to this port (default: that of the first listener with TLS), with `https:`. */
const redirect = z.strictObject({ port: address.shape.port.optional() }).optional()
/** It serves gRPC instead of the HTTP API, so it has HTTP/2 also without TLS, and no `http2`. */
const grpc = z.literal(true).optional()

const publicListener = listenerOf({ ...ways, http2, redirect })
/** A listener of the engine. */
export const engineListener = listenerOf({ ...ways, http2, grpc })
/** A listener of the control API. */
export const controlListener = listenerOf({ ...ways, http2 })

const knownListener = address.extend({ ...ways, http2, redirect, grpc })
/** An address of any side, and how clients reach it. */
export type ListenerPlan = z.infer<typeof knownListener>
/** A listener of any side, whose address may be known only when the plan is loaded. */
export type DeclaredListener =
  | ListenerPlan
  | (Omit<ListenerPlan, keyof Address> & { readonly at: AddressSourcePlan })

/** The parts of a plan that have listeners. */
export type ListeningSide = "gateway" | "authz" | "control" | "portal"

/**
 * The scheme of a listener by its actual address (`host:port`), whose host may differ from that of the plan. A port that no listener names belongs to
 * the first one whose address comes from outside.
 */
export function schemeOf(listen: readonly DeclaredListener[], address: string): "http" | "https" {
  const port = Number(address.slice(address.lastIndexOf(":") + 1))
  const found =
    listen.find((each) => "port" in each && each.port === port) ?? listen.find((each) => "at" in each)
  return found?.tls === undefined ? "http" : "https"
}

/** Prefix length by which limits count IPv6 callers: a customer gets at least a /64 (RFC 6177) and can use all its addresses. */
export const ipv6PrefixDefault = 64

/** Callers (keys) that each limit counts: about 46 MB for one limit when each has few calls. */
export const limitKeysDefault = 1_000_000

/** Connections that one address may have open. */
export const connectionsPerAddressDefault = 4096

/** Time for the head of a request to arrive. */
export const headMsDefault = 10_000

/** What a body must send in every such time. */
export const bodyRateDefault = { bytes: 1024, ms: 10_000 }

/** Limits of the public listener. Each has a default, and the plan always contains them all. `timeoutMs` null: no timeout. */
export const limits = z.strictObject({
  bodyBytesMax: z.number().int().min(0).max(1_099_511_627_776),
  /** Largest request or response body that is buffered because a policy needs it, both encoded and decoded. */
  bufferBytesMax: z.number().int().min(0).max(1_073_741_824),
  headerBytesMax: z.number().int().min(1024).max(1_048_576),
  headersMax: z.number().int().min(1).max(10_000),
  timeoutMs: milliseconds.nullable(),
  /** Absent: `ipv6PrefixDefault`, as in plans made before this option existed. */
  ipv6Prefix: z.number().int().min(32).max(128).optional(),
  /** Values and member names of a JSON body that a policy reads (default: `jsonValuesDefault`). */
  jsonValuesMax: z.number().int().min(1000).max(100_000_000).optional(),
  /** Time for the head of a request to arrive, in milliseconds (default: `headMsDefault`). */
  headMs: z.number().int().min(1000).max(120_000).optional(),
  /** Fewest bytes of a body in every so many milliseconds (default: `bodyRateDefault`). */
  bodyRate: z
    .strictObject({
      bytes: z.number().int().min(1).max(1_048_576),
      ms: z.number().int().min(1000).max(300_000),
    })
    .optional(),
  /** Open connections of one address that is no trusted proxy (default: `connectionsPerAddressDefault`). Null: no limit. */
  connectionsPerAddressMax: z.number().int().min(1).max(1_000_000).nullable().optional(),
  /** New connections of one address in a second. Absent: no limit. */
  newConnectionsPerAddressMax: z.number().int().min(1).max(1_000_000).optional(),
  /** Keys that each limit counts on its own (default: `limitKeysDefault`). */
  limitKeysMax: z.number().int().min(1000).max(100_000_000).optional(),
})

/** Counters, and on request the cache, in Redis or Valkey, which all processes of the gateway share. `redis`: the secret that holds the URL. */
const sharedCounters = z.strictObject({
  redis: name,
  /** Longest time that a request waits for a reply. */
  waitMs: z.number().int().min(1).max(5000),
  tls: z.strictObject({ ca: z.strictObject({ file: z.string().min(1) }).optional(), insecure: z.boolean() }),
  /** Room of the shared cache in bytes. Absent: each process has a cache of its own. */
  cacheBytesMax: z
    .number()
    .int()
    .min(16 * 2 ** 20)
    .max(2 ** 40)
    .optional(),
})

const percent = z.number().min(0).max(100)

/** A collector of OpenTelemetry, called by OTLP over HTTP. `otlp`: its base URL. */
const collector = {
  otlp: loadText,
  /** Field name and the secret with its value. */
  headers: z.array(z.strictObject({ name: headerName, secret: name })).max(20),
  tls: z.strictObject({ ca: z.strictObject({ file: z.string().min(1) }).optional(), insecure: z.boolean() }),
}

/**
 * Traces of requests, sent to a collector. `sample`: percent of the requests, for `apis` their own. `errors` and `slowerMs`: requests that are kept in
 * addition.
 */
const tracing = z.strictObject({
  ...collector,
  sample: percent,
  apis: z.record(name, percent).optional(),
  errors: z.literal(true).optional(),
  slowerMs: milliseconds.optional(),
})
/** Where traces of requests are sent, and which. Times in milliseconds, shares in percent. */
export type TracingPlan = z.infer<typeof tracing>

/** Metrics, sent to a collector. `delta`: counters as differences since the last export. */
const metrics = z.strictObject({ ...collector, everyMs: milliseconds, delta: z.literal(true).optional() })
/** Where metrics are sent, and how often. Times in milliseconds. */
export type MetricsPlan = z.infer<typeof metrics>

/** A secret, by name. */
const pemSecret = z.strictObject({ secret: name })

/**
 * The record of requests: files in `folder`, encrypted with a key made from a secret. `sample`: percent of the requests. `claims`: names of claims that
 * are recorded. `headers`: fields that are recorded beside the usual ones and those that steps read. `redact`: what is not recorded, in addition to
 * credentials.
 */
const record = z.strictObject({
  folder: z.string().min(1).max(1000),
  protectedBy: pemSecret,
  sample: percent,
  /** Of all files in the folder. */
  bytesMax: z
    .number()
    .int()
    .min(2 ** 20)
    .max(2 ** 42),
  claims: z.array(z.string().min(1).max(256)).max(100),
  headers: z.array(headerName).max(100),
  redact: z.strictObject({
    headers: z.array(headerName).max(100),
    queries: z.array(z.string().min(1).max(256)).max(100),
  }),
  /** Absent: only the network of an address is recorded, /24 or /48. */
  addresses: z.literal("whole").optional(),
})
/** Which requests are recorded for replays, where, and what of them. */
export type RecordPlan = z.infer<typeof record>

/** The public listener. `trust`: CIDRs of proxies whose X-Forwarded-For is trusted. */
export const gateway = z.strictObject({
  name,
  listen: z.array(publicListener).min(1).max(16),
  trust: z.array(z.string()).max(1000),
  /** Format of error responses: RFC 9457 problem bodies, or those of Azure API Management. */
  errors: z.enum(["problem", "apim"]),
  limits,
  /** Absent: each process counts on its own. */
  shared: sharedCounters.optional(),
  /** Absent: requests are not traced, and `traceparent` is forwarded like any other field. */
  tracing: tracing.optional(),
  /** Absent: metrics are only served as a page. */
  metrics: metrics.optional(),
  /** Absent: requests are not recorded. */
  record: record.optional(),
  /** The on-error section of the gateway's policy documents. It runs if no route matches a request. Absent: nothing runs. */
  onUnmatched: z.array(stepId).max(1000).optional(),
})

/**
 * A number, or the networks of `trust`, that each process reads from its environment when it loads the plan. The plan contains the default. `min`, `max`:
 * milliseconds, bytes, a count or percent. `none`: the word `none` is allowed, too, and is null.
 */
export const setting = z.strictObject({
  env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
  is: z.enum(["duration", "size", "count", "percentage", "networks"]),
  min: z.number().optional(),
  max: z.number().optional(),
  none: z.literal(true).optional(),
})
/** A setting of the environment. */
export type SettingPlan = z.infer<typeof setting>

/** The place of a setting: a field of the gateway, the engine or a backend, e.g. `gateway.limits.bodyBytesMax`. What decides about access is no setting. */
export const settingPlace = z
  .string()
  .regex(
    /^(?:gateway(?:\.(?:limits|shared|tracing|metrics|record))?|authz|backends\.[A-Za-z_][A-Za-z0-9_-]{0,127})\.[A-Za-z0-9]{1,64}$/,
  )

/** The object that has the field of a place, e.g. `gateway.limits` for `gateway.limits.headersMax`; undefined when the plan has none. */
export function holderOfSetting(
  parts: Readonly<Record<string, unknown>>,
  place: string,
): Record<string, unknown> | undefined {
  let holder: unknown = parts
  for (const key of place.split(".").slice(0, -1))
    holder =
      typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
        ? (holder as Record<string, unknown>)[key]
        : undefined
  return typeof holder === "object" && holder !== null ? (holder as Record<string, unknown>) : undefined
}

/** A named value: read from outside, or text that may use other values. Constants that are not needed at run time are inlined and not listed. */
export const value = z.union([z.strictObject({ from: reference }), z.strictObject({ text: loadText })])

const pemFile = z.strictObject({ file: z.string().min(1) })

/** PEM in files, which are read again when they change, or in named values. */
/** False: no OCSP response is stapled to its handshakes. Absent: if the certificate names a responder. */
const ocspStapling = z.literal(false).optional()

const pemCertificate = z.strictObject({
  cert: z.union([pemFile, pemSecret, z.strictObject({ value: name })]),
  key: z.union([pemFile, pemSecret]),
  ocspStapling,
})
/** Where a certificate and its key are. */
export type PemCertificatePlan = z.infer<typeof pemCertificate>

/**
 * A certificate that processes order from an authority (ACME, RFC 8555), for listeners only. `directory`: URL. `protectedBy`: the secret from which the
 * key is made that encrypts private keys in the database. Absent `challenge`: HTTP-01.
 */
const acmeCertificate = z.strictObject({
  acme: z.strictObject({
    directory: loadText,
    hosts: z.array(z.string().min(1).max(253)).min(1).max(100),
    contact: z.string().max(320).optional(),
    challenge: z.literal("tls-alpn-01").optional(),
    externalAccount: z.strictObject({ id: loadText, secret: name }).optional(),
    ca: pemFile.optional(),
    protectedBy: pemSecret,
  }),
  ocspStapling,
})
/** Who issues a certificate, for which hosts, and how they are proved. */
export type AcmePlan = z.infer<typeof acmeCertificate>["acme"]

/** A certificate of the gateway, for its listeners or as a client. */
export const certificate = z.union([pemCertificate, acmeCertificate])
/** A certificate with its key that the gateway shows to clients, backends and other services. */
export type CertificatePlan = z.infer<typeof certificate>

/**
 * Gets tokens for the gateway by client credentials (RFC 6749 §4.4), from the token endpoint of a discovery document or from a given one. `inBody`:
 * sends the secret in the form instead of an Authorization header (§2.3.1); absent: as the discovery document declares.
 */
export const tokenClient = z.strictObject({
  endpoint: z.union([z.strictObject({ discovery: loadText }), z.strictObject({ url: loadText })]),
  client: loadText,
  secret: name,
  scope: loadText.optional(),
  audience: loadText.optional(),
  inBody: z.boolean().optional(),
})
/** An OAuth client of the gateway: where it requests tokens (RFC 6749 §4.4), and with which credentials. */
export type TokenClientPlan = z.infer<typeof tokenClient>

/** Introspection of opaque tokens (RFC 7662), with the gateway's own credentials. A result is cached for at most `cacheSeconds`, and never beyond `exp`. */
export const introspection = z.strictObject({
  url: loadText,
  client: loadText,
  secret: name,
  cacheSeconds: z.number().int().min(0).max(3_600),
})

/** Users with passwords: names of secrets, each with the password or its `scrypt:` hash. */
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
/** Users with password hashes for `auth basic`. */
export type UsersPlan = z.infer<typeof users>

/** How the gateway authenticates every request to a backend. */
const backendAuthentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: loadText, password: name }),
  z.strictObject({ scheme: z.literal("token"), client: name }),
])
export type BackendAuthentication = z.infer<typeof backendAuthentication>

/**
 * Circuit breaker: keeps requests from a target that fails (no response in time, or one of `statuses`). It opens after `calls` failures in `windowMs`;
 * with `percent`, when this share of at least `calls` calls failed. While more than `ejectedMaxPercent` of a backend's targets are open, breakers are
 * ignored: some response is better than none.
 */
const breaker = z.strictObject({
  calls: z.number().int().min(1).max(1_000_000),
  percent: z.number().int().min(1).max(100).optional(),
  windowMs: milliseconds,
  openMs: milliseconds,
  statuses: z.array(status).max(500),
  ejectedMaxPercent: z.number().int().min(0).max(100),
})
/** When a target gets no requests after failures, and for how long. Times in milliseconds. */
export type BreakerPlan = z.infer<typeof breaker>

/** Active health checks of every target. A target is down after `downAfter` failures in a row, and up after `upAfter` successes. It starts as up. */
const health = z.strictObject({
  method: z.enum(["GET", "HEAD"]),
  path: z.string().regex(/^\//).max(2048),
  everyMs: z.number().int().min(100).max(3_600_000),
  timeoutMs: milliseconds,
  statuses: z.array(status).min(1).max(500),
  downAfter: z.number().int().min(1).max(100),
  upAfter: z.number().int().min(1).max(100),
})
/** Active health checks of the targets of a backend. Times in milliseconds. */
export type HealthPlan = z.infer<typeof health>

/** When a request is sent again. `connect-error`: nothing was sent. `reset`: the connection broke before a response. `timeout`: no response head in time. */
const retryCause = z.union([z.enum(["connect-error", "reset", "timeout"]), status])
export type RetryCause = z.infer<typeof retryCause>

/**
 * Sends a request again, to another target if there is one. At most `times`, never after a byte of the response went to the client, and only for methods
 * that are idempotent (RFC 9110 §9.2.2) or in `methods` (except on `connect-error`). Retries are at most `budgetPercent` of the requests. A request that
 * could not be sent to one target always goes to the other targets; this does not count as a retry.
 */
const backendRetry = z.strictObject({
  times: z.number().int().min(1).max(10),
  on: z.array(retryCause).min(1).max(50),
  methods: z.array(z.string()).max(20),
  budgetPercent: z.number().int().min(1).max(100),
})
export type BackendRetry = z.infer<typeof backendRetry>

/** A DNS label (RFC 1123), as names of services, namespaces and ports are. */
export const kubernetesName = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)

/**
 * Who finds the addresses of a backend whose only target is a name: each A and AAAA record of its host, each service of its host (SRV, RFC 2782), or
 * each ready endpoint of a Kubernetes service is a target then. The host of the URL stays the Host field, and the name that TLS verifies; with `srv`,
 * without `_service._protocol`.
 */
const discovery = z.union([
  z.strictObject({ by: z.literal("dns") }),
  z.strictObject({ by: z.literal("srv") }),
  z.strictObject({
    by: z.literal("kubernetes"),
    /** Absent: that of the gateway's own pod. */
    namespace: kubernetesName.optional(),
    service: kubernetesName,
    /** The name of a port of the service, or the number of a port of its pods. Absent: its only port. */
    port: z.union([z.number().int().min(1).max(65_535), kubernetesName]).optional(),
    /** URL of the API server. Absent: that of the pod, with the pod's service account. */
    server: loadText.optional(),
    token: file.optional(),
    ca: file.optional(),
  }),
])
/** How the targets of a backend are found while the plan runs. */
export type DiscoveryPlan = z.infer<typeof discovery>

/**
 * A service behind the gateway. URLs are `http:` or `https:` with an optional base path. `totalMs` null: only the operation's own timeout. Without
 * `balance`, targets take turns by weight; `hash` sends equal keys (of the forward step) to the same target.
 */
export const backend = z.strictObject({
  targets: z
    .array(z.strictObject({ url: loadText, weight: z.number().int().min(1).max(1000) }))
    .min(1)
    .max(256),
  /** Absent: the targets are these. */
  discovery: discovery.optional(),
  connectMs: milliseconds,
  totalMs: milliseconds.nullable(),
  /** Timeout until the response head; absent: none of its own. */
  firstByteMs: milliseconds.optional(),
  /** Timeout between two chunks of the response; absent: none of its own. */
  idleMs: milliseconds.optional(),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** The certificate of the plan that the gateway presents. */
    certificate: name.optional(),
  }),
  /** Offers HTTP/2 over TLS (ALPN). `h2c`: and uses it without TLS, by prior knowledge. */
  http2: z.union([z.boolean(), z.literal("h2c")]).optional(),
  balance: z.enum(["least-outstanding", "hash"]).optional(),
  health: health.optional(),
  breaker: breaker.optional(),
  retry: backendRetry.optional(),
  /** Sent to these targets only. Replaces any Authorization field of the request. */
  authentication: backendAuthentication.optional(),
})
export type Backend = z.infer<typeof backend>

/** How the gateway authenticates at a decision point: as at a backend, or by a fixed bearer token (RFC 6750). */
const pdpAuthentication = z.union([
  ...backendAuthentication.options,
  z.strictObject({ scheme: z.literal("bearer"), token: name }),
])
export type PdpAuthentication = z.infer<typeof pdpAuthentication>

/**
 * A policy decision point with AuthZEN's Authorization API 1.0. With `discover`, its metadata names the endpoints; otherwise they are below `url`.
 * `cacheMs` 0: decisions are not cached.
 */
export const pdp = z.strictObject({
  url: loadText,
  discover: z.boolean(),
  /** For one decision, including all its requests. */
  timeoutMs: z.number().int().min(1).max(60_000),
  cacheMs: z.number().int().min(0).max(3_600_000),
  /** Evaluations in one request. */
  batchMax: z.number().int().min(1).max(10_000),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** The certificate of the plan that the gateway presents. */
    certificate: name.optional(),
  }),
  authentication: pdpAuthentication.optional(),
  breaker: breaker.optional(),
})
/** An AuthZEN decision point, with its limits and credentials. Times in milliseconds. */
export type PdpPlan = z.infer<typeof pdp>

/** Types of the claims that an issuer guarantees (notation of runtime/expression/types.ts). */
export const claimTypes = z.record(z.string(), z.string())

/** Signature algorithms with a public key (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
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

/** Signature algorithms with a shared secret (HMAC), only for issuers whose keys are such secrets. */
export const secretAlgorithm = z.enum(["HS256", "HS384", "HS512"])

/** A key written in the configuration. `id` is the `kid` of its tokens; null: any. A secret's bytes are its text, or the text decodes to them as Base64. */
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
 * Who signs tokens: found by OIDC discovery, or with keys from a JWKS file or from the configuration, and the given `iss` value; null: any (set by
 * `issuer *`). `exact`: the document is at exactly this URL and may name another issuer; tokens must carry that name.
 * `audiences` null: any (set by `audience *`).
 */
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

/** The price of a call: a decimal number as text, to be exact, and an ISO 4217 code. */
export const price = z.strictObject({
  amount: z.string().regex(/^(0|[1-9]\d{0,11})(\.\d{1,12})?$/),
  currency: z.string().regex(/^[A-Z]{3}$/),
})

/**
 * A bundle of APIs that a subscription opens. `open`: callable without a key, too. `unpublished`: no new subscriptions, and it is not open; existing
 * keys remain valid. `approval`: a new subscription waits for an operator. An absent flag is false; an absent limit is no limit.
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

/** A subscription declared in the configuration. `key` and `secondary` name secrets, and both are accepted. It covers one product, one API, or all. */
export const subscription = z.strictObject({
  scope: z.union([
    z.strictObject({ product: name }),
    z.strictObject({ api: name }),
    z.strictObject({ all: z.literal(true) }),
  ]),
  key: name,
  secondary: name.optional(),
})

/** The ordered steps of one route. `backend` is empty if the inbound section always responds. */
export const sections = z.strictObject({
  inbound: z.array(stepId).max(1000),
  backend: z.array(stepId).max(1000),
  outbound: z.array(stepId).max(1000),
  onError: z.array(stepId).max(1000),
})

/** Forms of a path that servers interpret differently. An absent form is rejected. */
export const pathForms = z.strictObject({
  /** `%2F` in a segment. */
  encodedSlash: z.literal(true).optional(),
  /** `;` in a segment, raw or encoded. */
  pathParameters: z.literal(true).optional(),
  /** `//` in the value of a last `{name*}`. */
  emptySegments: z.literal(true).optional(),
})
export type PathForms = z.infer<typeof pathForms>

/** The element of a policy document from which a step was made, in the terms of Azure API Management's `LastError`. */
const policyElement = z.strictObject({
  /** Name of the policy: `validate-jwt`. */
  source: z.string().min(1).max(128),
  scope: z.enum(["global", "product", "api", "operation"]),
  /** Within its section: `choose[1]/when[2]/set-header[1]`. */
  path: z.string().max(8192),
  /** Its `id` attribute, if present. */
  id: z.string().max(1024).optional(),
})
export type PolicyElement = z.infer<typeof policyElement>

/** Elements of a route's steps, by the step's index path: `inbound.3.matched.0`. Steps from gateway.conf statements have no entry. */
export const outline = z.record(z.string(), policyElement)
export type Outline = z.infer<typeof outline>

/**
 * One operation of one API version. `method` is a token or `*` (any). `path` is the full pattern from the root: literal segments, `{name}`, literals and
 * parameters in one segment (`{id}:cancel`), and optionally a last `{name*}`. `stripPrefix` is the canonical prefix (version and API path) that is not
 * sent to the backend.
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
  /** Host names that serve it, in lower case; `*.example.com` for all subdomains. Absent: every name. */
  hosts: z
    .array(z.string().regex(/^(?:\*\.)?[a-z0-9._~[\]:-]{1,253}$/))
    .min(1)
    .max(100)
    .optional(),
  stripPrefix: z.string().max(2048),
  /** Absent: none. */
  passes: pathForms.optional(),
  timeoutMs: milliseconds.nullable(),
  /** What closes WebSockets, in addition to the two peers. Null: WebSockets are rejected. Absent: nothing else closes them. */
  websocket: z
    .strictObject({
      idleMs: milliseconds.nullable(),
      expireWithToken: z.boolean(),
      closeWhenRemoved: z.boolean(),
    })
    .nullable()
    .optional(),
  sections,
  /** The policy-document elements of its steps; absent: none. */
  outline: stepId.optional(),
  /** Query parameters that policy documents find in the operation's template; absent: none. */
  queryParameters: z.array(z.string().min(1).max(256)).max(500).optional(),
})

export type Route = z.infer<typeof route>

/** The key of a route in the plan: `METHOD /path`; for specific hosts `METHOD api.example.com,*.example.com/path`. */
export function routeKeyOf(route: {
  readonly method: string
  readonly path: string
  readonly hosts?: readonly string[] | undefined
}): string {
  return `${route.method} ${(route.hosts ?? []).join(",")}${route.path}`
}
