import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../../gateway/harness.ts"
import { type Served, serveDocuments } from "./serving.ts"

const json = (schema: object, example?: unknown): object => ({
  "application/json": { schema, ...(example === undefined ? {} : { example }) },
})
const order = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string", minLength: 2 }, count: { type: "integer", minimum: 1 } },
}
const description = JSON.stringify({
  ...{ openapi: "3.0.3", info: { title: "Orders", version: "1" } },
  paths: {
    "/orders": {
      post: {
        requestBody: { required: true, content: json(order) },
        responses: { 200: { description: "ok", content: json(order) }, 404: { description: "no" } },
      },
      get: {
        parameters: [
          { name: "expand", in: "query", required: true, schema: { type: "string" } },
          { name: "state", in: "query", required: true, schema: { type: "string" } },
          { name: "free", in: "query", schema: { type: "string" } },
        ],
        responses: { 200: { description: "ok" } },
      },
    },
    "/mocked": {
      get: {
        responses: {
          200: { description: "ok", content: json(order, { name: "of the example" }) },
          201: { description: "made", content: json(order) },
          202: {
            description: "several",
            content: {
              "application/json": {
                schema: order,
                examples: {
                  a: { value: { name: "a" } },
                  b: { value: { name: "b" } },
                  far: { externalValue: "https://x.example/c" },
                },
              },
            },
          },
          204: { description: "nothing" },
        },
      },
    },
    "/other": { post: { responses: { 200: { description: "ok" } } } },
  },
})

const told = `<set-header name="X-Found" exists-action="override"><value>@{
  if (!context.Variables.ContainsKey("found")) return "nothing";
  var list = (IEnumerable<object>)context.Variables["found"];
  var lines = new List<string>();
  foreach (dynamic each in list) lines.Add(each.Name + "|" + each.Type + "|" + each.ValidationRule + "|" + each.Action);
  return string.Join(";", lines);
}</value></set-header>
<set-header name="X-Json" exists-action="override"><value>@(context.Variables.ContainsKey("found") ? JsonConvert.SerializeObject(context.Variables["found"]) : "-")</value></set-header>`
const judge = (action: string, more = ""): string =>
  `<validate-content unspecified-content-type-action="${action}" max-size="200" size-exceeded-action="${action}" errors-variable-name="found"><content type="application/json" validate-as="json" action="${action}" />${more}</validate-content>`

const documents: Readonly<Record<string, string>> = {
  "api.xml": `<policies><inbound><base />${judge("prevent")}</inbound>
<outbound><base />${told}</outbound><on-error>${told}</on-error></policies>`,
  "detect.xml": `<policies><inbound>${judge("detect")}</inbound>
<outbound>${judge("detect")}${told}</outbound></policies>`,
  "answers.xml": `<policies><inbound /><outbound>${judge("prevent")}</outbound><on-error>${told}</on-error></policies>`,
  "rest.xml": `<policies><inbound>
  <validate-parameters specified-parameter-action="detect" unspecified-parameter-action="detect" errors-variable-name="found"><headers specified-parameter-action="ignore" unspecified-parameter-action="ignore" /></validate-parameters>
</inbound><outbound>
  <validate-status-code unspecified-status-code-action="detect" errors-variable-name="found"><status-code code="404" action="ignore" /></validate-status-code>
  <validate-headers specified-header-action="ignore" unspecified-header-action="detect" errors-variable-name="found" />
  ${told}
</outbound></policies>`,
  "mock.xml": `<policies><inbound><choose>
  <when condition="@(context.Request.Headers.ContainsKey("X-Made"))"><mock-response status-code="201" content-type="application/json" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-Empty"))"><mock-response status-code="204" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-Zeroth"))"><mock-response status-code="202" index="0" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-First"))"><mock-response status-code="202" index="1" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-Second"))"><mock-response status-code="202" content-type="application/json" index="2" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-Third"))"><mock-response status-code="202" index="3" /></when>
  <when condition="@(context.Request.Headers.ContainsKey("X-None"))"><mock-response status-code="418" content-type="text/x" /></when>
  <otherwise><mock-response /></otherwise>
</choose></inbound></policies>`,
  "query.xml": `<policies><inbound>
  <set-header name="X-Matched"><value>@(string.Join("|", context.Request.MatchedParameters["expand"], context.Request.MatchedParameters.GetValueOrDefault("state", "none"), context.Request.MatchedParameters.ContainsKey("free"), context.Operation.UrlTemplate))</value></set-header>
  <rewrite-uri template="/v2/{state}?expand={expand}" />
</inbound></policies>`,
}

let upstream: Upstream
let served: Served
let answer: Answering = () => undefined

beforeAll(async () => {
  upstream = await startUpstream((request, response, seen) => answer(request, response, seen))
  const api = (name: string, path: string, document: string): string =>
    `api ${name} { path "${path}"; backend b; auth none; openapi "orders.json"; policy xml "${document}" }`
  const conf = `gateway g { listen 127.0.0.1:8000; errors apim }
backend b { url "${upstream.url}" }
${api("prevent", "/prevent", "api.xml")}
${api("detect", "/detect", "detect.xml")}
${api("answers", "/answers", "answers.xml")}
${api("rest", "/rest", "rest.xml")}
${api("mock", "/mock", "mock.xml")}
api query { path "/query"; backend b; auth none; openapi "orders.json"; GET "/orders" { policy xml "query.xml" } }`
  served = await serveDocuments([
    ["gateway.conf", conf],
    ["orders.json", description],
    ...Object.entries(documents),
  ])
})

