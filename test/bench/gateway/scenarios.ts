import { MemoryFiles } from "../../../compiler/core/files.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { compile } from "../../compile.ts"
import type { Load } from "./load.ts"

/** One API of the measured gateway, written as its users would write it. */
export interface Scenario {
  readonly name: string
  /** Short and unique: where it is found, and who is measured with it. */
  readonly path: string
  /** Its `api` block. */
  readonly text: (ports: Ports) => string
  /** Files it names. */
  readonly files?: (ports: Ports) => Readonly<Record<string, string>>
  readonly load: (credentials: Credentials) => Load
}

/** What the text of a scenario needs to know. */
export interface Ports {
  readonly port: number
  readonly enginePort: number
  readonly backendPort: number
}

/** What a client of all scenarios has. */
export interface Credentials {
  readonly token: string
}

const subscriptionKey = { "x-api-key": "secret-key" }
const hundredMillion = 100_000_000

const orders = (path: string, statements: string): string => `
api ${path} {
  path "/${path}"
  backend main
  ${statements}
  GET "/{id}" {}
}
`

const read =
  (path: string) =>
  ({ token }: Credentials): Load => ({
    method: "GET",
    paths: [`/${path}/7`],
    headers: { authorization: `Bearer ${token}`, ...subscriptionKey },
  })

const headers = `inbound { header set "X-User-Id" "\${jwt.sub}" }
  outbound { header set "X-Gateway" "edge" }`

/** How many expressions a request of the two scenarios about expressions evaluates: enough to be most of what it costs. */
export const expressionCount = 200

const celExpression = `request.header("X-Kind") == "order" && request.path.size() > 3 ? "a" + path.id : "b"`
const csharpExpression = `context.Request.Headers.GetValueOrDefault("X-Kind", "") == "order" &amp;&amp; context.Request.OriginalUrl.Path.Length > 3 ? "a" + context.Request.MatchedParameters["id"] : "b"`

const expressionLoad = (path: string) => (): Load => ({
  method: "GET",
  paths: [`/${path}/7`],
  headers: { "x-kind": "order" },
})

/** A document of about 10 KB, and the schema it meets. */
const order = {
  status: "draft",
  customer: "ann",
  lines: Array.from({ length: 110 }, (_, index) => ({
    sku: `sku-${index}`,
    name: `A thing with the number ${index}`,
    quantity: index,
    price: 12.5,
  })),
}
const text = { type: "string", minLength: 1, maxLength: 200 }
const orderSchema = {
  type: "object",
  required: ["status", "lines"],
  additionalProperties: false,
  properties: {
    status: { type: "string", enum: ["draft", "placed"] },
    customer: text,
    lines: {
      type: "array",
      maxItems: 1000,
      items: {
        type: "object",
        required: ["sku", "quantity"],
        properties: { sku: text, name: text, quantity: { type: "integer" }, price: { type: "number" } },
      },
    },
  },
}
const description = {
  openapi: "3.0.3",
  info: { title: "Orders", version: "1" },
  paths: {
    "/": {
      post: {
        requestBody: { required: true, content: { "application/json": { schema: orderSchema } } },
        responses: { "200": { description: "Placed." } },
      },
    },
  },
}

const policyDocument = ({ backendPort }: Ports): string => `<policies>
  <inbound>
    <base />
    <validate-jwt header-name="Authorization" failed-validation-httpcode="401">
      <openid-config url="http://127.0.0.1:${backendPort}/.well-known/openid-configuration" />
      <audiences><audience>orders-api</audience></audiences>
      <required-claims><claim name="scope" match="any" separator=" "><value>orders.read</value></claim></required-claims>
    </validate-jwt>
    <rate-limit-by-key calls="${hundredMillion}" renewal-period="60" counter-key="@(context.Request.IpAddress)" />
    <set-header name="X-User-Id" exists-action="override"><value>@(context.Request.Headers.GetValueOrDefault("Authorization", "").Split(' ').Last().AsJwt()?.Subject)</value></set-header>
  </inbound>
  <backend><base /></backend>
  <outbound>
    <base />
    <set-header name="X-Gateway" exists-action="override"><value>edge</value></set-header>
  </outbound>
  <on-error><base /></on-error>
</policies>`

const expressionDocument = `<policies><inbound><base />
${Array.from({ length: expressionCount }, (_, at) => `<set-variable name="v${at}" value="@(${csharpExpression})" />`).join("\n")}
</inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`

