import { secretAlgorithm, signatureAlgorithm } from "../../../runtime/plan/resources.ts"
import { type ArgumentPattern, many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

/** The algorithm names that a plan accepts. */
export const algorithmNames: readonly string[] = [...signatureAlgorithm.options, ...secretAlgorithm.options]

const claimTypeNames = ["string", "int", "double", "bool", "map", "any"]

export const issuerRows: readonly StatementRow[] = [
  {
    keyword: "discovery",
    forms: [{ args: [slot("url", "url"), optional(word("exact"))] }],
    docs: "The URL of the issuer, or of its OpenID discovery document, `/.well-known/openid-configuration` below it. The document has the issuer's name and the place of its keys. The name must be the URL of the issuer. With `exact` it may be another one, as in some documents of Microsoft Entra ID, and the URL is requested exactly as written.",
    example: 'discovery "https://id.example/.well-known/openid-configuration"',
  },
  {
    keyword: "keys",
    forms: [{ args: [slot("file", "file")] }],
    docs: "A file with the key set (JWKS) instead of discovery; needs `issuer`.",
    example: 'keys file("keys/partner.jwks.json")',
  },
  {
    keyword: "key",
    several: 20,
    forms: [
      {
        args: [
          oneOf(
            [
              word("secret"),
              slot("secret", "reference", { to: ["secret"] }),
              optional(slot("encoding", "choice", { choices: ["base64"] })),
            ],
            [word("rsa"), slot("n", "constant", { max: 4096 }), slot("e", "constant", { max: 64 })],
            [word("certificate"), slot("certificate", "file")],
          ),
          optional(slot("id", "constant", { max: 256 })),
        ],
      },
    ],
    docs: "A key instead of discovery: a shared secret (for HMAC only), an RSA key by modulus and exponent in Base64, or the key of a certificate. The last string is the `kid` of its tokens. Needs `issuer`.",
    example: "key secret partner_key base64",
  },
  {
    keyword: "issuer",
    forms: [{ args: [word("*")] }, { args: [slot("name", "load-text")] }],
    docs: "The `iss` that tokens must have, with `keys` or `key`. `*` accepts any, as long as the key verifies the token. With `discovery` it comes from the document.",
    example: 'issuer "https://partner.example"',
  },
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [word("*")] }, { args: [many(slot("audience", "data"), 100)] }],
    docs: "Audiences (`aud`): a token must have one of them. `*` accepts tokens with any audience, also those made for other services.",
    example: "audience orders-api",
  },
  {
    keyword: "clock-skew",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 600_000, wholeSeconds: true })] }],
    byDefault: "30s",
    docs: "Allowed difference between the clocks of the issuer and the gateway.",
    example: "clock-skew 30s",
  },
  {
    keyword: "algorithms",
    forms: [
      { args: [many(slot("algorithm", "choice", { choices: algorithmNames, label: "ALGORITHM" }), 14)] },
    ],
    byDefault: "RS256 PS256 ES256 EdDSA Ed25519",
    docs: "The accepted signature algorithms. HS256, HS384 and HS512 are only for `key secret`, and the default there.",
    example: "algorithms RS256 ES256",
  },
  {
    keyword: "claims",
    forms: [{ args: [], block: "claims", blockRequired: true }],
    byDefault: "any claim may be used",
    docs: "The claims of the issuer's tokens. With this list, using another claim is an error.",
    example: "claims { sub string; roles list string }",
  },
]

export const claimRow: StatementRow = {
  keyword: "CLAIM",
  several: true,
  forms: [
    {
      args: [
        oneOf(
          [word("list"), optional(slot("item", "choice", { choices: claimTypeNames, label: "TYPE" }))],
          [slot("type", "choice", { choices: [...claimTypeNames, "list"], label: "TYPE" })],
        ),
      ],
    },
  ],
  docs: "A claim and its type: `string`, `int`, `double`, `bool`, `list TYPE`, `map` or `any`.",
  example: "roles list string",
}

const milliseconds = { min: 1, max: 86_400_000 }

const calls = { min: 1, max: 1_000_000 }
const breakerTimes = [
  word("in"),
  slot("window", "duration", milliseconds),
  word("open"),
  slot("open", "duration", milliseconds),
]

/** `N failures in TIME open TIME`, and `N% of N calls in TIME open TIME`. */
export const breakerForms: readonly (readonly ArgumentPattern[])[] = [
  [slot("calls", "count", calls), word("failures"), ...breakerTimes],
  [
    slot("share", "percentage", { min: 1, wholePercent: true }),
    word("of"),
    slot("calls", "count", calls),
    word("calls"),
    ...breakerTimes,
  ],
]

