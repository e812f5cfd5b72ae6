import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { PolicyCertificate, PolicyContext } from "../../../runtime/azure/csharp/ports.ts"
import { toText } from "../../../runtime/azure/csharp/values.ts"
import { fakeContext } from "./fake-context.ts"
import { compile, run } from "./run.ts"

const folder = new URL("../../gateway/certificates/", import.meta.url)
const pem = readFileSync(new URL("good.pem", folder))
const certificate: PolicyCertificate = {
  raw: pem,
  key: readFileSync(new URL("server.key", folder), "utf8"),
  verify: (online) => !online,
}
const parsed = new X509Certificate(pem)

const error = {
  ...{ source: "validate-jwt", reason: "TokenExpired", message: "No.", scope: "api", section: "inbound" },
  ...{ path: "choose[1]/when[1]/validate-jwt[1]", policyId: "the-id" },
}
const fake = fakeContext()
const context: PolicyContext = fakeContext({
  error,
  product: {
    ...{ id: "gold", name: "gold", state: "Published", approvalRequired: true, subscriptionRequired: true },
    ...{ subscriptionLimit: 3, groups: [], apis: [{ id: "orders", name: "orders", path: "v1/orders" }] },
  },
  subscription: {
    ...{ id: "acme", name: "acme", key: "k-1" },
    ...{ createdMs: 0, startMs: 86_400_000, endMs: 172_800_000 },
  },
  user: {
    ...{ id: "ann@example.org", email: "ann@example.org", firstName: "Ann", lastName: undefined },
    ...{ note: undefined, registeredMs: 0, groups: [], identities: [] },
  },
  deployment: { ...fake.deployment, certificates: new Map([["edge", certificate]]) },
  request: { ...fake.request, certificate },
  tracing: false,
})

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const token = `${part({ alg: "RS256", typ: "JWT" })}.${part({
  ...{ jti: "t-1", iss: "https://id.example", sub: "ann", aud: "api", roles: ["a", "b"] },
  ...{ iat: 1_700_000_000, nbf: 1_700_000_060, exp: 4_000_000_000 },
})}.c2ln`
const jwt = (member: string): string => `("Bearer ${token}").AsJwt().${member}`
const other = 'Encoding.UTF8.GetBytes("0123456789abcdef")'