/** Everything measured with policies; `plain` is what the others are compared with. */
export const scenarios: readonly Scenario[] = [
  { name: "plain", path: "plain", text: () => orders("plain", "auth none"), load: read("plain") },
  {
    name: "key + limit + headers",
    path: "limited",
    text: () =>
      orders(
        "limited",
        `auth subscription
  limit ${hundredMillion} per 1m by subscription
  inbound { header set "X-User-Id" "\${subscription.name}" }
  outbound { header set "X-Gateway" "edge" }`,
      ),
    load: read("limited"),
  },
  {
    name: "JWT (cached) + limit + headers + relation check",
    path: "guarded",
    text: () =>
      orders(
        "guarded",
        `auth jwt acme { claim scope has "orders.read" }
  limit ${hundredMillion} per 1m by ip
  require viewer of "order:\${path.id}" for "user:\${jwt.sub}"
  ${headers}`,
      ),
    load: read("guarded"),
  },
  {
    name: "the same from an XML document",
    path: "document",
    text: () =>
      orders(
        "document",
        `auth policy
  policy xml "document.xml"
  require viewer of "order:\${path.id}" for "user:ann"`,
      ),
    files: (ports) => ({ "document.xml": policyDocument(ports) }),
    load: read("document"),
  },
  {
    name: "10 KB JSON validated, one field changed",
    path: "json",
    text: () => `
api json {
  path "/json"
  openapi "json.json"
  backend main
  auth none
  validate request
  inbound { body replace "\\"status\\":\\"draft\\"" with "\\"status\\":\\"placed\\"" }
}
`,
    files: () => ({ "json.json": JSON.stringify(description) }),
    load: () => ({
      method: "POST",
      paths: ["/json"],
      headers: { "content-type": "application/json" },
      body: JSON.stringify(order),
    }),
  },
  {
    name: `${expressionCount} expressions in CEL`,
    path: "cel",
    text: () =>
      orders(
        "cel",
        `auth none
  inbound { ${Array.from({ length: expressionCount }, (_, at) => `set v${at} (${celExpression})`).join("; ")} }`,
      ),
    load: expressionLoad("cel"),
  },
  {
    name: `${expressionCount} expressions in C#`,
    path: "csharp",
    text: () => orders("csharp", `auth none\n  policy xml "csharp.xml"`),
    files: () => ({ "csharp.xml": expressionDocument }),
    load: expressionLoad("csharp"),
  },
]

const model = `model
  schema 1.1
type user
type order
  relations
    define viewer: [user]
`

function base({ port, enginePort, backendPort }: Ports): string {
  return `gateway bench { listen 127.0.0.1:${port}; limits { body 2GB } }
authz { listen 127.0.0.1:${enginePort}; store acme { model "orders.fga" } }
secret key = file("key")
issuer acme { discovery "http://127.0.0.1:${backendPort}/.well-known/openid-configuration"; audience orders-api }
backend main { url "http://127.0.0.1:${backendPort}" }
subscription ci { api limited; key key }
api stream { path "/stream"; backend "http://127.0.0.1:${backendPort}/stream"; auth none; timeout none; GET "/"; POST "/" }
`
}

/** The gateway's plan with all scenarios that compile, and why the others don't. */
export function planOfScenarios(ports: Ports): {
  readonly plan: Plan
  readonly measured: ReadonlySet<string>
  readonly skipped: ReadonlyMap<string, string>
} {
  const compiles = scenarios.filter(({ path }) => path !== "limited")
  const limited = scenarios.filter(({ path }) => path === "limited")
  const measured = [...limited]
  const skipped = new Map<string, string>()
  for (const scenario of compiles) {
    const { reason } = compiled([...limited, scenario], ports)
    if (reason === undefined) measured.push(scenario)
    else skipped.set(scenario.path, reason)
  }
  const { plan, reason } = compiled(measured, ports)
  if (plan === undefined) throw new Error(reason)
  return { plan, measured: new Set(measured.map(({ path }) => path)), skipped }
}

/** A gateway with this many routes to one backend, each with a limit and a header of its own. */
export function planOfRoutes(count: number, { port, backendPort }: Omit<Ports, "enginePort">): Plan {
  const operations = Array.from({ length: count }, (_, at) => `GET "${routePath(at)}/{id}"`).join("\n  ")
  const text = `gateway bench { listen 127.0.0.1:${port} }
api routes {
  path "/r"
  backend "http://127.0.0.1:${backendPort}"
  auth none
  limit ${hundredMillion} per 1m by ip
  outbound { header set "X-Gateway" "edge" }
  ${operations}
}
`
  const { plan, reason } = planOrReason(new Map([["gateway.conf", text]]))
  if (plan === undefined) throw new Error(reason)
  return plan
}

const routePath = (at: number): string => `/area${at % 100}/things${at}`

/** Requests to twenty routes, spread over all. */
export function routesLoad(count: number): Load {
  const paths = Array.from({ length: 20 }, (_, at) => `/r${routePath(Math.floor((at * count) / 20))}/7`)
  return { method: "GET", paths, headers: {} }
}

function compiled(which: readonly Scenario[], ports: Ports): Attempt {
  const files = new Map([["orders.fga", model]])
  let text = base(ports)
  for (const scenario of which) {
    text += scenario.text(ports)
    for (const [name, content] of Object.entries(scenario.files?.(ports) ?? {})) files.set(name, content)
  }
  files.set("gateway.conf", text)
  return planOrReason(files)
}

interface Attempt {
  readonly plan: Plan | undefined
  readonly reason: string | undefined
}

function planOrReason(files: ReadonlyMap<string, string>): Attempt {
  const { plan, diagnostics } = compile(new MemoryFiles(files), "gateway.conf")
  if (plan !== undefined) return { plan, reason: undefined }
  const first = diagnostics.find(({ severity }) => severity === "error")
  return { plan, reason: first === undefined ? "no plan" : `${first.code} ${first.title}: ${first.detail}` }
}
