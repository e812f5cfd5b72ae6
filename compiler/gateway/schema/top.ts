import { certificate, introspection, token, users } from "./credentials.ts"
import { oidc } from "./oidc.ts"
import { pdp } from "./pdp.ts"
import { many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"
import { xml } from "./xml.ts"

/** Top-level statements of a file: all declarations. */
const gateway: StatementRow = {
  keyword: "gateway",
  forms: [{ args: [slot("name", "name", { to: ["gateway"] })], block: "gateway", blockRequired: true }],
  docs: "The public listener: its addresses, the proxies it trusts, and statements for every API.",
  example: "gateway acme { listen 127.0.0.1:8000 }",
}

const authz: StatementRow = {
  keyword: "authz",
  forms: [{ args: [word("url"), slot("url", "url")] }, { args: [], block: "authz", blockRequired: true }],
  docs: "The authorization engine: its internal listener and its stores. With `url` there is no engine: `require` and `filter` ask the AuthZEN decision point at this URL, unless they name another decision point.",
  example: 'authz { listen 127.0.0.1:8080; store acme { model "models/acme.fga" } }',
}

const control: StatementRow = {
  keyword: "control",
  forms: [{ args: [], block: "control", blockRequired: true }],
  byDefault: "operators use the address of `SALLYPORT_CONTROL_LISTEN`, by plain HTTP",
  docs: "How operators reach the control API, in every process with the role `control`.",
  example: "control { listen 127.0.0.1:8443 { tls { certificate ops } } }",
}

const portal: StatementRow = {
  keyword: "portal",
  forms: [{ args: [], block: "portal", blockRequired: true }],
  byDefault: "there is no developer portal",
  docs: "The developer portal: a listener for the people who call the APIs, in every process with the role `portal`. It shows the published APIs, and lets people subscribe to products. Nothing else of the plan is visible there.",
  example: "portal { listen 127.0.0.1:8090; apis orders }",
}

const change: StatementRow = {
  keyword: "change",
  forms: [{ args: [], block: "change", blockRequired: true }],
  byDefault: "who may apply plans may apply any plan",
  docs: "What must be true before another plan may replace this one. The control API enforces it.",
  example: 'change { signers "MCowBQYDK2VwAyEAZ7x0ms5KzrBhIfbL1LkVwzXFBCyoLlVuYOYnxCF1Fpk= ci" }',
}

const value: StatementRow = {
  keyword: "value",
  several: true,
  forms: [
    {
      args: [
        slot("name", "value-name", { to: ["value"] }),
        slot("equals", "equals"),
        oneOf([slot("outside", "outside")], [slot("text", "load-text")]),
      ],
    },
  ],
  docs: "A named value: a string, which may contain other values, or a reference that is read when the plan is loaded. A URL with a user or a password is refused then. Use it as `NAME` or inside `${…}`; one with constant text also as a number, size, time, date, status or network, or as several of them separated by blanks.",
  example: 'value auth_url = env(AUTH_URL, "http://127.0.0.1:8081")',
}

const secret: StatementRow = {
  keyword: "secret",
  several: true,
  forms: [
    {
      args: [
        slot("name", "value-name", { to: ["secret"] }),
        slot("equals", "equals"),
        oneOf([slot("outside", "outside")], [slot("literal", "data", { refused: true })]),
      ],
    },
  ],
  docs: "A secret, read from the environment or from a file; the file is read again when it changes. The compiler refuses statements that would show it to callers.",
  example: "secret ci_key = env(ACME_CI_KEY)",
}

const issuer: StatementRow = {
  keyword: "issuer",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["issuer"] })], block: "issuer", blockRequired: true }],
  docs: "An identity provider that signs tokens, and what a token must contain to be accepted.",
  example:
    'issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience orders-api }',
}

const backend: StatementRow = {
  keyword: "backend",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["backend"] })], block: "backend", blockRequired: true }],
  docs: "Where requests are sent.",
  example: 'backend orders_v1 { url "http://127.0.0.1:9001" }',
}

