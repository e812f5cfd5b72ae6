import { afterEach, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../../gateway/harness.ts"
import { type Served, serveDocuments } from "./serving.ts"

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A gateway with one document before a backend. */
async function serve(
  inside: string,
  { answer, more = "", api = "" }: { answer?: Answering; more?: string; api?: string } = {},
): Promise<{
  upstream: Upstream
  served: Served
  post: (body?: string) => Promise<[number, string, Headers]>
}> {
  const upstream = await startUpstream(answer)
  open.push(upstream)
  const conf = `gateway g { listen 127.0.0.1:8000; errors apim }
backend b { url "${upstream.url}" }
${more.replaceAll("UPSTREAM", upstream.url)}
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; ${api} ANY "/{order_id}" {} }`
  const served = await serveDocuments(
    [
      ["gateway.conf", conf],
      ["doc.xml", `<policies>${inside.replaceAll("UPSTREAM", upstream.url)}</policies>`],
    ],
    { SECRET: "s" },
  )
  open.push(served)
  const post = async (body = "{}"): Promise<[number, string, Headers]> => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${served.url}/a/7`, { method: "POST", headers, body })
    return [response.status, await response.text(), response.headers]
  }
  return { upstream, served, post }
}

/** Answers in the order of calls; the last one goes on. */
function inTurn(...statuses: number[]): Answering {
  let at = 0
  return (request, response) => {
    request.resume()
    request.on("end", () => {
      const status = statuses[Math.min(at, statuses.length - 1)] as number
      at += 1
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify({ access_token: `t${at}`, token_type: "Bearer", expires_in: 3600 }))
    })
  }
}

test("a list of backends is kept in the cache with its times, and the next one is tried", async () => {
  const { post, upstream } = await serve(
    `<inbound>
      <cache-lookup-value key="list" variable-name="list" />
      <choose><when condition="@(!context.Variables.ContainsKey("list"))">
        <set-variable name="list" value="@{
          var list = new JArray();
          foreach (var name in new[] { "one", "two" })
            list.Add(new JObject() { { "name", name }, { "busy", false }, { "until", DateTime.MinValue } });
          return list;
        }" />
        <cache-store-value key="list" value="@((JArray)context.Variables["list"])" duration="60" />
      </when></choose>
    </inbound>
    <backend>
      <retry condition="@(context.Response.StatusCode == 429)" count="3" interval="0">
        <choose><when condition="@(context.Response.StatusCode == 429)">
          <set-variable name="list" value="@{
            var list = (JArray)context.Variables["list"];
            list[0]["busy"] = true;
            list[0]["until"] = DateTime.UtcNow.AddSeconds(30);
            return list;
          }" />
          <cache-store-value key="list" value="@((JArray)context.Variables["list"])" duration="60" />
        </when></choose>
        <set-backend-service backend-id="@(((JArray)context.Variables["list"]).First(each => !each.Value<bool>("busy"))["name"].ToString())" />
        <forward-request buffer-request-body="true" />
      </retry>
    </backend>
    <outbound><set-header name="X-Busy" exists-action="override"><value>@{
      var list = (JArray)context.Variables["list"];
      return list[0].Value<bool>("busy") + " " + (list[0].Value<DateTime>("until") > DateTime.UtcNow);
    }</value></set-header></outbound>`,
    {
      answer: inTurn(429, 200),
      more: 'backend one { url "UPSTREAM/one" }\nbackend two { url "UPSTREAM/two" }',
    },
  )
  const [status, , headers] = await post('{"n":1}')
  expect([status, headers.get("x-busy")]).toEqual([200, "True True"])
  expect(upstream.requests.map(({ url, body }) => [url, body])).toEqual([
    ["/one/7", '{"n":1}'],
    ["/two/7", '{"n":1}'],
  ])
  const [, , again] = await post()
  expect([again.get("x-busy"), upstream.requests.at(-1)?.url]).toEqual(["True True", "/two/7"])
})

test("a document's managed identity is a token client of gateway.conf", async () => {
  const { post, upstream } = await serve(
    `<inbound>
      <authentication-managed-identity resource="https://storage.example/" output-token-variable-name="t" ignore-error="false" />
      <set-header name="Authorization" exists-action="override"><value>@("Bearer " + (string)context.Variables["t"])</value></set-header>
      <set-header name="X-Order" exists-action="override"><value>@(context.Request.MatchedParameters["order-id"])</value></set-header>
    </inbound>`,
    {
      answer: inTurn(200),
      more: `secret s = env(SECRET)
