import { hash, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { IssuedKeys, Subscriber } from "../../../runtime/identity/keys.ts"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { type Served, serveDocuments } from "./serving.ts"

const issued: Readonly<Record<string, Subscriber>> = {
  "of-ann": {
    ...{ name: "s-ann", product: "gold", api: undefined, owner: "ann@example.org" },
    ...{ sinceMs: Date.UTC(2026, 0, 2), untilMs: Date.UTC(2027, 0, 2) },
  },
  "of-team": { name: "s-team", product: "silver", api: undefined, owner: "team" },
  "of-nobody": { name: "s-nobody", product: undefined, api: "a" },
}
const table: IssuedKeys = {
  complete: true,
  find: (wanted) => {
    for (const [key, owner] of Object.entries(issued)) {
      if (hash("sha256", key, "binary") === wanted) return owner
    }
    return undefined
  },
}

const facts: Readonly<Record<string, string>> = {
  api: 'string.Join("|", context.Api.Id, context.Api.Name, context.Api.Path, context.Api.Version, context.Api.Revision, context.Api.IsCurrentRevision, string.Join(",", context.Api.Protocols), context.Api.ServiceUrl.Port > 0, context.Api.SubscriptionKeyParameterNames.Header, context.Api.SubscriptionKeyParameterNames.Query)',
  operation:
    'string.Join("|", context.Operation.Id, context.Operation.Name, context.Operation.Method, context.Operation.UrlTemplate)',
  product:
    'context.Product == null ? "none" : string.Join("|", context.Product.Id, context.Product.Name, context.Product.State, context.Product.ApprovalRequired, context.Product.SubscriptionRequired, context.Product.SubscriptionLimit, context.Product.Groups.Count(), string.Join(",", context.Product.Apis.Select(each => each.Name + "=" + each.Path)))',
  subscription:
    'context.Subscription == null ? "none" : string.Join("|", context.Subscription.Id, context.Subscription.Name, context.Subscription.Key, context.Subscription.StartDate?.ToString("yyyy-MM-dd"), context.Subscription.EndDate?.ToString("yyyy-MM-dd"))',
  user: 'context.User == null ? "none" : string.Join("|", context.User.Id, context.User.Email, context.User.FirstName, context.User.LastName, context.User.Note, context.User.Groups.Count(), context.User.Identities.Count())',
  safe: 'context.User?.Id ?? "nobody"',
  deployment:
    'string.Join("|", context.Deployment.ServiceId, context.Deployment.ServiceName, context.Deployment.GatewayId, context.Deployment.Region, context.Deployment.Certificates.Count, context.Deployment.Certificates["edge"].Thumbprint, context.Deployment.Certificates["edge"].HasPrivateKey, context.Deployment.Certificates["edge"].VerifyNoRevocation(), context.Deployment.Certificates["edge"].Verify())',
}
const document = `<policies><inbound><base />
  <choose><when condition="@(context.Request.Headers.ContainsKey("X-Email"))"><set-variable name="email" value="@(context.User.Email)" /></when></choose>
  <return-response>${Object.entries(facts)
    .map(([name, code]) => `<set-header name="X-${name}"><value>@(${code})</value></set-header>`)
    .join("\n")}</return-response>
</inbound></policies>`

let upstream: Upstream
let served: Served

beforeAll(async () => {
  upstream = await startUpstream()
  const conf = `gateway shop { listen 127.0.0.1:8000; errors apim }
backend b { url "${upstream.url}" }
secret k = env(KEY)
certificate edge { cert file("good.pem"); key file("server.key") }
product gold { apis a other; approval required; subscriptions 5 per owner }
product silver { apis a; unpublished }
product free { apis open; open }
subscription declared { product gold; key k }
api a { path "/a"; backend b; auth subscription { header "X-Key"; query "key" }; policy xml "doc.xml"; GET "/{id}" {}; ANY "/" {} }
api other { path "/more/other"; backend b; auth none; policy xml "doc.xml"; version v2 { GET "/" {} } }
api open { path "/open"; backend b; auth subscription; policy xml "doc.xml"; GET "/" {} }`
  served = await serveDocuments(
    [
      ["gateway.conf", conf],
      ["doc.xml", document],
    ],
    { KEY: "k-1" },
    table,
  )
})

afterAll(async () => {
  await served.close()
  await upstream.close()
})

async function ask(
  path: string,
  headers: Record<string, string> = {},
): Promise<Record<string, string | null>> {
  const response = await fetch(`${served.url}${path}`, { headers })
  const told = Object.keys(facts).map((name) => [name, response.headers.get(`x-${name}`)])
  return { ...Object.fromEntries(told), status: String(response.status) }
}

const thumbprint = new X509Certificate(
  readFileSync(new URL("../../gateway/certificates/good.pem", import.meta.url)),
).fingerprint.replaceAll(":", "")

test("an issued subscription with an owner", async () => {
  expect(await ask("/a/7", { "x-key": "of-ann" })).toEqual({
    status: "200",
    api: "a|a|/a||1|True|http|True|x-key|key",
    operation: "GET /{id}|GET /{id}|GET|/{id}",
    product: "gold|gold|Published|True|True|5|0|a=/a,other=/v2/more/other",
    subscription: "s-ann|s-ann|of-ann|2026-01-02|2027-01-02",
    user: "ann@example.org|ann@example.org||||0|0",
    safe: "ann@example.org",
    deployment: `shop|shop|shop||1|${thumbprint}|True|False|False`,
  })
})

test("an owner that is not an address has none; an unpublished product says so", async () => {
  expect(await ask("/a/7", { "x-key": "of-team" })).toMatchObject({
    product: "silver|silver|NotPublished|False|True||0|a=/a",
    subscription: "s-team|s-team|of-team||",
    user: "team|||||0|0",
  })
})

test("without owner there is no user, and without subscription neither", async () => {
  const nobody = await ask("/a/7", { "x-key": "of-nobody" })
  expect(nobody).toMatchObject({ product: "none", user: "none", safe: "nobody" })
  expect(await ask("/a", { "x-key": "k-1" })).toMatchObject({
    operation: "ANY /|ANY /|*|/",
    product: expect.stringMatching(/^gold\|/),
    subscription: "declared|declared|k-1||",
    user: "none",
  })
  expect(await ask("/v2/more/other")).toMatchObject({
    api: "other|other|/v2/more/other|v2|1|True|http|True||",
    product: "none",
    subscription: "none",
    user: "none",
  })
})

test("a call of an open product without a key", async () => {
  expect(await ask("/open")).toMatchObject({
    product: "free|free|Published|False|False||0|open=/open",
    subscription: "none",
  })
})

test("what is asked of a user that is not there fails as an expression", async () => {
  const count = served.log.length
  const refused = await ask("/a/7", { "x-key": "of-nobody", "x-email": "1" })
  expect(refused).toMatchObject({ status: "500", user: null })
  expect(served.log[count]).toMatchObject({
    reason: "ExpressionValueEvaluationFailure",
    cause: expect.stringMatching(/^doc\.xml:2:\d+: policy expression: NullReferenceException: /),
  })
  expect((await ask("/a/7", { "x-key": "of-ann", "x-email": "1" })).status).toBe("200")
})