const policy: StatementRow = {
  keyword: "policy",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["policy"] })], block: "policy", blockRequired: true }],
  docs: "Statements to use in several places, by `use NAME`.",
  example: 'policy edge { outbound { header remove "Server" } }',
}

const api: StatementRow = {
  keyword: "api",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["api"] })], block: "api", blockRequired: true }],
  docs: "An API: its path, versions and operations, and the statements for all of them.",
  example: 'api status { path "/status"; auth none; GET "/" { respond 200 } }',
}

const product: StatementRow = {
  keyword: "product",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["product"] })], block: "product", blockRequired: true }],
  docs: "APIs that one subscription gives access to.",
  example: "product partner { apis catalog orders }",
}

const subscription: StatementRow = {
  keyword: "subscription",
  several: true,
  forms: [
    { args: [slot("name", "name", { to: ["subscription"] })], block: "subscription", blockRequired: true },
  ],
  docs: "A caller with a key. The key gives access to the APIs of a product, or to one API, where `auth subscription` requires it.",
  example: "subscription acme_ci { product partner; key ci_key }",
}

const include: StatementRow = {
  keyword: "include",
  several: true,
  forms: [{ args: [slot("path", "constant")] }],
  docs: "Includes the statements of other files. The path is relative to this file and may contain `*`.",
  example: 'include "models/teams/*.conf"',
}

export const fileRows: readonly StatementRow[] = [
  gateway,
  authz,
  control,
  portal,
  change,
  value,
  secret,
  issuer,
  introspection,
  oidc,
  users,
  pdp,
  certificate,
  token,
  backend,
  policy,
  api,
  product,
  subscription,
  include,
  xml,
]

export const listen: StatementRow = {
  keyword: "listen",
  several: true,
  required: true,
  forms: [{ args: [many(slot("address", "address"), 16)], block: "listen" }],
  docs: "Addresses and ports to listen on; IPv6 in brackets. `env(NAME)`, a named value or a string with named values is read when the process loads the plan. Without a block, clients use plain HTTP.",
  example: "listen 127.0.0.1:8000 [::1]:8000",
}

export const listenTls: StatementRow = {
  keyword: "tls",
  forms: [{ args: [], block: "listen tls", blockRequired: true }],
  byDefault: "plain HTTP",
  docs: "Clients connect with TLS. A client that uses plain HTTP here gets 400.",
  example: "tls { certificate shop; hsts 365d }",
}

export const listenHttp2: StatementRow = {
  keyword: "http2",
  forms: [{ args: [slot("choice", "choice", { choices: ["on", "off"] })] }],
  byDefault: "on with `tls`, off without",
  docs: "Whether clients may use HTTP/2, besides HTTP/1.1: with `tls` they negotiate it (ALPN), without they must know it beforehand (`h2c`, prior knowledge).",
  example: "http2 on",
}

export const proxyProtocol: StatementRow = {
  keyword: "proxy-protocol",
  several: true,
  forms: [{ args: [many(slot("network", "network"), 1000)] }],
  byDefault: "connections begin with TLS or HTTP",
  docs: "Networks of the load balancers whose connections begin with a header of the PROXY protocol, version 1 or 2: its address counts as that of the client, also for `trust`. A connection from them without the header is closed; other clients connect without it.",
  example: "proxy-protocol 10.0.0.0/8",
}

/** In the block of a `listen` of the engine. */
export const engineListenRows: readonly StatementRow[] = [
  listenTls,
  listenHttp2,
  proxyProtocol,
  {
    keyword: "grpc",
    forms: [{ args: [] }],
    byDefault: "the HTTP API",
    docs: "Serves OpenFGA's gRPC API (`openfga.v1.OpenFGAService`) here instead of the HTTP API. Clients of OpenFGA expect it on port 8081. With `tls` they must use TLS, without they must not.",
    example: "grpc",
  },
]