/** Every member the reference of policy expressions names for `context` and its helpers, and what it gives. */
const surface: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  Api: [
    ["context.Api.Id", "orders"],
    ["context.Api.Name", "Orders"],
    ["context.Api.Path", "orders"],
    ['string.Join(",", context.Api.Protocols)', "https"],
    ["context.Api.ServiceUrl == null", "True"],
    ["context.Api.SubscriptionKeyParameterNames.Header", "Ocp-Apim-Subscription-Key"],
    ["context.Api.SubscriptionKeyParameterNames.Query", "subscription-key"],
    ["context.Api.IsCurrentRevision", "True"],
    ["context.Api.Revision", "1"],
    ["context.Api.Version", ""],
  ],
  Deployment: [
    ["context.Deployment.GatewayId", "g"],
    ["context.Deployment.Gateway.Id", "g"],
    ["context.Deployment.Gateway.InstanceId", "host-1"],
    ["context.Deployment.Gateway.IsManaged", "False"],
    ["context.Deployment.Region", "West Europe"],
    ["context.Deployment.ServiceId", "s"],
    ["context.Deployment.ServiceName", "acme"],
    ["context.Deployment.Certificates.Count", "1"],
    ['context.Deployment.Certificates["edge"].Thumbprint', parsed.fingerprint.replaceAll(":", "")],
    [
      "context.Deployment.Certificates.Any(each => each.Value.Thumbprint == context.Request.Certificate.Thumbprint)",
      "True",
    ],
  ],
  LastError: [
    ["context.LastError.Source", "validate-jwt"],
    ["context.LastError.Reason", "TokenExpired"],
    ["context.LastError.Message", "No."],
    ["context.LastError.Scope", "api"],
    ["context.LastError.Section", "inbound"],
    ["context.LastError.Path", "choose[1]/when[1]/validate-jwt[1]"],
    ["context.LastError.PolicyId", "the-id"],
  ],
  Operation: [
    ["context.Operation.Id", "get-order"],
    ["context.Operation.Method", "GET"],
    ["context.Operation.Name", "Get order"],
    ["context.Operation.UrlTemplate", "/orders/{id}"],
  ],
  Product: [
    [
      'string.Join(",", context.Product.Apis.Select(each => each.Id + each.Name + each.Path))',
      "ordersordersv1/orders",
    ],
    ["context.Product.ApprovalRequired", "True"],
    ["context.Product.Groups.Count()", "0"],
    ["context.Product.Id", "gold"],
    ["context.Product.Name", "gold"],
    ["context.Product.State", "Published"],
    ["context.Product.SubscriptionLimit", "3"],
    ["context.Product.SubscriptionRequired", "True"],
  ],
  Request: [
    ['context.Request.Body.As<JObject>(true)["name"]', "ann"],
    ["context.Request.Certificate.HasPrivateKey", "True"],
    ['context.Request.Headers["X-Number"][0]', "42"],
    ["context.Request.IpAddress", "10.1.2.3"],
    ['context.Request.MatchedParameters["id"]', "17"],
    ["context.Request.Method", "GET"],
    ["context.Request.OriginalUrl.Path", "/orders/17"],
    ["context.Request.Url.Scheme", "https"],
    ["context.Request.Url.Host", "api.example.org"],
    ["context.Request.Url.Port", "443"],
    ["context.Request.Url.Path", "/orders/17"],
    ['context.Request.Url.Query["tag"].Length', "2"],
    ["context.Request.Url.QueryString", "?tag=a&tag=b&q=x%20y"],
    ["context.Request.PrivateEndpointConnection == null", "True"],
  ],
  Response: [
    ["context.Response.Body.As<string>(true)", '{"ok":true}'],
    ['context.Response.Headers.GetValueOrDefault("Content-Type")', "application/json"],
    ["context.Response.StatusCode", "200"],
    ["context.Response.StatusReason", "OK"],
  ],
  Subscription: [
    ['context.Subscription.CreatedDate.ToString("o")', "1970-01-01T00:00:00.0000000Z"],
    ['context.Subscription.StartDate?.ToString("yyyy-MM-dd")', "1970-01-02"],
    ['context.Subscription.EndDate?.ToString("yyyy-MM-dd")', "1970-01-03"],
    ["context.Subscription.Id", "acme"],
    ["context.Subscription.Key", "k-1"],
    ["context.Subscription.Name", "acme"],
  ],
  User: [
    ["context.User.Id", "ann@example.org"],
    ["context.User.Email", "ann@example.org"],
    ["context.User.FirstName", "Ann"],
    ["context.User.LastName == null", "True"],
    ["context.User.Note == null", "True"],
    ["context.User.Groups.Count()", "0"],
    ["context.User.Identities.Count()", "0"],
    ['context.User.RegistrationDate.ToString("yyyy")', "1970"],
  ],
  "the rest of context": [
    ["context.Elapsed.TotalMilliseconds", "1500"],
    ["context.RequestId", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ['context.Timestamp.ToString("HH:mm:ss.fff")', "07:08:07.623"],
    ["context.Tracing", "False"],
    ['context.Variables["text"]', "hello"],
  ],
  dictionaries: [
    ['context.Request.Headers.GetValueOrDefault("X-Many")', "one,two"],
    ['context.Request.Headers.GetValueOrDefault("X-None", "no")', "no"],
    ['context.Request.Headers.ContainsKey("x-many")', "True"],
    ['context.Request.Url.Query.GetValueOrDefault("tag")', "a,b"],
    ['context.Request.Url.Query.GetValueOrDefault("none", "no")', "no"],
    ['context.Request.Url.Query.ContainsKey("tag")', "True"],
    ['context.Request.MatchedParameters.GetValueOrDefault("id")', "17"],
    ['context.Request.MatchedParameters.GetValueOrDefault("none", "no")', "no"],
    ['context.Request.MatchedParameters.ContainsKey("none")', "False"],
    ['context.Variables.GetValueOrDefault<int>("count")', "7"],
    ['context.Variables.GetValueOrDefault<string>("none", "no")', "no"],
    ['context.Variables.ContainsKey("count")', "True"],
  ],
  bodies: [
    ['context.Request.Body.As<string>().StartsWith("{")', "True"],
    ["context.Request.Body.As<byte[]>().Length > 100", "True"],
    ['context.Request.Body.As<JObject>()["age"]', "41"],
    ['context.Request.Body.As<JToken>()["age"]', "41"],
    ["context.Request.Body.AsFormUrlEncodedContent() != null", "True"],
    [
      'new Dictionary<string, IList<string>> { { "a", new List<string> { "1", "2 3" } } }.ToFormUrlEncodedContent()',
      "a=1&a=2+3",
    ],
  ],
  credentials: [
    ['context.Request.Headers.GetValueOrDefault("Authorization").AsBasic().UserId', "ann"],
    ['context.Request.Headers.GetValueOrDefault("Authorization").AsBasic().Password', "secret"],
    ['"Basic nonsense".AsBasic() == null', "True"],
    [`"Basic YTpi".TryParseBasic(out var basic) ? basic.Password : "no"`, "b"],
    [`"x".TryParseBasic(out var basic)`, "False"],
    [`"${token}".TryParseJwt(out var jwt) ? jwt.Subject : "no"`, "ann"],
    [`"x.y".TryParseJwt(out var jwt)`, "False"],
    ['"x.y".AsJwt() == null', "True"],
  ],
  Jwt: [
    [jwt("Algorithm"), "RS256"],
    [`string.Join(",", ${jwt("Audiences")})`, "api"],
    [`${jwt('Claims["roles"]')}.Length`, "2"],
    [jwt('Claims.GetValueOrDefault("roles")'), "a,b"],
    [jwt('Claims.GetValueOrDefault("none", "no")'), "no"],
    [jwt('Claims.ContainsKey("roles")'), "True"],
    [`${jwt("ExpirationTime")}?.ToString("yyyy")`, "2096"],
    [jwt("Id"), "t-1"],
    [`${jwt("IssuedAt")}?.ToString("HH:mm:ss")`, "22:13:20"],
    [jwt("Issuer"), "https://id.example"],
    [`${jwt("NotBefore")}?.ToString("HH:mm:ss")`, "22:14:20"],
    [jwt("Subject"), "ann"],
    [jwt("Type"), "JWT"],
  ],
  ciphers: [
    [
      `Encoding.UTF8.GetString(Encoding.UTF8.GetBytes("x").Encrypt("Aes", ${other}, ${other}).Decrypt("Aes", ${other}, ${other}))`,
      "x",
    ],
    [`Convert.ToBase64String(Encoding.UTF8.GetBytes("x").Encrypt("Aes", ${other}, ${other})).Length`, "24"],
  ],
  X509Certificate2: [
    ["context.Request.Certificate.Thumbprint", parsed.fingerprint.replaceAll(":", "")],
    ["context.Request.Certificate.SerialNumber", parsed.serialNumber],
    ["context.Request.Certificate.Subject.Length > 0", "True"],
    ["context.Request.Certificate.Issuer.Length > 0", "True"],
    ["context.Request.Certificate.SubjectName.Name == context.Request.Certificate.Subject", "True"],
    ["context.Request.Certificate.IssuerName.Name == context.Request.Certificate.Issuer", "True"],
    ["context.Request.Certificate.FriendlyName", ""],
    ["context.Request.Certificate.NotBefore < context.Request.Certificate.NotAfter", "True"],
    ["context.Request.Certificate.RawData.Length", String(parsed.raw.length)],
    ["context.Request.Certificate.Version", "3"],
    ["context.Request.Certificate.GetCertHashString()", parsed.fingerprint.replaceAll(":", "")],
    ["context.Request.Certificate.GetRSAPublicKey() == null", "True"],
    ["context.Request.Certificate.Verify()", "False"],
    ["context.Request.Certificate.VerifyNoRevocation()", "True"],
    ["context.Request.Certificate.GetRSAPrivateKey() == null", "True"],
  ],
}

