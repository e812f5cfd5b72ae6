import { afterAll, beforeAll, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { IssuerServer, type TestKey, testKey } from "../../identity/issuer-server.ts"
import { type Served, serveDocuments } from "./serving.ts"

let one: { issuer: IssuerServer; key: TestKey }
let two: { issuer: IssuerServer; key: TestKey }
let backend: Upstream
let served: Served

async function issuerOf(name: string): Promise<{ issuer: IssuerServer; key: TestKey }> {
  const key = await testKey(name)
  return { issuer: await new IssuerServer([key]).start(), key }
}

beforeAll(async () => {
  one = await issuerOf("one")
  two = await issuerOf("two")
  backend = await startUpstream()
  served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; errors apim }
backend b { url "${backend.url}" }
issuer one { discovery "${one.issuer.url}"; audience "api" }
issuer two { discovery "${two.issuer.url}/.well-known/openid-configuration"; audience "api" }
api a { path "/a"; backend b; auth policy; policy xml "doc.xml"; GET "/" {} }`,
    ],
    [
      "doc.xml",
      `<policies><inbound>
        <set-variable name="tenant" value="@(context.Request.Headers.GetValueOrDefault("X-Tenant", ""))" />
        <validate-jwt header-name="Authorization">
          <openid-config url="@((string)context.Variables["tenant"] + "/.well-known/openid-configuration")" />
        </validate-jwt>
      </inbound></policies>`,
    ],
  ])
})

afterAll(async () => {
  await served.close()
  await backend.close()
  await one.issuer.stop()
  await two.issuer.stop()
})

async function ask(tenant: string, from: typeof one): Promise<number> {
  const token = await from.issuer.token(from.key, { aud: "api", sub: "ann", exp: 4_000_000_000 })
  const headers = { authorization: `Bearer ${token}`, "x-tenant": tenant }
  return (await fetch(`${served.url}/a`, { headers })).status
}

test("only tokens of the issuer that the address names count, and only declared issuers may be named", async () => {
  expect(await ask(one.issuer.url, one)).toBe(200)
  expect(await ask(two.issuer.url, two)).toBe(200)
  expect(await ask(one.issuer.url, two)).toBe(401)
  expect(await ask(two.issuer.url, one)).toBe(401)
  expect(await ask("", one)).toBe(401)
  expect(await ask("https://evil.example", one)).toBe(401)
})