/** In the block of a `listen` of the gateway. */
export const listenRows: readonly StatementRow[] = [
  listenTls,
  listenHttp2,
  proxyProtocol,
  {
    keyword: "redirect",
    forms: [
      { args: [word("https"), optional(slot("port", "count", { min: 1, max: 65_535, label: "PORT" }))] },
    ],
    byDefault: "requests are served",
    docs: "Redirects every request (308) to the same URL with `https:`, on this port (default: that of the first `listen` with `tls`). Requests that a proxy of `trust` received by HTTPS are served.",
    example: "redirect https",
  },
]

export const listenTlsRows: readonly StatementRow[] = [
  {
    keyword: "certificate",
    several: true,
    required: true,
    forms: [
      { args: [many(slot("certificate", "reference", { to: ["certificate"], label: "CERTIFICATE" }), 100)] },
    ],
    docs: "Certificates, declared with `certificate NAME`. The host that a client names selects one: first by an exact name, then by a wildcard. The first certificate is for all other clients. The files are read again when they change, without closing connections.",
    example: "certificate shop wildcard",
  },
  {
    keyword: "client-certificate",
    several: 100,
    forms: [
      {
        args: [
          slot("demand", "choice", { choices: ["require", "request"] }),
          optional(many(slot("host", "host"), 100)),
        ],
        block: "client certificate",
        blockRequired: true,
      },
    ],
    byDefault: "clients are not asked for a certificate",
    docs: "Asks clients for a certificate. `require`: a client without a valid one gets 401, before its request is read. `request`: such a client is served, and `auth certificate` refuses it. With hosts, only clients that name one of them in TLS are asked; `*.example.com` is every name below. Then a request for another host on the same connection gets 421. Sessions of these clients are not resumed, so every connection is verified again.",
    example: 'client-certificate require { ca file("certs/partners.pem") }',
  },
  {
    keyword: "profile",
    forms: [{ args: [slot("choice", "choice", { choices: ["modern", "intermediate"] })] }],
    byDefault: "intermediate",
    docs: "Protocol versions and ciphers, as Mozilla recommends them: `modern` is TLS 1.3 only, `intermediate` also TLS 1.2 with forward secrecy.",
    example: "profile modern",
  },
  {
    keyword: "unknown-host",
    forms: [{ args: [slot("choice", "choice", { choices: ["first", "refuse"] })] }],
    byDefault: "first",
    docs: "What clients get that name no host, or a host that no certificate has: the first certificate, or no connection.",
    example: "unknown-host refuse",
  },
  {
    keyword: "hsts",
    forms: [
      {
        args: [
          slot("time", "duration", { min: 0, max: 315_360_000_000, wholeSeconds: true }),
          optional(slot("subdomains", "choice", { choices: ["subdomains"] })),
          optional(slot("preload", "choice", { choices: ["preload"] })),
        ],
      },
    ],
    byDefault: "none",
    docs: "Adds Strict-Transport-Security to every response: for this time browsers use only HTTPS for the host, and with `subdomains` for all below it. `preload` asks for a place on the list that browsers ship with. It cannot be taken back before the time is over.",
    example: "hsts 365d subdomains",
  },
]

/** In the block of `client-certificate`. */
export const clientCertificateRows: readonly StatementRow[] = [
  {
    keyword: "ca",
    several: 20,
    required: true,
    forms: [{ args: [slot("file", "file")] }],
    docs: "Certificate authorities (PEM) that sign certificates of clients. The file is read again when it changes, without closing connections; requests on open connections are judged by the new file.",
    example: 'ca file("certs/partners.pem")',
  },
  {
    keyword: "revoked",
    several: 100,
    forms: [{ args: [slot("file", "file")] }],
    byDefault: "revocation is not checked",
    docs: "Revocation lists (PEM). With it, there must be a list of every authority of a chain, the root included, and none may have expired: otherwise the certificate is refused. The file is read again when it changes, without closing connections; a request on an open connection of a revoked certificate gets 401.",
    example: 'revoked file("certs/partners.crl")',
  },
]