describe.each(Object.entries(surface))("%s", (_, rows) => {
  test.each(rows)("%s", (source, expected) => {
    expect(toText(run(`@(${source})`, context))).toBe(expected)
  })
})

test.each(["PrimaryKey", "SecondaryKey"])(
  "context.Subscription.%s is refused by name, with the reason",
  (name) => {
    const compiled = compile(`@(context.Subscription.${name})`)
    expect("findings" in compiled && compiled.findings).toEqual([
      expect.objectContaining({
        message: `\`ISubscription\` has no member \`${name}\``,
        help: expect.stringMatching(/stored keys are digests/),
      }),
    ])
  },
)

test.each([
  ["context.User.Id", "NullReferenceException"],
  ["context.User.Email.Length", "NullReferenceException"],
  ["context.Product.Name", "NullReferenceException"],
  ["context.LastError.Source", "NullReferenceException"],
])("where there is none, %s has no value", (source, reason) => {
  const none = fakeContext()
  expect(() => run(`@(${source})`, none)).toThrow(expect.objectContaining({ reason }))
  expect(run(`@(${source.replace(/^context\.\w+/, "$&?").replace(".Length", "?.Length")})`, none)).toBeNull()
})

test("what is known of a user may be less than all: that is null", () => {
  const unknown = fakeContext({
    user: {
      ...{ id: "acme", email: undefined, firstName: undefined, lastName: undefined, note: undefined },
      ...{ registeredMs: undefined, groups: [], identities: [] },
    },
  })
  expect(run('@(context.User.Id + (context.User.Email ?? "-") + context.User?.FirstName)', unknown)).toBe(
    "acme-",
  )
})
