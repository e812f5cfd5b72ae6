import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { type Served, serveDocuments } from "../documents/serving.ts"
import { converted } from "./converted.ts"

const document = `<policies>
  <inbound>
    <base />
    <check-header name="X-Tenant" failed-check-httpcode="401" failed-check-error-message="who?" ignore-case="true"><value>acme</value><value>globex</value></check-header>
    <set-variable name="writes" value="@(context.Request.Method != "GET")" />
    <choose>
      <when condition="@((bool)context.Variables["writes"] && context.Request.Headers.GetValueOrDefault("X-Reason") == null)">
        <return-response>
          <set-status code="400" reason="Why" />
          <set-header name="Content-Type" exists-action="override"><value>application/json</value></set-header>
          <set-body>{"error": "say why",
 "tenant": "{{edge}}"}</set-body>
        </return-response>
      </when>
      <when condition="@(context.Request.OriginalUrl.Query.GetValueOrDefault("mode", "").StartsWith("old"))">
        <rewrite-uri template="/old/{id}" copy-unmatched-params="false" />
        <set-query-parameter name="from" exists-action="override"><value>@(context.Request.IpAddress)</value></set-query-parameter>
      </when>
      <otherwise><set-header name="X-Kind" exists-action="skip"><value>@($"{context.Request.Method} {context.Operation.Method}")</value></set-header></otherwise>
    </choose>
    <set-header name="X-Items" exists-action="append"><value>@(context.Request.Headers.GetValueOrDefault("X-Items", "none"))</value></set-header>
    <set-header name="X-Secret" exists-action="delete" />
    <cache-lookup-value key="@("seen-" + context.Request.MatchedParameters["id"])" variable-name="seen" />
    <choose><when condition="@(context.Variables.ContainsKey("seen"))"><set-header name="X-Seen" exists-action="override"><value>@((string)context.Variables["seen"])</value></set-header></when></choose>
    <cache-store-value key="@("seen-" + context.Request.MatchedParameters["id"])" value="yes" duration="60" />
  </inbound>
  <backend><base /></backend>
  <outbound>
    <base />
    <choose><when condition="@(context.Response.StatusCode == 404)"><set-status code="410" reason="Gone" /><set-body>gone</set-body></when></choose>
    <set-header name="X-Told" exists-action="override"><value>@(context.Response.Headers.GetValueOrDefault("X-Up", "nothing"))</value></set-header>
  </outbound>
  <on-error><base /><set-header name="X-Failed" exists-action="override"><value>@(context.LastError.Reason)</value></set-header></on-error>
</policies>`

/** Method, path, headers, body. */
type Asked = readonly [string, string, Readonly<Record<string, string>>, string?]

const asked: readonly Asked[] = [
  ["GET", "/a/1", {}],
  ["GET", "/a/1", { "X-Tenant": "ACME" }],
  ["GET", "/a/1", { "X-Tenant": "other" }],
  ["GET", "/a/1?x=1", { "X-Tenant": "acme", "X-Items": "a", "X-Secret": "s" }],
  ["GET", "/a/2?mode=older&x=1", { "X-Tenant": "globex" }],
  ["GET", "/a/2?MODE=old&mode=new", { "X-Tenant": "globex", "X-Kind": "mine" }],
  ["POST", "/a/3", { "X-Tenant": "acme" }, "{}"],
  ["POST", "/a/3", { "X-Tenant": "acme", "X-Reason": "" }, "{}"],
  ["POST", "/a/3", { "X-Tenant": "acme", "X-Reason": "so" }, "{}"],
  ["GET", "/a/missing", { "X-Tenant": "acme" }],
  ["GET", "/a/missing", { "X-Tenant": "acme" }],
]