export const gatewayRows: readonly StatementRow[] = [
  listen,
  {
    keyword: "trust",
    several: true,
    forms: [
      { args: [word("none")] },
      { args: [many(slot("network", "network", { setting: "gateway.trust" }), 1000)] },
    ],
    byDefault: "X-Forwarded-For is ignored",
    docs: "Networks of the proxies in front of the gateway: their X-Forwarded-For gives the client's address. `trust none`: there are no proxies.",
    example: "trust 10.0.0.0/8",
  },
  {
    keyword: "errors",
    forms: [{ args: [slot("format", "choice", { choices: ["problem", "apim"] })] }],
    byDefault: "problem",
    docs: "The form of error responses: problem bodies of RFC 9457, or the statuses, bodies and headers of Azure API Management.",
    example: "errors problem",
  },
  {
    keyword: "limits",
    forms: [{ args: [], block: "limits", blockRequired: true }],
    docs: "Limits on every request.",
    example: "limits { body 10MB; header 16KB; timeout 30s }",
  },
]

export const limitsRows: readonly StatementRow[] = [
  {
    keyword: "body",
    forms: [
      { args: [slot("size", "size", { min: 0, max: 2 ** 40, setting: "gateway.limits.bodyBytesMax" })] },
    ],
    byDefault: "10MB",
    docs: "Largest request body; a larger one gets 413.",
    example: "body 10MB",
  },
  {
    keyword: "buffer",
    forms: [
      { args: [slot("size", "size", { min: 0, max: 2 ** 30, setting: "gateway.limits.bufferBytesMax" })] },
    ],
    byDefault: "2MB",
    docs: "Largest body of a request or response that is read completely because a statement needs it. A larger request gets 413, a larger response becomes 502. A body that no statement needs is streamed.",
    example: "buffer 10MB",
  },
  {
    keyword: "header",
    forms: [
      { args: [slot("size", "size", { min: 1024, max: 2 ** 20, setting: "gateway.limits.headerBytesMax" })] },
    ],
    byDefault: "16KB",
    docs: "Largest request head (request line and headers); a larger one gets 431.",
    example: "header 16KB",
  },
  {
    keyword: "headers",
    forms: [
      { args: [slot("count", "count", { min: 1, max: 10_000, setting: "gateway.limits.headersMax" })] },
    ],
    byDefault: "100",
    docs: "Maximum number of header lines of a request; more get 431.",
    example: "headers 100",
  },
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration-or-none", { min: 1, max: 86_400_000 })] }],
    byDefault: "30s",
    docs: "Longest time for a complete request and response. `timeout` of an operation overrides it.",
    example: "timeout 30s",
  },
  {
    keyword: "head-timeout",
    forms: [
      { args: [slot("time", "duration", { min: 1000, max: 120_000, setting: "gateway.limits.headMs" })] },
    ],
    byDefault: "10s",
    docs: "Longest time in which the head of a request may arrive. Then the client gets 408, at most 2s later, and its connection is closed.",
    example: "head-timeout 5s",
  },
  {
    keyword: "body-rate",
    forms: [
      {
        args: [
          slot("size", "size", { min: 1, max: 2 ** 20 }),
          word("per"),
          slot("time", "duration", { min: 1000, max: 300_000 }),
        ],
      },
    ],
    byDefault: "1KB per 10s",
    docs: "What the body of a request must send in every such time. A slower one gets 408; other requests of an HTTP/2 connection continue. The time in which the gateway itself holds the body back does not count, nor do bodies of gRPC.",
    example: "body-rate 4KB per 10s",
  },
  {
    keyword: "json-values",
    forms: [
      {
        args: [
          slot("count", "count", { min: 1000, max: 100_000_000, setting: "gateway.limits.jsonValuesMax" }),
        ],
      },
    ],
    byDefault: "60000",
    docs: "Maximum number of values and names in a JSON body that a statement reads. A request with more gets 413, a response with more becomes 502. Reading JSON blocks all other requests for about 0.3 µs a value.",
    example: "json-values 500000",
  },
  {
    keyword: "ipv6-prefix",
    forms: [{ args: [slot("bits", "count", { min: 32, max: 128 })] }],
    byDefault: "64",
    docs: "Limits by address count IPv6 callers by this many bits of their address, because one customer has at least a /64. 128 counts single addresses.",
    example: "ipv6-prefix 56",
  },
  {
    keyword: "connections-per-address",
    forms: [
      { args: [word("none")] },
      {
        args: [
          slot("count", "count", {
            min: 1,
            max: 1_000_000,
            setting: "gateway.limits.connectionsPerAddressMax",
          }),
        ],
      },
    ],
    byDefault: "4096",
    docs: "Open connections that one client may have in each process; IPv6 clients count by `ipv6-prefix`. A further one is closed at once. Addresses of `trust` are not limited.",
    example: "connections-per-address 500",
  },
  {
    keyword: "new-connections-per-address",
    forms: [
      {
        args: [
          slot("count", "count", {
            min: 1,
            max: 1_000_000,
            setting: "gateway.limits.newConnectionsPerAddressMax",
          }),
        ],
      },
    ],
    byDefault: "no limit: TLS handshakes of many clients take turns",
    docs: "New connections that one client may open in a second in each process. A further one is closed at once. Addresses of `trust` are not limited.",
    example: "new-connections-per-address 50",
  },
  {
    keyword: "limit-keys",
    forms: [
      {
        args: [
          slot("count", "count", { min: 1000, max: 100_000_000, setting: "gateway.limits.limitKeysMax" }),
        ],
      },
    ],
    byDefault: "1000000",
    docs: "Callers that each `limit` counts separately, in each process. If more come, a new caller takes the place of the one with the fewest calls, and the process counts this in `sallyport_limit_keys_evicted_total`. A caller takes about 46 bytes, or 300 bytes with calls in more than 4 of the 60 parts of the period.",
    example: "limit-keys 10000000",
  },
  {
    keyword: "shared",
    forms: [
      {
        args: [word("redis"), slot("url", "reference", { to: ["secret"], label: "SECRET" })],
        block: "shared redis",
      },
    ],
    byDefault: "each process counts on its own",
    docs: "Counts `limit` and `concurrency` in Redis or Valkey, over all processes whose gateway has the same name, and keeps the cache there if its block says so. The secret is the URL: `redis://USER:PASSWORD@HOST:PORT/DB`, `rediss://` for TLS, `redis+cluster://HOST:PORT,HOST:PORT`, or `redis+sentinel://HOST:PORT,HOST:PORT/GROUP`. While Redis is unavailable, each process counts on its own.",
    example: "shared redis redis_url { wait 20ms }",
  },
]

