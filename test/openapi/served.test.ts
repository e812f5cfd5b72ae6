import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../gateway/harness.ts"
import { type Serving, serve } from "./serve.ts"

const document = `
openapi: 3.0.3
info: { title: Orders, version: "1" }
paths:
  /orders:
    get:
      parameters:
        - { name: limit, in: query, schema: { type: integer, maximum: 100 } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: integer } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { open: { type: boolean } }, additionalProperties: false } }
        - { name: X-Page, in: header, schema: { type: integer } }
        - { name: session, in: cookie, required: true, schema: { type: string, minLength: 4 } }
      responses:
        "200": { description: ok, content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Order" } } } } }
    post:
      requestBody:
        required: true
        content:
          application/json: { schema: { $ref: "#/components/schemas/Order" } }
          application/x-www-form-urlencoded: { schema: { $ref: "#/components/schemas/Order" } }
          multipart/form-data: { schema: { type: object, required: [file], properties: { file: { type: string, maxLength: 3 }, count: { type: integer } } } }
          application/xml: {}
      responses: { "201": { description: made } }
  /orders/{order-id}:
    get:
      parameters: [{ name: order-id, in: path, required: true, schema: { type: string, pattern: "^[a-z]+$" } }]
      responses: { default: { description: any, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } } }
  /heads:
    get:
      responses:
        "200":
          description: ok
          headers:
            X-Total: { required: true, schema: { type: integer, minimum: 0 } }
            X-Tags: { schema: { type: array, items: { type: string, maxLength: 3 } } }
            X-Pairs: { explode: true, schema: { type: object, properties: { a: { type: integer } } } }
            X-More: { content: { application/json: { schema: { type: object, required: [next] } } } }
            Set-Cookie: { schema: { type: string, pattern: "^[a-z]+=" } }
            Content-Type: { required: true, schema: { const: never } }
        "204": { description: nothing }
        default: { description: any, headers: { X-Why: { required: true, schema: { type: string } } } }
components:
  schemas:
    Order:
      type: object
      required: [id, item]
      additionalProperties: false
      properties:
        id: { type: integer, readOnly: true }
        item: { type: string }
        count: { type: integer, minimum: 1 }
        parts: { type: array, items: { $ref: "#/components/schemas/Order" } }
`
const text = (backend: string, port: number): string => `
gateway g { listen 127.0.0.1:${port} }
api judged {
  path "/judged"
  auth none
  backend "${backend}"
  openapi "orders.yaml"
  docs "/openapi.yaml" { auth subscription }
  validate request { unknown-query prevent; size 1KB }
  validate response { status prevent }
  GET "/orders/{id}" { validate request detect { errors found } }
  GET "/heads" { validate response { unknown-headers prevent } }
}
api mocked { path "/mocked"; auth none; mock; openapi "orders.yaml"; docs "/openapi.json" }
`

let upstream: Upstream
let serving: Serving
let base: string
/** What the backend answers next. */
let answer: { status: number; type: string; body: string; headers?: Record<string, string | string[]> } = {
  status: 201,
  type: "text/plain",
  body: "",
}

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    response.writeHead(answer.status, { "content-type": answer.type, ...answer.headers })
    response.end(answer.body)
  })
  serving = await serve((port) => text(upstream.url, port), { "orders.yaml": document })
  base = serving.base
})

afterAll(async () => {
  await serving.close()
  await upstream.close()
})

interface Problem {
  readonly type: string
  readonly status: number
  readonly errors?: readonly { readonly in: string; readonly pointer: string; readonly message: string }[]
}

async function errorsOf(path: string, init: RequestInit = {}): Promise<string[]> {
  const response = await fetch(`${base}/judged${path}`, { headers: { cookie: "session=abcd" }, ...init })
  if (response.status === 201) return []
  const problem = (await response.json()) as Problem
  expect(response.headers.get("content-type")).toBe("application/problem+json")
  expect(problem.type).toBe("urn:sallyport:problem:invalid-request")
  return [
    String(response.status),
    ...(problem.errors ?? []).map((each) => `${each.in} ${each.pointer}: ${each.message}`),
  ]
}

