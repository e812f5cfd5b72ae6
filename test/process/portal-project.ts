import { MemoryFiles } from "../../compiler/core/files.ts"
import { startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import { compile } from "../compile.ts"
import { Browser, type Page } from "../gateway/browser.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { author, freePorts, start } from "./project.ts"

/** A document with a schema that refers to itself, and schemas and a login that no operation uses. */
const document = (more = "") => `openapi: 3.1.0
info: { title: Orders, version: "1", description: Orders of customers. }
paths:
  /: { get: { operationId: listOrders, summary: List orders, responses: { "200": { description: ok } } } }
  /{id}:
    get:
      operationId: getOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: integer }, example: 7 }]
      responses:
        "200": { description: ok, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
    put:
      operationId: putOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: integer }, example: 7 }]
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
      responses: { "200": { description: ok } }
${more}
components:
  schemas:
    Order: { type: object, properties: { note: { type: string, example: "it's" }, parent: { $ref: "#/components/schemas/Order" } } }
    Unused: { type: string }
    Card: { type: object, required: [kind], properties: { kind: { const: card } } }
    Nested: { type: array, items: { $ref: "#/components/schemas/Nested" } }
  securitySchemes:
    login: { type: openIdConnect, openIdConnectUrl: "https://id.example/.well-known/openid-configuration" }
`

/** What the portal must never show. */
export const canaries = [
  "canarybackend",
  "canarypolicy",
  "canarysecret",
  "canaryhidden",
  "canaryheader",
  "canarystaff",
]

/** The text of the project. `portal`: further statements of the portal. */
export function portalText(
  ports: { readonly gateway: number; readonly portal: number },
  issuer: string,
  portal = "",
): string {
  return `
gateway test { listen 127.0.0.1:${ports.gateway} }
secret web_secret = env(WEB_SECRET)
secret session_key = env(SESSION_KEY)
secret canarysecret = env(CANARY)
issuer acme { discovery "${issuer}"; audience orders-api }
oidc login { issuer acme; client "web" secret web_secret; session-keys session_key }
backend canarybackend { url "http://127.0.0.1:9"; authenticate basic "canaryuser" canarysecret }
policy canarypolicy { inbound { header set "X-Canaryheader" "1" } }
api orders {
  path "/orders"
  version v1 { deprecated 2026-01-31; sunset 2099-06-30; successor v2; GET "/" }
  version v2 { openapi "orders.yaml" }
  auth subscription
  limit 3 per 1h by subscription
  use canarypolicy
  inbound { respond 200 { body text "order" } }
}
api canaryhidden { path "/canaryhidden"; auth none; backend canarybackend; GET "/canarystaff" }
product open { apis orders; subscriptions 2 per owner; quota 1000 calls per 30d by subscription; price 0.002 EUR per call }
product checked { apis orders canaryhidden; approval required }
product canarystaff { apis orders canaryhidden }
portal {
  listen 127.0.0.1:${ports.portal}
  apis orders
  title "Acme for developers"
  logo "logo.svg"; style "own.css"; texts "texts.json"; pages "pages/*.md"
  ${portal}
}`
}

/** A running process with a portal, a database and an identity provider. `stops` gets what must be closed, the last one first. */
export async function startPortal(stops: (() => Promise<unknown>)[], portal = "auth oidc login") {
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
  stops.push(() => provider.close())
  const { url: database, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = { ...(await freePorts()), portal: await freePort() }
  const env = {
    WEB_SECRET: "web-secret",
    SESSION_KEY: "0123456789abcdef0123456789abcdef",
    CANARY: "canarysecret",
  }
  const runtime = await start(database, ports, { env })
  stops.push(() => runtime.close())
  const apply = async (more: string, paths = "") => {
    const text = portalText(ports, `${provider.issuer}/.well-known/openid-configuration`, more)
    const applied = await runtime.apply(planOf(text, paths), author)
    if (applied.kind !== "done") throw new Error(JSON.stringify(applied))
  }
  await apply(portal)
  const url = `http://127.0.0.1:${ports.portal}`
  return { provider, runtime, ports, url, apply, database }
}

function planOf(text: string, paths: string) {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["orders.yaml", document(paths)],
    ["logo.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["own.css", ":root { --accent: light-dark(#060, #6d9) }"],
    ["texts.json", '{ "nav.apis": "Our APIs" }'],
    ["pages/Start.md", "# Getting started\n\nHello.\n"],
  ])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return plan
}

/** A browser at the portal. */
export class PortalBrowser {
  readonly browser = new Browser()
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Logs in at the provider, by its form. */
  async signIn(user: string): Promise<void> {
    const begun = await this.browser.visit(`${this.#url}/oauth2/login?return_to=/subscriptions`)
    const form = new URLSearchParams({ username: user, password: user }).toString()
    const type = { "content-type": "application/x-www-form-urlencoded" }
    const back = await this.browser.send("POST", begun.headers.location ?? "", type, form)
    const done = await this.browser.visit(back.headers.location ?? "")
    if (done.headers.location !== "/subscriptions") throw new Error(`${done.status} ${done.body}`)
  }

  async get(path: string) {
    const page = await this.browser.fetch(this.#url + path)
    return { ...page, ...readJson(page) }
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const own = { "content-type": "application/json", origin: this.#url, "sec-fetch-site": "same-origin" }
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const page = await this.browser.send("POST", this.#url + path, { ...own, ...headers }, text)
    return { ...page, ...readJson(page) }
  }
}

/** The body, and the name of a problem. */
function readJson({ headers, body }: Page) {
  const json = headers["content-type"]?.includes("json") === true ? JSON.parse(body) : undefined
  const problem = /^urn:sallyport:portal:(.+)$/.exec(json?.type ?? "")?.[1]
  return { json, problem }
}