/** Statements in the block of `shared redis`. */
export const sharedRows: readonly StatementRow[] = [
  {
    keyword: "wait",
    forms: [{ args: [slot("time", "duration", { min: 1, max: 5000, setting: "gateway.shared.waitMs" })] }],
    byDefault: "50ms",
    docs: "Longest time that a request waits for Redis. After one has waited that long, all requests continue without Redis until it replies again.",
    example: "wait 20ms",
  },
  {
    keyword: "cache",
    forms: [
      {
        args: [
          slot("size", "size", { min: 16 * 2 ** 20, max: 2 ** 40, setting: "gateway.shared.cacheBytesMax" }),
        ],
      },
    ],
    byDefault: "each process has a cache of its own",
    docs: "Room in Redis for what the statements `cache` store, shared by all processes whose gateway has the same name. An entry takes at most 1/128 of it, and 1 MiB. If the room is full, entries that were not read for the longest time leave first. Who can read Redis can read cached responses. While Redis is unavailable, each process uses a cache of its own.",
    example: "cache 256MB",
  },
  {
    keyword: "tls",
    forms: [{ args: [], block: "tls", blockRequired: true }],
    byDefault: "certificates are checked against the system's authorities",
    docs: "How the certificate of Redis is checked, with a `rediss:` URL.",
    example: 'tls { ca file("certs/internal-ca.pem") }',
  },
]

