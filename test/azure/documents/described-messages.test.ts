import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../../compiler/core/files.ts"
import { compile } from "../../compile.ts"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { type Served, serveDocuments } from "./serving.ts"

const integer = { schema: { type: "integer" } }
const description = JSON.stringify({
  ...{ openapi: "3.0.3", info: { title: "Orders", version: "1" } },
  paths: {
    "/orders/{order-id}": {
      get: {
        parameters: [
          { name: "order-id", in: "path", required: true, ...integer },
          { name: "q", in: "query", schema: { type: "string" } },
          { name: "count", in: "query", ...integer },
          { name: "X-H", in: "header", ...integer },
          { name: "theme", in: "cookie", ...integer },
        ],
        responses: {
          200: { description: "ok", headers: { "X-Total": integer } },
          "4XX": { description: "no" },
        },
      },
    },
    "/any": { get: { responses: { default: { description: "any" } } } },
  },
})

const parameters = (inside = "", specified = "prevent", unspecified = "prevent"): string =>
  `<validate-parameters specified-parameter-action="${specified}" unspecified-parameter-action="${unspecified}" errors-variable-name="found">${inside}</validate-parameters>`
const status = (inside = ""): string =>
  `<validate-status-code unspecified-status-code-action="prevent" errors-variable-name="found">${inside}</validate-status-code>`
const headers = (inside = "", specified = "prevent", unspecified = "prevent"): string =>
  `<validate-headers specified-header-action="${specified}" unspecified-header-action="${unspecified}" errors-variable-name="found">${inside}</validate-headers>`

const told = `<set-header name="X-Found" exists-action="override"><value>@{
  if (!context.Variables.ContainsKey("found")) return "nothing";
  var lines = new List<string>();
  foreach (dynamic each in (IEnumerable<object>)context.Variables["found"]) lines.Add(each.Name + "|" + each.Type + "|" + each.ValidationRule + "|" + each.Action);
  return string.Join(";", lines);
}</value></set-header>`
const inbound = (policy: string): string =>
  `<policies><inbound>${policy}</inbound><outbound>${told}</outbound><on-error>${told}</on-error></policies>`
const outbound = (policy: string): string =>
  `<policies><inbound/><outbound>${policy}${told}</outbound><on-error>${told}</on-error></policies>`

const documents: Readonly<Record<string, string>> = {
  plain: inbound(parameters()),
  lax: inbound(parameters("", "detect", "ignore")),
  places: inbound(
    parameters(
      `<headers specified-parameter-action="detect" unspecified-parameter-action="ignore"><parameter name="x-own" action="prevent"/></headers>
       <query specified-parameter-action="prevent" unspecified-parameter-action="detect"><parameter name="COUNT" action="ignore"/><parameter name="debug" action="prevent"/><parameter name="free" action="ignore"/></query>
       <path specified-parameter-action="prevent"><parameter name="Order-Id" action="detect"/></path>`,
      "ignore",
      "ignore",
    ),
  ),
  status: outbound(
    status(
      '<status-code code="200" action="prevent"/><status-code code="404" action="prevent"/><status-code code="500" action="ignore"/><status-code code="503" action="detect"/>',
    ),
  ),
  headers: outbound(
    headers('<header name="X-Seen" action="detect"/><header name="x-free" action="ignore"/>'),
  ),
  lenient: outbound(
    headers(
      '<header name="X-TOTAL" action="detect"/><header name="X-Own" action="prevent"/>',
      "prevent",
      "ignore",
    ),
  ),
}