describe("a document and its text answer alike", () => {
  let upstream: Upstream
  const served: Served[] = []

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      const isMissing = request.url?.includes("missing") === true
      response.writeHead(isMissing ? 404 : 200, {
        "content-type": "text/plain",
        ...(isMissing ? {} : { "x-up": "here" }),
      })
      response.end("up")
    })
  })

  afterAll(async () => {
    for (const each of served) await each.close()
    await upstream.close()
  })

  async function serve(policy: string, more: string, files: [string, string][] = []): Promise<Served> {
    const gateway = `gateway g { listen 127.0.0.1:8000; trust none }
backend up { url "${upstream.url}" }
api a { path "/a"; auth none; backend up; ${policy}; GET "/{id}"; POST "/{id}" }
${more}`
    const made = await serveDocuments([["gateway.conf", gateway], ...files], { EDGE: "edge-1" })
    served.push(made)
    return made
  }

  /** What came back, and what the backend was asked. */
  async function answers({ url }: Served): Promise<unknown[]> {
    const seen: unknown[] = []
    for (const [method, path, headers, body] of asked) {
      const before = upstream.requests.length
      const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
      const { status, statusText } = response
      const told = ["content-type", "x-told", "x-failed"].map((name) => response.headers.get(name))
      const text = (await response.text()).trim().replace(/"request_id":"[^"]*"/, "")
      const sent = upstream.requests.slice(before).map((request) => ({
        line: `${request.method} ${request.url}`,
        headers: ["x-kind", "x-items", "x-secret", "x-seen", "x-tenant"].map((name) => request.headers[name]),
        body: request.body,
      }))
      seen.push({ asked: [method, path, headers], status, statusText, told, text, sent })
    }
    return seen
  }

  test("each request", async () => {
    const made = converted("policy.xml", document)
    if (made === undefined) throw new Error("the document can't be read")
    expect(made.losses).toEqual([])
    const asDocument = await serve('policy xml "a.xml"', "value edge = env(EDGE)", [["a.xml", document]])
    const asText = await serve("use orders", made.text)
    const wanted = await answers(asDocument)
    expect(new Set(wanted.map((each) => (each as { status: number }).status))).toEqual(
      new Set([200, 400, 401, 410]),
    )
    expect(await answers(asText)).toEqual(wanted)
  })

  test("a condition that is left to be written: who gets to it is answered 501, who does not goes on", async () => {
    const made = converted(
      "policy.xml",
      document.replace(
        `<when condition="@(context.Request.OriginalUrl.Query`,
        `<when condition="@(DateTime.UtcNow.Hour > 24)"><return-response><set-status code="418" /></return-response></when>
      <when condition="@(context.Request.OriginalUrl.Query`,
      ),
    )
    const { url } = await serve("use orders", made?.text ?? "")
    const before = upstream.requests.length
    const tenant = { "X-Tenant": "acme" }
    const behind = await fetch(`${url}/a/1?mode=old`, { headers: tenant })
    expect(behind.status).toBe(501)
    expect(await behind.text()).toContain("To be written by hand: choose, policy.xml line 15")
    expect((await fetch(`${url}/a/1`, { headers: tenant })).status).toBe(501)
    expect((await fetch(`${url}/a/1`, { method: "POST", headers: tenant, body: "{}" })).status).toBe(400)
    expect(upstream.requests.length).toBe(before)
  })

  test("what is left to be written is answered 501, and the backend is not asked", async () => {
    const made = converted(
      "policy.xml",
      document.replace(
        '<set-header name="X-Secret"',
        '<validate-graphql-request /><set-header name="X-Secret"',
      ),
    )
    const { url } = await serve("use orders", made?.text ?? "")
    const before = upstream.requests.length
    const response = await fetch(`${url}/a/1`, { headers: { "X-Tenant": "acme" } })
    expect(response.status).toBe(501)
    expect(await response.text()).toContain(
      "To be written by hand: validate-graphql-request, policy.xml line 22",
    )
    expect(upstream.requests.length).toBe(before)
    expect((await fetch(`${url}/a/1`)).status).toBe(401)
  })
})