token storage { url "UPSTREAM/token"; client "gw" secret s }
xml { identity "https://storage.example/" storage }`,
    },
  )
  expect((await post())[0]).toBe(200)
  await post()
  expect(upstream.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ["/token", expect.anything()],
    ["/7", "Bearer t1"],
    ["/7", "Bearer t1"],
  ])
  expect(upstream.requests[1]?.headers["x-order"]).toBe("7")
})

test("on-error sees the answer that is about to be sent, and may send its own", async () => {
  const { post, upstream } = await serve(
    `<inbound><validate-jwt header-name="Authorization"><openid-config url="UPSTREAM/c" /></validate-jwt></inbound>
    <on-error><base />
      <choose><when condition="@(context.Response.StatusCode == 401)">
        <return-response>
          <set-status code="401" reason="Who are you" />
          <set-header name="WWW-Authenticate" exists-action="override"><value>@($"Bearer reason=\\"{context.LastError.Reason}\\"")</value></set-header>
        </return-response>
      </when></choose>
    </on-error>`,
  )
  const [status, body, headers] = await post()
  expect([status, body, headers.get("www-authenticate")]).toEqual([
    401,
    "",
    'Bearer reason="TokenNotPresent"',
  ])
  expect(upstream.requests.filter(({ method }) => method === "POST")).toEqual([])
})

test("an answer that comes later is waited for", async () => {
  const { post, upstream } = await serve(
    `<outbound>
      <retry condition="@(((IResponse)context.Variables["later"]).StatusCode == 202)" count="10" interval="0">
        <send-request mode="new" response-variable-name="later" ignore-error="false">
          <set-url>UPSTREAM/later</set-url><set-method>GET</set-method>
        </send-request>
      </retry>
      <return-response response-variable-name="later"><set-header name="X-Waited" exists-action="override"><value>yes</value></set-header></return-response>
    </outbound>`,
    { answer: inTurn(202, 202, 202, 200) },
  )
  const [status, body, headers] = await post()
  expect([status, JSON.parse(body).access_token, headers.get("x-waited")]).toEqual([200, "t4", "yes"])
  expect(upstream.requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET"])
})

test("bodies are read, changed and made by code", async () => {
  const { post, upstream } = await serve(
    `<inbound>
      <choose><when condition="@(context.Request.Body != null && context.Request.Headers.GetValueOrDefault("Content-Type", "").Contains("json"))">
        <set-body>@{
          try {
            var body = context.Request.Body.As<Newtonsoft.Json.Linq.JObject>(preserveContent: true);
            if (body["stream"]?.Value<bool>() == true) body["options"] = new JObject { ["usage"] = true };
            return body.ToString(Newtonsoft.Json.Formatting.None);
          } catch { return context.Request.Body.As<string>(preserveContent: true); }
        }</set-body>
      </when></choose>
    </inbound>
    <outbound>
      <set-body template="none">@(JsonConvert.SerializeObject(new { size = context.Response.Body.As<string>(true).Length > 0, list = new[] { "a" } }))</set-body>
    </outbound>`,
  )
  expect((await post('{"stream":true}'))[1]).toBe('{"size":true,"list":["a"]}')
  await post("no json")
  expect(upstream.requests.map(({ body }) => body)).toEqual([
    '{"stream":true,"options":{"usage":true}}',
    "no json",
  ])
})

test("a provider's credential is a token client of gateway.conf, and an Authorization in code", async () => {
  const { post, upstream } = await serve(
    `<inbound>
      <get-authorization-context provider-id="@(context.Request.Method)" authorization-id="a" context-variable-name="c" identity-type="managed" ignore-error="false" />
      <set-header name="X-Token" exists-action="override"><value>@(((Authorization)context.Variables.GetValueOrDefault("c"))?.AccessToken)</value></set-header>
      <set-header name="X-Again" exists-action="override"><value>@(((Authorization)context.Variables["c"]).AccessToken + (context.Variables["c"] is Authorization))</value></set-header>
    </inbound>`,
    {
      answer: inTurn(200),
      more: `secret s = env(SECRET)
token provider { url "UPSTREAM/token"; client "gw" secret s }
xml { authorization * provider }`,
    },
  )
  expect((await post())[0]).toBe(200)
  expect(upstream.requests.map(({ url }) => url)).toEqual(["/token", "/7"])
  const { headers } = upstream.requests[1] as (typeof upstream.requests)[number]
  expect([headers["x-token"], headers["x-again"]]).toEqual(["t1", "t1True"])
})

test("rewrite-uri takes parameters by the names they have in the document", async () => {
  const { post, upstream } = await serve(
    '<inbound><rewrite-uri template="/v2/{order-id}/{ORDER_ID}/lines" /></inbound>',
  )
  expect((await post())[0]).toBe(200)
  expect(upstream.requests[0]?.url).toBe("/v2/7/7/lines")
})

test("an answer that begins with a variable nobody set is what it says itself, if it says a status", async () => {
  const answer = (inside: string): string =>
    `<inbound><return-response response-variable-name="existing response variable">${inside}</return-response></inbound>`
  const said = await serve(answer('<set-status code="599" reason="failure" /><set-body>why</set-body>'))
  expect((await said.post()).slice(0, 2)).toEqual([599, "why"])
  const unsaid = await serve(answer("<set-body>why</set-body>"))
  expect((await unsaid.post())[0]).toBe(500)
})