const retryCauses = ["connect-error", "reset", "timeout", "408", "425", "429", "500", "502", "503", "504"]
/** A timeout of a backend, by its field in the plan. */
const timeoutOf = (field: string) => ({ ...milliseconds, setting: `backends.*.${field}` })
const firstByte = [word("first-byte"), slot("firstByte", "duration", timeoutOf("firstByteMs"))]
const idle = [word("idle"), slot("idle", "duration", timeoutOf("idleMs"))]
const total = [word("total"), slot("total", "duration-or-none", timeoutOf("totalMs"))]

export const backendRows: readonly StatementRow[] = [
  {
    keyword: "url",
    forms: [{ args: [slot("url", "url")] }],
    docs: 'The only target. The backend gets the path below the path of the API, after the path of this URL: with `path "/orders"` and `url "http://127.0.0.1:9001/shop"`, `/orders/7` arrives as `/shop/7`.',
    example: 'url "http://127.0.0.1:9001"',
  },
  {
    keyword: "target",
    several: 256,
    forms: [
      {
        args: [slot("url", "url"), optional(word("weight"), slot("weight", "count", { min: 1, max: 1000 }))],
      },
    ],
    docs: "One of several targets. Requests are shared by weight (default: 1).",
    example: 'target "http://127.0.0.1:9002" weight 3',
  },
  {
    keyword: "targets",
    forms: [
      { args: [word("dns"), slot("url", "url")] },
      { args: [word("srv"), slot("url", "url")] },
      {
        args: [
          word("kubernetes"),
          slot("service", "constant", { label: '"[NAMESPACE/]SERVICE[:PORT]"', max: 200 }),
          optional(word("https")),
        ],
        block: "kubernetes",
      },
    ],
    docs: "Finds the targets while the gateway runs. `dns`: each address of the host (A and AAAA) is a target. `srv`: each service of a host such as `_http._tcp.orders.internal` (SRV), with its port, priority and weight. `kubernetes`: each ready endpoint of a service; `PORT` is the name of a port of the service, or the number of a port of its pods. The host of the URL stays in the Host header and is the name that TLS verifies (with `srv` without `_http._tcp.`).",
    example: 'targets dns "http://orders.internal:8080"',
  },
  {
    keyword: "timeout",
    forms: [
      {
        args: [
          oneOf(
            [
              word("connect"),
              slot("connect", "duration", timeoutOf("connectMs")),
              optional(...firstByte),
              optional(...idle),
              optional(...total),
            ],
            [...firstByte, optional(...idle), optional(...total)],
            [...idle, optional(...total)],
            [...total],
            [slot("total", "duration-or-none", timeoutOf("totalMs"))],
          ),
        ],
      },
    ],
    byDefault: "connect 2s, total none (the operation's own time counts)",
    docs: "Longest time to connect (`connect`), until the response begins (`first-byte`), between two parts of its body (`idle`), and until it is complete (`total`).",
    example: "timeout connect 2s first-byte 5s idle 30s total 60s",
  },
  {
    keyword: "balance",
    forms: [
      { args: [word("round-robin")] },
      { args: [word("least-outstanding")] },
      { args: [word("hash"), word("by"), slot("key", "text")] },
    ],
    byDefault: "round-robin",
    docs: "Which target gets a request. `round-robin`: in turn, by weight. `least-outstanding`: the target with the fewest running requests for its weight. `hash by`: equal keys go to the same target.",
    example: 'balance hash by "${jwt.sub}"',
  },
  {
    keyword: "health",
    forms: [
      {
        args: [
          slot("method", "choice", { choices: ["GET", "HEAD"] }),
          slot("path", "path"),
          word("every"),
          slot("every", "duration", { min: 100, max: 3_600_000 }),
        ],
        block: "health",
      },
    ],
    byDefault: "no health checks",
    docs: "Checks the health of every target. An unhealthy target gets no requests.",
    example: 'health GET "/healthz" every 5s',
  },
  {
    keyword: "breaker",
    forms: breakerForms.map((args) => ({ args, block: "breaker" })),
    byDefault: "no breaker",
    docs: "Stops sending requests to a target that fails (no response in time, or a failing status). After the `open` time, one request tests whether it works again.",
    example: "breaker 5 failures in 30s open 10s",
  },
  {
    keyword: "retry",
    forms: [
      {
        args: [
          slot("times", "count", { min: 1, max: 10 }),
          word("on"),
          many(slot("cause", "choice", { choices: retryCauses, label: "CAUSE" }), 50),
        ],
        block: "retry",
      },
    ],
    byDefault: "no retries",
    docs: "Sends a request again, to another target if there is one: on `connect-error`, `reset` (the connection broke before the response), `timeout` (no response in time) or a status. Only idempotent methods, and at most 10% more requests, unless its block says otherwise. Never after a byte of a response was sent to the caller. A target that cannot be connected to is passed over also without `retry`, because nothing was sent.",
    example: "retry 2 on connect-error 502 503",
  },
  {
    keyword: "http2",
    forms: [{ args: [optional(slot("h2c", "choice", { choices: ["h2c"] }))] }],
    byDefault: "HTTP/1.1",
    docs: "Uses HTTP/2 with `https:` targets that support it; with `h2c` (prior knowledge) also with all `http:` targets, which must support it.",
    example: "http2",
  },
  {
    keyword: "tls",
    forms: [{ args: [], block: "tls", blockRequired: true }],
    byDefault: "certificates are checked against the system's authorities",
    docs: "How the backend's certificate is checked.",
    example: 'tls { ca file("certs/internal-ca.pem") }',
  },
]