let upstream: Upstream
let served: Served
let answered: { status: number; headers: Readonly<Record<string, string>> }

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    request.resume()
    response.writeHead(answered.status, { ...answered.headers }).end()
  })
  const apis = Object.keys(documents).map(
    (name) =>
      `api ${name} { path "/${name}"; backend b; auth none; openapi "orders.json"; policy xml "${name}.xml" }`,
  )
  served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; errors apim }\nbackend b { url "${upstream.url}" }\n${apis.join("\n")}`,
    ],
    ["orders.json", description],
    ...Object.entries(documents).map(([name, text]) => [`${name}.xml`, text] as const),
  ])
})

afterAll(async () => {
  await served.close()
  await upstream.close()
})

async function ask(
  path: string,
  sent: Readonly<Record<string, string>> = {},
): Promise<[number, string | null]> {
  const response = await fetch(`${served.url}${path}`, { headers: { ...sent } })
  await response.text()
  return [response.status, response.headers.get("x-found")]
}

const wrong = (name: string, place: string, action = "prevent"): string =>
  `${name}|${place}|IncorrectMessage|${action}`
const other = (name: string, place: string, action = "prevent"): string =>
  `${name}|${place}|Unspecified|${action}`

describe("validate-parameters judges by the operation's OpenAPI document", () => {
  test.each<[string, Record<string, string>, number, string]>([
    ["/plain/orders/7?q=abc", {}, 200, "nothing"],
    ["/plain/orders/notint", {}, 400, wrong("order_id", "PathParameter")],
    ["/plain/orders/7?count=x", {}, 400, wrong("count", "QueryParameter")],
    ["/plain/orders/7?page=1", {}, 400, other("page", "QueryParameter")],
    ["/plain/orders/7", { "x-h": "3" }, 200, "nothing"],
    ["/plain/orders/7", { "x-h": "three" }, 400, wrong("X-H", "RequestHeader")],
    ["/plain/orders/7", { "x-more": "1" }, 400, other("x-more", "RequestHeader")],
    // Azure API Management knows no cookie parameters.
    ["/plain/orders/7", { cookie: "theme=dark" }, 200, "nothing"],
    ["/plain/any", {}, 200, "nothing"],
    [
      "/lax/orders/x?page=1&count=y",
      {},
      200,
      `${wrong("order_id", "PathParameter", "detect")};${wrong("count", "QueryParameter", "detect")}`,
    ],
    ["/places/orders/x?q=1", {}, 200, wrong("order_id", "PathParameter", "detect")],
    ["/places/orders/7?count=x&free=1&page=2", {}, 200, other("page", "QueryParameter", "detect")],
    ["/places/orders/7?debug=1", {}, 400, other("debug", "QueryParameter")],
    ["/places/orders/7", { "x-h": "three", "x-more": "1" }, 200, wrong("X-H", "RequestHeader", "detect")],
    ["/places/orders/7", { "x-own": "1" }, 400, other("x-own", "RequestHeader")],
  ])("%s %j", async (path, sent, expected, found) => {
    answered = { status: 200, headers: {} }
    const [code, list] = await ask(path, sent)
    expect([code, list?.split(";").sort()]).toEqual([expected, found.split(";").sort()])
  })
})

describe("validate-status-code and validate-headers judge by the operation's OpenAPI document", () => {
  test.each<[string, number, Record<string, string>, number, string]>([
    // An override of a status that the document describes does nothing.
    ["/status/orders/7", 200, {}, 200, "nothing"],
    ["/status/orders/7", 404, {}, 404, "nothing"],
    ["/status/orders/7", 500, {}, 500, "nothing"],
    ["/status/orders/7", 503, {}, 503, other("503", "StatusCode", "detect")],
    ["/status/orders/7", 502, {}, 502, other("502", "StatusCode")],
    ["/status/orders/7", 201, {}, 502, other("201", "StatusCode")],
    ["/status/any", 201, {}, 201, "nothing"],
    ["/headers/orders/7", 200, { "x-total": "3", "x-free": "1" }, 200, "nothing"],
    ["/headers/orders/7", 200, { "x-total": "three" }, 502, wrong("x-total", "ResponseHeader")],
    ["/headers/orders/7", 200, { "x-seen": "1" }, 200, other("x-seen", "ResponseHeader", "detect")],
    ["/headers/orders/7", 200, { "x-more": "1" }, 502, other("x-more", "ResponseHeader")],
    // Of this status no header is described.
    ["/headers/orders/7", 404, { "x-total": "3" }, 502, other("x-total", "ResponseHeader")],
    ["/lenient/orders/7", 200, { "x-total": "three" }, 200, wrong("x-total", "ResponseHeader", "detect")],
    ["/lenient/orders/7", 200, { "x-own": "1" }, 502, other("x-own", "ResponseHeader")],
    ["/lenient/orders/7", 200, { "x-more": "1" }, 200, "nothing"],
  ])("%s answered %i %j", async (path, sent, fields, expected, found) => {
    answered = { status: sent, headers: fields }
    expect(await ask(path)).toEqual([expected, found])
  })
})

describe("without an OpenAPI document a warning says what is not checked", () => {
  const warnings = (document: string, api = 'GET "/x/{id}"'): string[] =>
    compile(
      new MemoryFiles([
        [
          "gateway.conf",
          `gateway g { listen 127.0.0.1:8000 }\nbackend b { url "http://127.0.0.1:1" }\napi a { path "/a"; backend b; auth none; policy xml "a.xml"; ${api} }`,
        ],
        ["orders.json", description],
        ["a.xml", document],
      ]),
      "gateway.conf",
    ).diagnostics.map(({ code, detail }) => `${code} ${detail}`)

  test.each([
    [
      "validate-parameters",
      inbound(parameters()),
      "SP7019 no OpenAPI document describes this operation: parameters of the path are not checked, and every query parameter and header counts as unspecified",
    ],
    [
      "validate-headers",
      outbound(headers()),
      "SP7019 no OpenAPI document describes this operation: every header counts as unspecified",
    ],
    [
      "validate-status-code",
      outbound(status()),
      "SP7019 no OpenAPI document describes this operation: every status counts as unspecified",
    ],
  ])("%s", (_, document, warning) => {
    expect(warnings(document)).toContain(warning)
    expect(warnings(document, 'openapi "orders.json"').filter((each) => each === warning)).toEqual([])
    const quiet = document.replaceAll('"prevent"', '"ignore"')
    expect(warnings(quiet).filter((each) => each === warning)).toEqual([])
  })

  test("an override of a path parameter that the route does not have", () => {
    const unknown = inbound(parameters('<path><parameter name="idd" action="detect"/></path>'))
    expect(warnings(unknown)).toContain("SP7019 the path has no parameter `idd`; did you mean `id`?")
  })

  test("cookies that the document describes are not checked", () => {
    const document = inbound(parameters())
    expect(warnings(document, 'openapi "orders.json"')).toContain(
      "SP7019 the cookie `theme` is described, but `validate-parameters` does not check cookies",
    )
  })
})
