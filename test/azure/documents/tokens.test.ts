import { afterAll, beforeAll, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { IssuerServer, type TestKey, testKey } from "../../identity/issuer-server.ts"
import { type Served, serveDocuments } from "./serving.ts"

/** All members of a `Jwt`, of the token that was verified. */
const members = `@{
  var token = (Jwt)context.Variables["token"];
  return string.Join("|", token.Algorithm, token.Type, token.Id, token.Issuer, token.Subject,
    string.Join("+", token.Audiences), token.IssuedAt, token.NotBefore, token.ExpirationTime,
    token.Claims["roles"][1], token.Claims.GetValueOrDefault("roles"), token.Claims.GetValueOrDefault("level", "-"),
    token.Claims.ContainsKey("none"), token.Claims.GetValueOrDefault("none", "-"), token.ToString() == context.Variables["sent"].ToString());
}`

const document = (guard: string): string => `<policies><inbound>
  <set-variable name="sent" value="@(context.Request.Headers.GetValueOrDefault("Authorization","").Replace("Bearer ", ""))" />
  ${guard}
  <set-variable name="copy" value="@((Jwt)context.Variables["token"])" />
  <return-response>
    <set-header name="X-Subject"><value>@(((Jwt)context.Variables["copy"]).Subject + context.Variables.GetValueOrDefault<Jwt>("token").Subject)</value></set-header>
    <set-header name="X-Is"><value>@((context.Variables["token"] is Jwt) + " " + (context.Variables["sent"] is Jwt))</value></set-header>
    <set-body>${members}</set-body>
  </return-response>
</inbound></policies>`

const claims = {
  ...{ jti: "t-1", sub: "ann", aud: ["api", "other"], roles: ["reader", "writer"], level: 3 },
  ...{ iat: 1_700_000_000, nbf: 1_700_000_060, exp: 4_000_000_000 },
}
const told = (header: string, issuer: string): string =>
  `${header}|t-1|${issuer}|ann|api+other|11/14/2023 22:13:20|11/14/2023 22:14:20|10/02/2096 07:06:40|writer|reader,writer|3|False|-|True`

let issuer: IssuerServer
let key: TestKey
let endpoint: Upstream
let served: Served

beforeAll(async () => {
  key = await testKey("one")
  issuer = await new IssuerServer([key]).start()
  endpoint = await startUpstream((_request, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ active: true, iss: "https://opaque.example", ...claims }))
  })
  const conf = `gateway g { listen 127.0.0.1:8000; errors apim }
secret s = env(SECRET)
backend b { url "${endpoint.url}" }
issuer acme { discovery "${issuer.url}"; audience "api" }
introspection opaque { url "${endpoint.url}/introspect"; client "gw" secret s }
api jwt { path "/jwt"; backend b; auth policy; GET "/" { policy xml "jwt.xml" } }
api opaque { path "/opaque"; backend b; auth introspection opaque { output token }; GET "/" { policy xml "other.xml" } }
api native { path "/native"; backend b; auth jwt acme { output token }; GET "/" { policy xml "other.xml" } }
api cel { path "/cel"; backend b; auth jwt acme { output token }; GET "/" { inbound { respond 200 { body text "\${var.token.header.alg} \${var.token.claims.sub}" } } } }`
  const validate = `<validate-jwt header-name="Authorization" output-token-variable-name="token"><openid-config url="${issuer.url}/.well-known/openid-configuration" /><audiences><audience>api</audience></audiences></validate-jwt>`
  served = await serveDocuments(
    [
      ["gateway.conf", conf],
      ["jwt.xml", document(validate)],
      ["other.xml", document("")],
    ],
    { SECRET: "s" },
  )
})

afterAll(async () => {
  await served.close()
  await endpoint.close()
  await issuer.stop()
})

async function ask(path: string, token: string): Promise<Response> {
  return fetch(`${served.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
}

test.each(["/jwt", "/native"])(
  "%s: the variable of a verified token is a Jwt with all its members",
  async (path) => {
    const response = await ask(path, await issuer.token(key, claims, { typ: "at+jwt" }))
    expect([response.status, await response.text()]).toEqual([200, told("RS256|at+jwt", issuer.url)])
    expect([response.headers.get("x-subject"), response.headers.get("x-is")]).toEqual([
      "annann",
      "True False",
    ])
  },
)

test("an opaque token has what its endpoint says, and no algorithm or type", async () => {
  const response = await ask("/opaque", "o-1")
  expect([response.status, await response.text()]).toEqual([200, told("|", "https://opaque.example")])
})

test("native expressions read header and claims of the same variable", async () => {
  const response = await ask("/cel", await issuer.token(key, claims))
  expect(await response.text()).toBe("RS256 ann")
})

test("what an openid-config is at says whose tokens count, also where it names another issuer", async () => {
  const entra = await new IssuerServer([key]).start()
  const iss = "https://sts.windows.net/7b1f/"
  entra.discovery = (_, response) =>
    void response.end(JSON.stringify({ issuer: iss, jwks_uri: `${entra.url}/jwks` }))
  const inbound = `<inbound><validate-jwt header-name="Authorization"><openid-config url="${entra.url}/7b1f/.well-known/openid-configuration" /></validate-jwt></inbound>`
  const other = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; errors apim }\napi a { path "/a"; backend "${endpoint.url}"; auth policy; GET "/" { policy xml "jwt.xml" } }`,
    ],
    ["jwt.xml", `<policies>${inbound}</policies>`],
  ])
  try {
    const statuses = [iss, entra.url, "https://sts.windows.net/other/"].map(async (each) => {
      const authorization = `Bearer ${await entra.token(key, { iss: each })}`
      return (await fetch(`${other.url}/a`, { headers: { authorization } })).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 401, 401])
  } finally {
    await other.close()
    await entra.stop()
  }
})

test("a token that is not valid leaves nothing", async () => {
  const response = await ask("/jwt", await issuer.token(key, { ...claims, aud: "else" }))
  expect([response.status, response.headers.get("x-subject")]).toEqual([401, null])
})