afterAll(async () => {
  await served.close()
  await upstream.close()
})

async function ask(
  path: string,
  { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string; found: string | null; json: string | null }> {
  const init =
    body === undefined
      ? { headers }
      : { method: "POST", headers: { "content-type": "application/json", ...headers }, body }
  const response = await fetch(`${served.url}${path}`, init)
  const read = (name: string): string | null => response.headers.get(name)
  return {
    status: response.status,
    text: await response.text(),
    found: read("x-found"),
    json: read("x-json"),
  }
}

const answerJson =
  (text: string, status = 200, headers: Record<string, string> = {}): Answering =>
  (request, response) => {
    request.resume()
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text)
  }

describe("validate-content without schema-id judges by the operation's own schema", () => {
  test.each([
    ["/prevent/orders", '{"name":"ann"}', 200, "nothing"],
    ["/prevent/orders", '{"count":1}', 400, "application/json|RequestBody|IncorrectMessage|prevent"],
    [
      "/prevent/orders",
      '{"name":"a","count":0}',
      400,
      "application/json|RequestBody|IncorrectMessage|prevent;application/json|RequestBody|IncorrectMessage|prevent",
    ],
    ["/prevent/orders", "no json", 400, "application/json|RequestBody|IncorrectMessage|prevent"],
    // The same document at an operation that describes no body: the form alone.
    ["/prevent/other", '{"count":"any"}', 200, "nothing"],
    ["/prevent/other", "no json", 400, "application/json|RequestBody|IncorrectMessage|prevent"],
    ["/prevent/orders", JSON.stringify({ name: "x".repeat(300) }), 400, "|RequestBody|SizeLimit|prevent"],
    ["/detect/orders", '{"count":1}', 200, "application/json|RequestBody|IncorrectMessage|detect"],
  ])("%s %s", async (path, body, status, found) => {
    answer = answerJson('{"name":"of the backend"}')
    expect(await ask(path, { body })).toMatchObject({ status, found })
  })

  test("a media type nobody named", async () => {
    answer = answerJson("{}")
    const headers = { "content-type": "text/csv" }
    expect(await ask("/prevent/orders", { body: "a,b", headers })).toMatchObject({
      ...{ status: 400, found: "text/csv|RequestBody|Unspecified|prevent" },
      json: '[{"Name":"text/csv","Type":"RequestBody","ValidationRule":"Unspecified","Details":"body has a Content-Type that is not expected","Action":"prevent"}]',
    })
  })

  test.each([
    ['{"name":"ann"}', 200, 200, null],
    ['{"name":1}', 200, 502, "application/json|ResponseBody|IncorrectMessage|prevent"],
    // Of this status nothing is described but that it is JSON.
    ['{"name":1}', 404, 404, null],
  ])("answers: %s of %s", async (text, sent, status, found) => {
    answer = answerJson(text, sent)
    expect(await ask("/answers/orders", { body: "{}" })).toMatchObject({ status, found })
  })
})

test("parameters, headers and status tell what they are about", async () => {
  answer = answerJson("{}", 202, { "x-own": "1" })
  const { status, found } = await ask("/rest/other?page=1", { body: "{}" })
  expect([status, found]).toEqual([
    202,
    "page|QueryParameter|Unspecified|detect;202|StatusCode|Unspecified|detect;x-own|ResponseHeader|Unspecified|detect",
  ])
})

test.each([
  [{}, 200, '{"name":"of the example"}'],
  [{ "x-made": "1" }, 201, '{"name":"text","count":1}'],
  [{ "x-empty": "1" }, 204, ""],
  [{ "x-zeroth": "1" }, 202, '{"name":"a"}'],
  [{ "x-first": "1" }, 202, '{"name":"a"}'],
  [{ "x-second": "1" }, 202, '{"name":"b"}'],
  [{ "x-third": "1" }, 202, '{"name":"a"}'],
  [{ "x-none": "1" }, 418, ""],
])(
  "mock-response answers with the example, else what fits the schema, else nothing: %j",
  async (headers, status, text) => {
    const got = await ask("/mock/mocked", { headers: headers as Record<string, string> })
    expect([got.status, got.text]).toEqual([status, text])
  },
)

test("required parameters of the query are part of the operation's template", async () => {
  answer = answerJson("{}")
  await ask("/query/orders?expand=lines&state=open&free=1")
  const seen = upstream.requests.at(-1)
  expect([seen?.url, seen?.headers["x-matched"]]).toEqual([
    "/v2/open?expand=lines&free=1",
    "lines|open|False|/orders?expand={expand}&state={state}",
  ])
  const count = upstream.requests.length
  // A segment of the new path would be empty.
  expect((await ask("/query/orders?expand=lines")).status).toBe(400)
  expect(upstream.requests.length).toBe(count)
})
