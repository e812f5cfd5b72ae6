import { expect, test } from "vitest"
import { csharpContext } from "../../../runtime/azure/context.ts"
import type { Exchange } from "../../../runtime/policies/exchange.ts"
import { HeaderList } from "../../../runtime/policies/messages/header-list.ts"
import { QueryString } from "../../../runtime/policies/messages/query-string.ts"
import { run } from "./run.ts"

const route = {
  plan: {
    api: "orders",
    version: null,
    operation: "get-order",
    method: "GET",
    path: "/orders/{id}",
    stripPrefix: "",
  },
  backendUrl: "https://orders.internal:8443/v1",
}

function exchange(more: object = {}): Exchange {
  const stored = {
    status: 201,
    reason: "Created",
    headers: new HeaderList(["x-a", "1"]),
    body: Buffer.from('{"token":"t"}'),
  }
  const known: Partial<Exchange> = {
    id: "0f8fad5b-d9cb-469f-a165-70867728950e",
    method: "POST",
    path: "/orders/17",
    ip: "10.0.0.1",
    scheme: "http",
    authority: "api.example.org:8080",
    startedAtMs: 0,
    parameters: { id: "17" },
    headers: new HeaderList(["accept", "text/plain", "accept", "text/html"]),
    query: new QueryString("a=1&a=2"),
    originalQuery: "a=0",
    backendQuery: "",
    sentMethod: undefined,
    rewritten: "/v2/orders/17",
    subscriber: { name: "acme", product: undefined, api: "orders" },
    subscriptionKey: "k1",
    facts: {
      product: () => undefined,
      keyPlaces: () => ({ header: undefined, query: undefined }),
      headersRead: new Set<string>(),
      everyCredentialPlace: { headers: new Set<string>(), queries: [] },
      credentialPlaces: () => ({ headers: new Set<string>(), queries: [] }),
      certificates: new Map(),
    },
    variables: new Map<string, unknown>([["sent", stored]]),
    response: undefined,
    error: undefined,
  }
  return { ...known, ...more } as Exchange
}

const around = { trace: () => undefined, namedValue: () => "" }

test.each([
  ['context.Request.Headers.GetValueOrDefault("Accept")', "text/plain,text/html"],
  ["context.Request.Url.Path + context.Request.OriginalUrl.Path", "/v2/orders/17/orders/17"],
  ["context.Request.OriginalUrl.ToString()", "http://api.example.org:8080/orders/17?a=0"],
  ['context.Request.Url.Query.GetValueOrDefault("a") + context.Request.MatchedParameters["id"]', "1,217"],
  ['((IResponse)context.Variables["sent"]).Body.As<JObject>()["token"].ToString()', "t"],
  [
    '((IResponse)context.Variables["sent"]).Headers.GetValueOrDefault("X-A") + ((IResponse)context.Variables["sent"]).StatusCode',
    "1201",
  ],
  ["context.Subscription.Key", "k1"],
  ["context.Subscription.Id + context.Request.Method + context.Request.IpAddress", "acmePOST10.0.0.1"],
  ["context.Response == null && context.LastError == null && context.User == null", true],
])("%s", (source, expected) => {
  expect(run(`@(${source})`, csharpContext(exchange(), around))).toBe(expected)
})

test.each([
  ["context.Api.ServiceUrl.ToString() + context.Api.ServiceUrl.Port", "https://orders.internal:8443/v18443"],
  ["context.Request.Url.Scheme + context.Request.Url.Host + context.Request.Url.Port", "httpsb.internal443"],
  ["context.Request.OriginalUrl.Host + context.Request.OriginalUrl.Port", "api.example.org8080"],
  ["context.Request.Url.ToString()", "https://b.internal/base/v2/orders/17?a=1&a=2"],
  ['context.Request.Url.Query["A"].Length + context.Request.Url.Query.Count', 3],
  [
    'string.Join("|", context.Request.Headers.Select(h => h.Key + "=" + string.Join("+", h.Value)))',
    "Host=api.example.org:8080|Accept=text/plain+text/html",
  ],
  ['context.Request.MatchedParameters.GetValueOrDefault("ID", "none")', "17"],
  ['context.Request.MatchedParameters.ContainsKey("x") || context.Request.Headers.ContainsKey("x")', false],
])("after a backend was chosen: %s", (source, expected) => {
  const chosen = { backend: { name: "b", url: "https://b.internal/base" }, route }
  expect(run(`@(${source})`, csharpContext(exchange(chosen), around))).toBe(expected)
})

test.each([
  ["nothing rewritten", {}, "https://orders.internal:8443/v1/17?a=1&a=2"],
  ["a path", { rewritten: "/x" }, "https://orders.internal:8443/v1/x?a=1&a=2"],
  ["the API's own path", { path: "/orders" }, "https://orders.internal:8443/v1?a=1&a=2"],
  ["another backend", { backend: { name: "b", url: "http://b.internal/" } }, "http://b.internal/17?a=1&a=2"],
])("context.Request.Url is what the backend is asked: %s", (_, more, expected) => {
  const known = { route: { ...route, plan: { ...route.plan, stripPrefix: "/orders" } }, rewritten: undefined }
  const found = run(
    "@(context.Request.Url.ToString())",
    csharpContext(exchange({ ...known, ...more }), around),
  )
  expect(found).toBe(expected)
})

test("without a route there is no backend: context.Request.Url is what the client asked for", () => {
  const found = run(
    "@(context.Request.Url.ToString())",
    csharpContext(exchange({ route: undefined, rewritten: undefined }), around),
  )
  expect(found).toBe("http://api.example.org:8080/orders/17?a=1&a=2")
})
