import { certificate, introspection, token, users } from "./credentials.ts"
import { pdp } from "./pdp.ts"
import { many, oneOf, type StatementRow, slot, word } from "./row.ts"
import { xml } from "./xml.ts"

/** Statements of a file: everything that is declared. */
const gateway: StatementRow = {
  keyword: "gateway",
  forms: [{ args: [slot("name", "name", { to: ["gateway"] })], block: "gateway", blockRequired: true }],
  docs: "The public side: where it listens, whom it trusts, what holds for every API.",
  example: "gateway acme { listen 127.0.0.1:8000 }",
}

const authz: StatementRow = {
  keyword: "authz",
  forms: [{ args: [word("url"), slot("url", "url")] }, { args: [], block: "authz", blockRequired: true }],
  docs: "The authorization engine: its internal listener and its stores. With `url` there is none: `require` and `filter` ask the AuthZEN decision point at this URL where they name no other.",
  example: 'authz { listen 127.0.0.1:8080; store acme { model "models/acme.fga" } }',
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
  docs: "A named value: text, perhaps made of other values, or read from outside when the plan is loaded. Used as `NAME` or inside `${…}`.",
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
  docs: "A secret, read from outside only; a file is read again when it changes. It can't be shown to callers.",
  example: "secret ci_key = env(ACME_CI_KEY)",
}

const issuer: StatementRow = {
  keyword: "issuer",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["issuer"] })], block: "issuer", blockRequired: true }],
  docs: "Who signs tokens, and what a token must say to be accepted.",
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
  docs: "Statements to be used in several places: `use NAME` stands for them.",
  example: 'policy edge { outbound { header remove "Server" } }',
}

const api: StatementRow = {
  keyword: "api",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["api"] })], block: "api", blockRequired: true }],
  docs: "An API: a path, perhaps versions, operations, and what holds for all of them.",
  example: 'api status { path "/status"; auth none; GET "/" { respond 200 } }',
}

const product: StatementRow = {
  keyword: "product",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["product"] })], block: "product", blockRequired: true }],
  docs: "APIs a subscription opens together.",
  example: "product partner { apis catalog orders }",
}

const subscription: StatementRow = {
  keyword: "subscription",
  several: true,
  forms: [
    { args: [slot("name", "name", { to: ["subscription"] })], block: "subscription", blockRequired: true },
  ],
  docs: "A caller with a key: it opens the APIs of a product, or one API, where `auth subscription` asks for it.",
  example: "subscription acme_ci { product partner; key ci_key }",
}

const include: StatementRow = {
  keyword: "include",
  several: true,
  forms: [{ args: [slot("path", "constant")] }],
  docs: "Takes in the statements of other files; the path is relative to this file and may hold `*`.",
  example: 'include "models/teams/*.conf"',
}

export const fileRows: readonly StatementRow[] = [
  gateway,
  authz,
  value,
  secret,
  issuer,
  introspection,
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
  forms: [{ args: [many(slot("address", "address"), 16)] }],
  docs: "Addresses and ports to listen on; IPv6 in brackets.",
  example: "listen 127.0.0.1:8000 [::1]:8000",
}

