/** Files that examples of the manual may name. */
export const exampleFiles: readonly (readonly [string, string])[] = [
  [
    "models/acme.fga",
    `model
  schema 1.1

type user

type team
  relations
    define member: [user]

type folder
  relations
    define viewer: [user, team#member]

type order
  relations
    define folder: [folder]
    define team: [team]
    define owner: [user]
    define editor: [user] or owner
    define viewer: [user, user:* with working_hours] or editor or member from team or viewer from folder

condition working_hours(hour: int) {
  hour >= 8 && hour < 18
}
`,
  ],
  [
    "models/tests/acme.fga.yaml",
    `name: Acme
model_file: ../acme.fga
tuples:
  - { user: user:ann, relation: owner, object: order:1 }
tests:
  - name: an owner views
    check:
      - { user: user:ann, object: order:1, assertions: { viewer: true } }
`,
  ],
  [
    "models/catalog.openapi.yaml",
    `openapi: 3.1.0
info: { title: Catalog, version: "1" }
paths:
  /items:
    get:
      parameters:
        - { name: page, in: query, schema: { type: integer } }
      responses:
        "200":
          description: Items
          content:
            application/json: { schema: { type: array, items: { type: object } }, example: [{ "sku": "lantern" }] }
  /items/{id}:
    get:
      security: [{ bearerAuth: [] }]
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        "200": { description: An item, content: { application/json: { schema: { type: object } } } }
components:
  securitySchemes:
    bearerAuth: { type: http, scheme: bearer }
`,
  ],
  [
    "models/order.schema.json",
    `{ "type": "object", "required": ["item"], "properties": { "item": { "type": "string" } } }`,
  ],
  [
    "models/stock.policy.xml",
    `<policies><inbound><base /><set-header name="X-From" exists-action="override"><value>gateway</value></set-header></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`,
  ],
  ["models/session.fragment.xml", `<fragment><set-variable name="session" value="1" /></fragment>`],
  ["teams/orders.conf", `policy team_headers { outbound { header remove "Server" } }\n`],
]

/** What a fragment may name: declarations by keyword and name. One that the fragment has itself is left out. */
const declarations: readonly (readonly [head: string, rest: string])[] = [
  ["gateway acme", "{ listen 127.0.0.1:8000; trust 10.0.0.0/8 }"],
  ["authz", '{ listen 127.0.0.1:8080; store acme { model "models/acme.fga" } }'],
  ["value tenant_name", '= "acme"'],
  ["secret ci_key", "= env(ACME_CI_KEY)"],
  ["secret gateway_secret", "= env(GATEWAY_SECRET)"],
  ["secret stock_password", "= env(STOCK_PASSWORD)"],
  ["issuer acme", '{ discovery "https://id.example/.well-known/openid-configuration"; audience orders-api }'],
  [
    "introspection partner",
    '{ url "https://id.example/introspect"; client "gateway" secret gateway_secret }',
  ],
  ["users staff", "{ user ann stock_password }"],
  ["certificate edge", '{ cert file("certs/edge.pem"); key file("certs/edge.key") }'],
  ["token stock", '{ url "https://id.example/token"; client "gateway" secret gateway_secret }'],
  ["policy edge", '{ outbound { header remove "Server" } }'],
  ["backend orders_v1", '{ url "http://127.0.0.1:9001" }'],
  ["backend orders_v2", '{ url "http://127.0.0.1:9002" }'],
]

const methods = "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY"
/** Whether one of these stands in the text itself: what is in a block is indented further. */
const has = (text: string, keywords: string) => new RegExp(`^ {0,2}(?:${keywords})\\b`, "m").test(text)

/** Statements of an API around those of an example, which may bring some of them itself. */
function api(text: string): string {
  const own = [
    has(text, "path") ? "" : '  path "/orders"\n',
    has(text, "backend|version|mock") ? "" : "  backend orders_v1\n",
    has(text, "auth|policy xml") ? "" : "  auth jwt acme\n",
    has(text, `${methods}|openapi|policy xml`) ? "" : '  GET "/{id}"\n',
    has(text, "policy xml") ? '  GET "/{id}"\n' : "",
  ]
  return `api orders {\n${own.join("")}${text}}\n`
}

const operation = (text: string) => api(`  GET "/{id}" {\n${text.replace(/^(?=.)/gm, "    ")}  }\n`)
const store = 'store acme { model "models/acme.fga" }'

/** Where the text of a fragment stands, by the word behind `gateway` in its fence. */
const frames: Readonly<Record<string, (text: string) => string>> = {
  top: (text) => text,
  gateway: (text) => `gateway acme {\n${has(text, "listen") ? "" : "  listen 127.0.0.1:8000\n"}${text}}\n`,
  authz: (text) =>
    `authz {\n${has(text, "listen") ? "" : "  listen 127.0.0.1:8080\n"}${text}  ${has(text, "store") ? "" : store}\n}\n`,
  issuer: (text) =>
    `issuer acme {\n  discovery "https://id.example/.well-known/openid-configuration"\n  audience orders-api\n${text}}\n`,
  backend: (text) =>
    `backend shop {\n${has(text, "url|target") ? "" : '  url "http://127.0.0.1:9002"\n'}${text}}\n`,
  api,
  operation,
  inbound: (text) => operation(`inbound {\n${text}}\n`),
  outbound: (text) => operation(`outbound {\n${text}}\n`),
  "on-error": (text) => operation(`on-error {\n${text}}\n`),
}

/** The project that an example is compiled in: its own text alone without a frame, else what it may name, and the text in its place. */
export function projectOf(frame: string | undefined, text: string): string {
  if (frame === undefined) return text
  const around = frames[frame]
  if (around === undefined) throw new Error(`there is no frame \`${frame}\``)
  const own = around(text)
  const named = declarations
    .filter(([head]) => !new RegExp(`^${head.replace(" acme", " \\w+")}(?= |$)`, "m").test(own))
    .map(([head, rest]) => `${head} ${rest}\n`)
  return `${named.join("")}${own}`
}