export const storeRows: readonly StatementRow[] = [
  {
    keyword: "model",
    required: true,
    forms: [{ args: [slot("path", "constant")] }],
    docs: "The file of the model, relative to this file: a `.fga` file, a `fga.mod` that lists modules, or OpenFGA's JSON (`.json`).",
    example: 'model "models/acme.fga"',
  },
  {
    keyword: "tests",
    several: true,
    forms: [{ args: [slot("path", "constant")] }],
    docs: "Tests of the model (OpenFGA's store files), relative to this file; the path may contain `*`. A plan is made only when they pass.",
    example: 'tests "models/tests/*.fga.yaml"',
  },
  {
    keyword: "move",
    several: 100,
    forms: [
      {
        args: [
          slot("from", "constant", { max: 256, label: '"TYPE#RELATION"|"TYPE"' }),
          word("to"),
          slot("to", "constant", { max: 256, label: '"TYPE#RELATION"|"TYPE"' }),
          optional(word("for"), many(slot("user", "constant", { max: 256, label: '"USER-TYPE"' }), 100)),
        ],
      },
    ],
    docs: "Copies the stored tuples of a relation or type to a new one, and keeps both in step: each write of one word also writes the other. The model must have both. `for`: only tuples of these types of users. Leave it out when the move is ready and the model no longer has the old word.",
    example: 'move "doc#viewer" to "doc#reader"',
  },
]

export const productRows: readonly StatementRow[] = [
  {
    keyword: "apis",
    required: true,
    several: true,
    forms: [{ args: [many(slot("api", "reference", { to: ["api"] }), 10_000)] }],
    docs: "The APIs of the product.",
    example: "apis catalog orders",
  },
  {
    keyword: "open",
    forms: [{ args: [] }],
    docs: "Its APIs may also be called without a key; such calls count for the product. An API is in at most one open product.",
    example: "open",
  },
  {
    keyword: "unpublished",
    forms: [{ args: [] }],
    byDefault: "published: callers with permission can subscribe",
    docs: "No new subscriptions are possible. Issued keys stay valid.",
    example: "unpublished",
  },
  {
    keyword: "approval",
    forms: [{ args: [word("required")] }],
    byDefault: "subscriptions are active at once",
    docs: "An issued key gives no access until an operator approves it: `sallyport subscription approve NAME`.",
    example: "approval required",
  },
  {
    keyword: "subscriptions",
    forms: [{ args: [slot("count", "count", { min: 1, max: 1_000_000 }), word("per"), word("owner")] }],
    byDefault: "no maximum",
    docs: "Maximum number of issued subscriptions of one owner at a time.",
    example: "subscriptions 3 per owner",
  },
  {
    keyword: "price",
    forms: [{ args: [slot("amount", "decimal"), slot("currency", "currency"), word("per"), word("call")] }],
    docs: "Price of a call that the gateway did not refuse and that did not get 5xx. `sallyport usage` shows the amounts.",
    example: "price 0.002 EUR per call",
  },
]

export const subscriptionRows: readonly StatementRow[] = [
  {
    keyword: "product",
    forms: [{ args: [slot("product", "reference", { to: ["product"] })] }],
    docs: "The product that the key gives access to.",
    example: "product partner",
  },
  {
    keyword: "api",
    forms: [{ args: [word("*")] }, { args: [slot("api", "reference", { to: ["api"] })] }],
    docs: "One API that the key gives access to, instead of a product; `*` is every API.",
    example: "api catalog",
  },
  {
    keyword: "key",
    required: true,
    forms: [{ args: [slot("key", "reference", { to: ["secret"] })] }],
    docs: "The secret that is its key.",
    example: "key ci_key",
  },
  {
    keyword: "secondary",
    forms: [{ args: [slot("key", "reference", { to: ["secret"] })] }],
    docs: "A second valid key. It lets you replace the first key without an interruption: callers change to the second, then you change the first.",
    example: "secondary ci_key_next",
  },
]