export const gatewayRows: readonly StatementRow[] = [
  listen,
  {
    keyword: "trust",
    several: true,
    forms: [{ args: [word("none")] }, { args: [many(slot("network", "network"), 1000)] }],
    byDefault: "no proxy is believed",
    docs: "Networks of the proxies in front: their X-Forwarded-For tells the client's address. `trust none` says that there are none.",
    example: "trust 10.0.0.0/8",
  },
  {
    keyword: "errors",
    forms: [{ args: [slot("format", "choice", { choices: ["problem", "apim"] })] }],
    byDefault: "problem",
    docs: "How failures look: problem bodies of RFC 9457, or the statuses, bodies and headers of Azure API Management.",
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
    forms: [{ args: [slot("size", "size", { min: 0, max: 2 ** 40 })] }],
    byDefault: "10MB",
    docs: "Largest request body; a larger one is answered 413.",
    example: "body 10MB",
  },
  {
    keyword: "buffer",
    forms: [{ args: [slot("size", "size", { min: 0, max: 2 ** 30 })] }],
    byDefault: "2MB",
    docs: "Largest body, of a request or an answer, that is read whole because a statement needs it. A larger request is answered 413, a larger answer becomes 502; what no statement needs is streamed.",
    example: "buffer 10MB",
  },
  {
    keyword: "header",
    forms: [{ args: [slot("size", "size", { min: 1024, max: 2 ** 20 })] }],
    byDefault: "16KB",
    docs: "Largest request head (request line and headers); a larger one is answered 431.",
    example: "header 16KB",
  },
  {
    keyword: "headers",
    forms: [{ args: [slot("count", "count", { min: 1, max: 10_000 })] }],
    byDefault: "100",
    docs: "Most header lines of a request; more are answered 431.",
    example: "headers 100",
  },
  {
    keyword: "timeout",
    forms: [{ args: [slot("time", "duration-or-none", { min: 1, max: 86_400_000 })] }],
    byDefault: "30s",
    docs: "Longest time for a whole exchange; `timeout` of an operation overrides it.",
    example: "timeout 30s",
  },
  {
    keyword: "json-values",
    forms: [{ args: [slot("count", "count", { min: 1000, max: 100_000_000 })] }],
    byDefault: "60000",
    docs: "Most values and names in a JSON body that a statement reads. A request with more is answered 413, an answer with more becomes 502. Reading JSON stops all other requests for about 0.3 µs a value.",
    example: "json-values 500000",
  },
  {
    keyword: "ipv6-prefix",
    forms: [{ args: [slot("bits", "count", { min: 32, max: 128 })] }],
    byDefault: "64",
    docs: "Limits count an IPv6 caller by so many bits of its address: one customer has a /64 at least. 128 counts single addresses.",
    example: "ipv6-prefix 56",
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
    docs: "Tests of the model (OpenFGA's store files), relative to this file; the path may hold `*`. A plan is made only when they pass.",
    example: 'tests "models/tests/*.fga.yaml"',
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
    docs: "Its APIs may be called without a key too; such a call is one of the product. An API is in one open product at most.",
    example: "open",
  },
  {
    keyword: "unpublished",
    forms: [{ args: [] }],
    byDefault: "published: callers with permission can subscribe",
    docs: "Nobody new can subscribe to it. Keys that were issued count on.",
    example: "unpublished",
  },
  {
    keyword: "approval",
    forms: [{ args: [word("required")] }],
    byDefault: "subscriptions are active at once",
    docs: "What is issued opens nothing before an operator approves it: `sallyport subscription approve NAME`.",
    example: "approval required",
  },
  {
    keyword: "subscriptions",
    forms: [{ args: [slot("count", "count", { min: 1, max: 1_000_000 }), word("per"), word("owner")] }],
    byDefault: "no bound",
    docs: "Most subscriptions to it that one owner can have at a time, of those issued.",
    example: "subscriptions 3 per owner",
  },
  {
    keyword: "price",
    forms: [{ args: [slot("amount", "decimal"), slot("currency", "currency"), word("per"), word("call")] }],
    docs: "What a call costs that was not refused by the gateway and not answered 5xx: `sallyport usage` shows the amounts.",
    example: "price 0.002 EUR per call",
  },
]

export const subscriptionRows: readonly StatementRow[] = [
  {
    keyword: "product",
    forms: [{ args: [slot("product", "reference", { to: ["product"] })] }],
    docs: "The product it opens.",
    example: "product partner",
  },
  {
    keyword: "api",
    forms: [{ args: [slot("api", "reference", { to: ["api"] })] }],
    docs: "The one API it opens, instead of a product.",
    example: "api catalog",
  },
  {
    keyword: "all-apis",
    forms: [{ args: [] }],
    docs: "It opens every API, instead of a product or one.",
    example: "all-apis",
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
    docs: "A second key that counts as well: callers change to it, then the first is changed, and nobody is locked out meanwhile.",
    example: "secondary ci_key_next",
  },
]