const post = (body: string | Buffer, type: string): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : new Uint8Array(body),
  headers: { "content-type": type },
})

describe("requests", () => {
  beforeAll(() => {
    answer = { status: 201, type: "text/plain", body: "" }
  })

  test.each<[string, string, RequestInit, string[]]>([
    [
      "right JSON",
      "/orders",
      post('{"item":"a","parts":[{"item":"b"}]}', "application/json; charset=utf-8"),
      [],
    ],
    [
      "all mistakes of JSON",
      "/orders",
      post('{"parts":[{"item":1,"x":1}],"count":0}', "application/json"),
      [
        "400",
        "body /item: is required",
        "body /count: must be >= 1",
        "body /parts/0/x: is not expected",
        "body /parts/0/item: must be string",
      ],
    ],
    ["what is no JSON", "/orders", post("{", "application/json"), ["400", "body : is not JSON"]],
    ["no body", "/orders", { method: "POST" }, ["400", "body : is required"]],
    [
      "another type",
      "/orders",
      post("x", "text/plain"),
      ["400", "body : has a Content-Type that is not expected"],
    ],
    ["a form", "/orders", post("item=a&count=2", "application/x-www-form-urlencoded"), []],
    [
      "a wrong form",
      "/orders",
      post("item=a&count=0", "application/x-www-form-urlencoded"),
      ["400", "body /count: must be >= 1"],
    ],
    ["XML", "/orders", post("<a/>", "application/xml"), []],
    [
      "broken XML",
      "/orders",
      post("<a>", "text/xml"),
      ["400", "body : has a Content-Type that is not expected"],
    ],
    [
      "too large",
      "/orders",
      post(`{"item":"${"a".repeat(2000)}"}`, "application/json"),
      ["400", "body : has more than 1024 bytes"],
    ],
    [
      "parameters",
      "/orders?limit=101&ids=1,x&filter[open]=maybe&filter[x]=1&other=1",
      { headers: { "x-page": "one", cookie: "session=a" } },
      [
        "400",
        "cookie session: must NOT have fewer than 4 characters",
        "header X-Page: must be integer",
        "query filter/x: is not expected",
        "query filter/open: must be boolean",
        "query ids/1: must be integer",
        "query limit: must be <= 100",
        "query other: is not expected",
      ],
    ],
    ["no cookie", "/orders", { headers: {} }, ["400", "cookie session: is required"]],
  ])("%s", async (_, path, init, expected) => {
    expect(await errorsOf(path, init)).toEqual(expected)
  })

  test("a form of parts", async () => {
    const form = new FormData()
    form.set("file", new Blob(["abcd"]), "a.bin")
    form.set("count", "x")
    const response = await fetch(`${base}/judged/orders`, { method: "POST", body: form })
    const { errors } = (await response.json()) as Problem
    expect(errors?.map(({ pointer, message }) => `${pointer} ${message}`).sort()).toEqual([
      "/count must be integer",
      "/file must NOT have more than 3 characters",
    ])
  })

  test("what is judged goes on byte for byte", async () => {
    const body = '{ "item" : "a" }\n'
    await fetch(`${base}/judged/orders`, post(body, "application/json"))
    expect(upstream.requests.at(-1)?.body).toBe(body)
  })
})

