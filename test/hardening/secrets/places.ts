import { createHmac } from "node:crypto"

/** A request to the gateway. */
export interface Asked {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A place of gateway.conf that a secret may be named in. Its project is a part of one that has all of them. */
export interface SecretPlace {
  /** Name of the secret, of its file, and of the API that uses it. */
  readonly name: string
  /** The places of the language that the text below uses: `KEYWORD SLOT`, or the file of the compiler that allows secrets in a text. */
  readonly slots: readonly string[]
  /** Content of the file; absent: the canary. */
  readonly text?: (canary: string) => string
  /** The canary has only characters of base64url. */
  readonly base64url?: true
  /** Statements of `gateway`, its `limits`, of `authz` and of the file. */
  readonly gateway?: string
  readonly limits?: string
  readonly authz?: string
  readonly file?: string
  /** Statements of an API with the path `/NAME`, which has no `auth` of its own. */
  readonly api?: string
  /** Content of the file that cannot be used. */
  readonly spoilt?: (canary: string) => string
  /** A plan with this content is applied nevertheless: what uses it fails later. */
  readonly tolerated?: true
  /** Requests with the secret, and ones that the place makes the gateway use it for. Absent: `GET /NAME/` and `GET /NAME/dead`. */
  readonly asks?: (canary: string) => readonly Asked[]
}

/** A backend that responds, and one that refuses connections. */
const bothWays = 'GET "/" { backend alive }; GET "/dead" { backend dead }'
/** Content with a line break: no field of a header can be it. */
const twoLines = (canary: string) => `${canary}\n${canary}`
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
const signed = (secret: string, body: string) => ({
  "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
})

/** Requests with a header, and with one that has a further character. */
function withHeader(name: string, path: string, value: string): Asked[] {
  return [value, `${value}x`].flatMap((each) => [
    { path, headers: { [name]: each } },
    { path: `${path}dead`, headers: { [name]: each } },
  ])
}

const ownServices: readonly SecretPlace[] = [
  {
    name: "traces_key",
    slots: ["header value"],
    gateway: 'tracing { otlp collector; header "Authorization" traces_key; sample 100% }',
    spoilt: twoLines,
    asks: () => [],
  },
  {
    name: "metrics_key",
    slots: [],
    gateway: 'metrics { otlp collector; header "X-Api-Key" metrics_key; every 1s }',
    asks: () => [],
  },
  {
    name: "record_key",
    slots: [],
    gateway: 'record { folder "record"; encrypt-with record_key; sample 100% }',
    spoilt: (canary) => canary.slice(0, 21),
    asks: () => [],
  },
  {
    name: "redis_url",
    slots: ["shared url"],
    text: (canary) => `redis://gateway:${canary}@127.0.0.1:1/0`,
    spoilt: (canary) => `redis://gateway:${canary}@:not-a-port/0`,
    limits: "shared redis redis_url { wait 20ms }",
    api: `limit 100 per 1s by ip; ${bothWays}`,
  },
  { name: "certificate_text", slots: ["cert named"], asks: () => [] },
  {
    name: "certificate_key",
    slots: ["key named"],
    file: "certificate edge { cert certificate_text; key certificate_key }",
    spoilt: (canary) => `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n`,
    asks: () => [],
  },
  {
    name: "acme_key",
    slots: ["encrypt-with secret"],
    spoilt: (canary) => canary.slice(0, 20),
    file: `certificate ordered {
      acme {
        directory "https://127.0.0.1:1/directory"; hosts "shop.example"; encrypt-with acme_key
        external-account "kid-1" secret acme_account
      }
    }`,
    asks: () => [],
  },
  {
    name: "acme_account",
    slots: ["external-account secret"],
    base64url: true,
    spoilt: (canary) => `${canary}!`,
    tolerated: true,
    asks: () => [],
  },
]

const callers: readonly SecretPlace[] = [
  {
    name: "caller_key",
    slots: ["key key"],
    file: "subscription one { api *; key caller_key; secondary second_key }",
    api: `auth subscription { query "key" }; ${bothWays}`,
    asks: (canary) => [
      ...withHeader("x-api-key", "/caller_key/", canary),
      ...["", "dead", "no-route"].map((end) => ({
        path: `/caller_key/${end}?key=${encodeURIComponent(canary)}`,
      })),
      { path: `/caller_key/?key=${encodeURIComponent(canary)}x` },
    ],
  },
  {
    name: "second_key",
    slots: ["secondary key"],
    asks: (canary) => withHeader("x-api-key", "/caller_key/", canary),
  },
  {
    name: "password",
    slots: ["user secret"],
    file: "users staff { user ann password }",
    spoilt: (canary) => `scrypt:${canary}`,
    api: `auth basic staff; ${bothWays}`,
    asks: (canary) => withHeader("authorization", "/password/", basic("ann", canary)),
  },
  {
    name: "issuer_key",
    slots: ["key secret"],
    file: 'issuer own { key secret issuer_key; issuer "https://own.example"; audience "api" }',
    api: `auth jwt own; ${bothWays}`,
    spoilt: (canary) => canary.slice(0, 19),
  },
  {
    name: "introspection_secret",
    slots: ["client secret"],
    file: 'introspection opaque { url "${service}/introspect"; client "gateway" secret introspection_secret; cache 0s }',
    api: `auth introspection opaque; ${bothWays}`,
    asks: () => withHeader("authorization", "/introspection_secret/", "Bearer an-opaque-token"),
  },
  {
    name: "login_secret",
    slots: [],
    file: 'issuer web { discovery provider; audience "api" }\noidc pages { issuer web; client "web" secret login_secret; session-keys session_key }',
    gateway: "errors problem",
    api: `auth oidc pages; ${bothWays}`,
  },
  {
    name: "session_key",
    slots: ["session-keys secret"],
    spoilt: (canary) => canary.slice(0, 20),
    asks: () => [],
  },
  {
    name: "webhook_secret",
    slots: ["auth secret"],
    api: 'auth hmac github webhook_secret; POST "/" { backend alive }; POST "/dead" { backend dead }',
    asks: (canary) =>
      ["/", "/dead"].flatMap((end) =>
        [canary, `${canary}x`].map((secret) => ({
          ...{ path: `/webhook_secret${end}`, method: "POST", body: "{}", headers: signed(secret, "{}") },
        })),
      ),
  },
  {
    name: "described_secret",
    slots: ["security secret"],
    file: `api described {
      path "/described_secret"
      openapi "described.yaml" { security hook auth hmac github described_secret }; backend alive
    }`,
    asks: (canary) => [
      { path: "/described_secret/", method: "POST", body: "{}", headers: signed(canary, "{}") },
      { path: "/described_secret/", method: "POST", body: "{}", headers: signed(`${canary}x`, "{}") },
    ],
  },
]

const engine: readonly SecretPlace[] = [
  {
    name: "engine_key",
    slots: ["auth key"],
    authz: "auth key engine_key { read shop; write shop }",
    asks: () => [],
  },
  {
    name: "hash_key",
    slots: ["users key"],
    authz: "log { requests; decisions; users hashed by hash_key; slow 1ms; slow-steps 1 }",
    asks: () => [],
  },
  {
    name: "point_password",
    slots: ["authenticate password"],
    file: 'pdp corp { url "${service}/point"; authenticate basic "gateway" point_password }',
    api: 'GET "/" { require read of "order:1" for "user:ann" by corp; backend alive }',
  },
  {
    name: "point_key",
    slots: ["authenticate bearer"],
    file: 'pdp other { url "${service}/point"; authenticate bearer point_key }\npdp lost { url "http://127.0.0.1:1"; authenticate bearer point_key }',
    spoilt: twoLines,
    api: `GET "/" { require read of "order:1" for "user:ann" by other; backend alive }
      GET "/dead" { require read of "order:1" for "user:ann" by lost; backend alive }`,
  },
]

const backends: readonly SecretPlace[] = [
  {
    name: "backend_password",
    slots: [],
    file: ["alive", "dead"]
      .map((to) => `backend ${to}_basic { url ${to}_url; authenticate basic "gateway" backend_password }`)
      .join("\n"),
    api: 'GET "/" { backend alive_basic }; GET "/dead" { backend dead_basic }',
  },
  {
    name: "backend_client",
    slots: ["authenticate secret"],
    file: 'backend tokened { url alive_url; authenticate token web client "three" secret backend_client }',
    api: 'GET "/" { backend tokened }',
  },
  {
    name: "client_secret",
    slots: [],
    file: 'token stock { url "${service}/token"; client "gateway" secret client_secret }\nbackend stocked { url alive_url; authenticate token stock }',
    api: `GET "/" { backend stocked }; GET "/dead" { inbound { authenticate token stock }; backend dead }`,
  },
  {
    name: "header_secret",
    slots: ["steps/set-header.ts"],
    spoilt: twoLines,
    api: `inbound { header set "X-Upstream-Key" "key \${header_secret}" }; ${bothWays}`,
  },
  {
    // As the key of `hmac`: the only use of a secret in an expression.
    name: "expression_key",
    slots: [],
    api: `inbound { header set "X-Sign" "\${hmac("sha256", expression_key, request.method).hex()}" }; ${bothWays}`,
  },
  {
    name: "query_secret",
    slots: ["steps/set-query.ts"],
    api: `inbound { query set "code" "\${query_secret}" }; ${bothWays}`,
  },
  {
    name: "step_password",
    slots: ["lower/authentication.ts"],
    api: `inbound { authenticate basic "gateway" "\${step_password}" }; ${bothWays}`,
  },
  {
    name: "step_token",
    slots: [],
    spoilt: twoLines,
    tolerated: true,
    api: `inbound { authenticate bearer step_token }; ${bothWays}`,
  },
  {
    name: "sent_header",
    slots: ["steps/send-request.ts"],
    spoilt: twoLines,
    api: ["alive", "dead"]
      .map(
        (to, at) =>
          `GET "/${at === 0 ? "" : "dead"}" { inbound { send asked { url "\${${to}_url}/"; header "X-Key" sent_header } }; backend alive }`,
      )
      .join("\n"),
  },
  {
    name: "document_secret",
    slots: ["value value"],
    file: 'xml { value "Key.Of.Documents" document_secret }',
    api: `policy xml "document.xml"; ${bothWays}`,
  },
]

/** All places. A new secret of the language is one more row. */
export const secretPlaces: readonly SecretPlace[] = [...ownServices, ...callers, ...engine, ...backends]

/** The document that uses `document_secret`, in a text and in an expression. */
export const documentText = `<policies>
  <inbound>
    <set-header name="X-Key" exists-action="override"><value>{{Key.Of.Documents}}</value></set-header>
    <set-header name="X-Second" exists-action="override"><value>@("key " + "{{Key.Of.Documents}}")</value></set-header>
    <trace source="document" severity="verbose"><message>the document ran</message></trace>
  </inbound>
</policies>
`

/** The description that uses `described_secret`. */
export const descriptionText = `openapi: 3.0.3
info: { title: Described, version: "1" }
components: { securitySchemes: { hook: { type: apiKey, in: header, name: X-Hub-Signature-256 } } }
paths:
  /:
    post: { operationId: hook, security: [{ hook: [] }], responses: { "200": { description: Accepted } } }
`