export const kubernetesRows: readonly StatementRow[] = [
  {
    keyword: "server",
    forms: [{ args: [slot("url", "url")] }],
    byDefault: "the API server of the cluster in which the gateway runs",
    docs: "The URL of the API server of another cluster.",
    example: 'server "https://kubernetes.internal:6443"',
  },
  {
    keyword: "token",
    forms: [{ args: [slot("file", "file")] }],
    byDefault: "the service account of the pod; with `server`, none",
    docs: "A file with the token of a service account. It is read for each request, so it can be renewed.",
    example: 'token file("cluster/token")',
  },
  {
    keyword: "ca",
    forms: [{ args: [slot("file", "file")] }],
    byDefault: "the authorities in the pod; with `server`, those of the system",
    docs: "Certificate authorities (PEM) that may sign the certificate of the API server.",
    example: 'ca file("cluster/ca.pem")',
  },
]

export const healthRows: readonly StatementRow[] = [
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration", milliseconds)] }],
    byDefault: "2s",
    docs: "Longest time for the whole response to a check.",
    example: "timeout 1s",
  },
  {
    keyword: "status",
    forms: [{ args: [many(slot("status", "status", { min: 100, max: 599 }), 50)] }],
    byDefault: "200 to 299",
    docs: "The statuses of a healthy target.",
    example: "status 200 204",
  },
  {
    keyword: "down-after",
    forms: [{ args: [slot("count", "count", { min: 1, max: 100 })] }],
    byDefault: "3",
    docs: "This many failed checks in a row make a target unhealthy.",
    example: "down-after 3",
  },
  {
    keyword: "up-after",
    forms: [{ args: [slot("count", "count", { min: 1, max: 100 })] }],
    byDefault: "2",
    docs: "This many successful checks in a row make it healthy again.",
    example: "up-after 2",
  },
]

export const breakerRows: readonly StatementRow[] = [
  {
    keyword: "status",
    forms: [{ args: [many(slot("status", "status", { min: 100, max: 599 }), 100)] }],
    byDefault: "500 to 599",
    docs: "The statuses that count as failures. A target that does not respond in time always counts as failed.",
    example: "status 500 502 503 504",
  },
  {
    keyword: "eject",
    forms: [{ args: [word("at-most"), slot("share", "percentage", { wholePercent: true })] }],
    byDefault: "at-most 100%",
    docs: "When breakers are open for more than this share of the targets, they are ignored, so that some targets stay in use.",
    example: "eject at-most 50%",
  },
]

export const retryRows: readonly StatementRow[] = [
  {
    keyword: "even",
    forms: [{ args: [many(slot("method", "choice", { choices: ["POST", "PATCH"] }), 2)] }],
    docs: "Further methods to repeat, although the backend may then carry them out twice.",
    example: "even POST",
  },
  {
    keyword: "budget",
    forms: [{ args: [slot("share", "percentage", { min: 1, wholePercent: true })] }],
    byDefault: "10%",
    docs: "Largest share of additional requests by retries.",
    example: "budget 10%",
  },
]

export const tlsRows: readonly StatementRow[] = [
  {
    keyword: "ca",
    forms: [{ args: [slot("file", "file")] }],
    docs: "Certificate authorities (PEM) that may sign the backend's certificate.",
    example: 'ca file("certs/internal-ca.pem")',
  },
  {
    keyword: "insecure",
    forms: [{ args: [] }],
    docs: "Does not check the certificate. For development only.",
    example: "insecure",
  },
]