describe("answers", () => {
  const get = async (path: string): Promise<Response> =>
    fetch(`${base}/judged${path}`, { headers: { cookie: "session=abcd" } })

  test("that fit go through", async () => {
    answer = { status: 200, type: "application/json", body: '[{"id":1,"item":"a"}]' }
    const response = await get("/orders")
    expect([response.status, await response.text()]).toEqual([200, '[{"id":1,"item":"a"}]'])
  })

  test.each([
    [
      "a body that does not fit",
      { status: 200, type: "application/json", body: '[{"item":"a"}]' },
      "/0/id is required",
    ],
    [
      "a type that is not described",
      { status: 200, type: "text/html", body: "x" },
      "has a Content-Type that is not expected",
    ],
    ["a status that is not described", { status: 206, type: "application/json", body: "[]" }, "206"],
  ])("%s: 502, the reason is in the log alone", async (_, next, reason) => {
    answer = next
    const response = await get("/orders")
    const body = await response.text()
    expect(response.status).toBe(502)
    expect(body).not.toContain("required")
    expect(body).not.toContain("errors")
    expect(serving.finished.at(-1)?.cause).toContain(reason)
  })

  test.each<[string, number, Record<string, string | string[]>, string]>([
    [
      "all as it should be",
      200,
      { "x-total": "5", "x-tags": "a,b", "x-pairs": "a=1", "x-more": '{"next":1}' },
      "",
    ],
    ["what is not required", 200, { "x-total": "0" }, ""],
    ["cookies one by one", 200, { "x-total": "0", "set-cookie": ["a=1", "b=2,c"] }, ""],
    ["another status, without headers", 204, {}, ""],
    ["a status by the default", 404, { "x-why": "gone" }, ""],
    ["what is required", 200, {}, "header x-total is required and missing"],
    ["what the default requires", 404, {}, "header x-why is required and missing"],
    ["a value", 200, { "x-total": "-1" }, "header x-total must be >= 0"],
    [
      "all of them",
      200,
      { "x-total": "x", "x-tags": "a,long" },
      "header x-total must be integer; header x-tags/1 must NOT have more than 3 characters",
    ],
    ["parts of an object", 200, { "x-total": "0", "x-pairs": "a=x" }, "header x-pairs/a must be integer"],
    ["JSON", 200, { "x-total": "0", "x-more": "{}" }, "header x-more/next is required"],
    ["what is no JSON", 200, { "x-total": "0", "x-more": "{" }, "header x-more must be JSON"],
    [
      "a cookie",
      200,
      { "x-total": "0", "set-cookie": ["a=1", "B=2"] },
      'header set-cookie must match pattern "^[a-z]+="',
    ],
    ["what is not described", 204, { "x-total": "5" }, "header x-total is not described for this API"],
  ])("header fields: %s", async (_, status, headers, reason) => {
    answer = { status, type: "text/plain", body: "", headers }
    const response = await get("/heads")
    await response.text()
    expect([response.status, reason === "" ? "" : serving.finished.at(-1)?.cause]).toEqual(
      reason === "" ? [status, ""] : [502, expect.stringContaining(reason)],
    )
  })

  test("what is only noted goes through", async () => {
    serving.lines.splice(0)
    answer = { status: 200, type: "application/json", body: '{"id":1,"item":"a"}' }
    const response = await get("/orders/UPPER")
    expect(response.status).toBe(200)
    expect(serving.lines).toEqual([
      {
        requestId: serving.finished.at(-1)?.id,
        source: "validate-parameters",
        severity: "information",
        message: 'path id must match pattern "^[a-z]+$"',
        metadata: { message: "request" },
      },
    ])
  })
})

test("documents are answered, and who may not call may not read them", async () => {
  const open = await fetch(`${base}/mocked/openapi.json`)
  expect([open.status, open.headers.get("content-type")]).toEqual([200, "application/json"])
  const { openapi, servers, paths } = (await open.json()) as Record<string, object>
  expect(openapi).toBe("3.1.0")
  expect(servers).toEqual([{ url: "/mocked" }])
  // The document is no operation of its API.
  expect(Object.keys(paths ?? {})).toEqual(["/orders", "/orders/{order-id}", "/heads"])
  expect((await fetch(`${base}/judged/openapi.yaml`)).status).toBe(401)
})

test("mocks answer examples and samples", async () => {
  const list = await fetch(`${base}/mocked/orders`)
  const order = { id: 0, item: "text", count: 1, parts: [{ id: 0, item: "text" }] }
  expect([list.status, await list.json()]).toEqual([200, [order]])
  const made = await fetch(`${base}/mocked/orders`, { method: "POST" })
  expect([made.status, await made.text()]).toEqual([201, ""])
})
