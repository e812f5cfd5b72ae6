import { request } from "node:http"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../gateway/harness.ts"
import { type Serving, serve } from "./serve.ts"

// What a schema forbids never reaches the backend, however it is written: nobody may say one thing to us and another to whoever is behind.

const document = `
openapi: 3.0.3
info: { title: Transfers, version: "1" }
paths:
  /transfers:
    post:
      requestBody:
        required: true
        content:
          application/json: { schema: { $ref: "#/components/schemas/Transfer" } }
          application/x-www-form-urlencoded:
            schema: { $ref: "#/components/schemas/Transfer" }
            encoding: { tags: { explode: false }, at: { style: deepObject } }
          multipart/form-data:
            schema: { $ref: "#/components/schemas/Transfer" }
            encoding: { at: { contentType: application/json } }
          text/plain: { schema: { type: string, enum: [ping] } }
      responses: { "201": { description: made } }
  /anything:
    post:
      requestBody: { content: { "*/*": { schema: { $ref: "#/components/schemas/Transfer" } } } }
      responses: { "201": { description: made } }
  /json:
    post:
      requestBody: { content: { "application/*+json": { schema: { $ref: "#/components/schemas/Transfer" } } } }
      responses: { "201": { description: made } }
  /bytes:
    post:
      requestBody: { content: { "*/*": { schema: { type: string, format: binary } } } }
      responses: { "201": { description: made } }
  /search/{kind}:
    get:
      parameters:
        - { name: kind, in: path, required: true, schema: { enum: [open, done] } }
        - { name: limit, in: query, schema: { type: integer, maximum: 10 } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, additionalProperties: { type: integer } } }
        - { name: rest, in: query, schema: { type: object, additionalProperties: { type: string, maxLength: 3 } } }
        - { name: X-Role, in: header, schema: { type: string, pattern: "^user" } }
        - { name: X-Ids, in: header, schema: { type: array, items: { type: integer } } }
        - { name: role, in: cookie, schema: { type: string, pattern: "^[a-z]+$" } }
      responses: { "201": { description: found } }
components:
  schemas:
    Transfer:
      type: object
      required: [amount]
      additionalProperties: false
      properties:
        amount: { type: integer, maximum: 100 }
        note: { type: string, pattern: "^(a+)+$" }
        tags: { type: array, items: { enum: [a, b] } }
        at: { type: object, properties: { x: { type: integer } }, additionalProperties: false }
        id: { type: integer, format: int64 }
`

let upstream: Upstream
let serving: Serving

beforeAll(async () => {
  upstream = await startUpstream((_, response) => response.writeHead(201).end())
  serving = await serve(
    (port) => `
gateway g { listen 127.0.0.1:${port} }
api a { path "/a"; auth none; backend "${upstream.url}"; openapi "a.yaml"; validate request }
`,
    { "a.yaml": document },
  )
})

afterAll(async () => {
  await serving.close()
  await upstream.close()
})

/** Status, and whether the backend saw it. `headers`: names and values in turn. */
function send(
  method: string,
  path: string,
  headers: readonly string[],
  body?: string | Buffer,
): Promise<string> {
  const before = upstream.requests.length
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string)
    const length = body === undefined ? [] : ["content-length", String(bytes.length)]
    const all = ["host", "localhost", ...headers, ...length]
    const sent = request(`${serving.base}/a${path}`, { method, headers: all as never }, (response) => {
      response.resume().on("end", () => {
        const seen = upstream.requests.length > before ? "reached the backend" : "refused"
        resolve(`${response.statusCode} ${seen}`)
      })
    })
    sent.on("error", reject).end(bytes)
  })
}

const json = ["content-type", "application/json"]
const form = ["content-type", "application/x-www-form-urlencoded"]
const parts = ["content-type", "multipart/form-data; boundary=b"]
const part = (name: string, value: string, more = ""): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`

describe("right requests reach the backend", () => {
  test.each<[string, string, string, readonly string[], string | Buffer | undefined]>([
    ["JSON", "POST", "/transfers", json, '{"amount":5,"id":9223372036854775807}'],
    ["with a byte order mark", "POST", "/transfers", json, '\ufeff{"amount":5}'],
    [
      "in another case",
      "POST",
      "/transfers",
      ["content-type", 'Application/JSON; Charset="UTF-8"'],
      '{"amount":5}',
    ],
    [
      "ASCII that says Latin-1",
      "POST",
      "/transfers",
      ["content-type", "application/json; charset=iso-8859-1"],
      '{"amount":5}',
    ],
    ["compressed", "POST", "/transfers", [...json, "content-encoding", "gzip"], gzipSync('{"amount":5}')],
    ["a form", "POST", "/transfers", form, "amount=5&tags=a,b&at[x]=1"],
    [
      "parts",
      "POST",
      "/transfers",
      parts,
      `${part("amount", "5")}${part("at", '{"x":1}', "\r\nContent-Type: application/json")}--b--\r\n`,
    ],
    ["text", "POST", "/transfers", ["content-type", "text/plain"], "ping"],
    ["anything: JSON", "POST", "/anything", json, '{"amount":5}'],
    [
      "anything: of a vendor",
      "POST",
      "/anything",
      ["content-type", "application/vnd.a+json"],
      '{"amount":5}',
    ],
    ["of any vendor", "POST", "/json", ["content-type", "application/vnd.a+json; v=1"], '{"amount":5}'],
    ["bytes", "POST", "/bytes", json, "{"],
    [
      "a pattern that others take for ever",
      "POST",
      "/transfers",
      json,
      `{"amount":5,"note":"${"a".repeat(50_000)}"}`,
    ],
    [
      "parameters",
      "GET",
      "/search/open?limit=5&filter[a]=1&more=abc",
      ["x-ids", "1, 2", "X-Ids", "3", "x-role", "user", "cookie", "role=abc; other=x"],
      undefined,
    ],
  ])("%s", async (_, method, path, headers, body) => {
    expect(await send(method, path, headers, body)).toBe("201 reached the backend")
  })
})

describe("forbidden requests do not", () => {
  const bad = '{"amount":500}'
  test.each<[string, string, string, readonly string[], string | Buffer | undefined]>([
    ["a key twice, the last is right", "POST", "/transfers", json, '{"amount":500,"amount":5}'],
    ["a key twice, written otherwise", "POST", "/transfers", json, '{"amount":5,"\\u0061mount":500}'],
    ["a key of a prototype", "POST", "/transfers", json, '{"amount":5,"__proto__":{}}'],
    ["no UTF-8", "POST", "/transfers", json, Buffer.from('{"amount":5,"note":"a\xff"}', "latin1")],
    [
      "another charset",
      "POST",
      "/transfers",
      ["content-type", "application/json; charset=utf-16"],
      Buffer.from(bad, "utf16le"),
    ],
    [
      "an unknown charset",
      "POST",
      "/transfers",
      ["content-type", "application/json; charset=utf-7"],
      '{"amount":5}',
    ],
    [
      "two charsets",
      "POST",
      "/transfers",
      ["content-type", "application/json; charset=utf-8; charset=utf-7"],
      '{"amount":5}',
    ],
    [
      "two types",
      "POST",
      "/transfers",
      ["content-type", "text/plain", "Content-Type", "application/json"],
      "ping",
    ],
    [
      "a list of types",
      "POST",
      "/transfers",
      ["content-type", "application/json, text/plain"],
      '{"amount":5}',
    ],
    ["no type", "POST", "/transfers", [], bad],
    ["a type nobody described", "POST", "/transfers", ["content-type", "application/vnd.a+json"], bad],
    ["text", "POST", "/transfers", ["content-type", "text/plain"], "pong"],
    ["compressed", "POST", "/transfers", [...json, "content-encoding", "gzip"], gzipSync(bad)],
    ["no body", "POST", "/transfers", json, undefined],
    ["blanks", "POST", "/transfers", json, "  "],
    ["a number without end", "POST", "/transfers", json, '{"amount":1e400}'],
    ["a number below all", "POST", "/transfers", json, '{"amount":-1e400}'],
    ["more than 64 bits", "POST", "/transfers", json, '{"amount":5,"id":1e19}'],
    [
      "a pattern that others take for ever",
      "POST",
      "/transfers",
      json,
      `{"amount":5,"note":"${"a".repeat(50_000)}!"}`,
    ],
    ["a form: a field twice", "POST", "/transfers", form, "amount=500&amount=5"],
    ["a form: encoded", "POST", "/transfers", form, "%61mount=500"],
    ["a form: an item of a list", "POST", "/transfers", form, "amount=5&tags=a,c"],
    ["a form: inside an object", "POST", "/transfers", form, "amount=5&at[x]=1&at[y]=2"],
    ["a form: no UTF-8", "POST", "/transfers", form, Buffer.from("amount=5&note=\xff", "latin1")],
    [
      "parts: a field twice",
      "POST",
      "/transfers",
      parts,
      `${part("amount", "5")}${part("amount", "500")}--b--`,
    ],
    [
      "parts: as text and as a file",
      "POST",
      "/transfers",
      parts,
      `${part("amount", "500")}${part("amount", "5", "; filename=a\r\nContent-Type: application/json")}--b--`,
    ],
    [
      "parts: of another type",
      "POST",
      "/transfers",
      parts,
      `${part("amount", "5")}${part("at", '{"x":1}')}--b--`,
    ],
    [
      "parts: behind the end",
      "POST",
      "/transfers",
      parts,
      `${part("amount", "5")}--b--\r\n${part("amount", "500")}--b--`,
    ],
    [
      "parts: behind a line feed",
      "POST",
      "/transfers",
      parts,
      `--b\nContent-Disposition: form-data; name="amount"\n\n500\n${part("amount", "5")}--b--`,
    ],
    [
      "parts: another boundary",
      "POST",
      "/transfers",
      ["content-type", 'multipart/form-data; x="; boundary=b"; boundary=c'],
      `${part("amount", "5")}--b--`,
    ],
    ["anything: JSON", "POST", "/anything", json, bad],
    ["anything: of a vendor", "POST", "/anything", ["content-type", "application/vnd.a+json"], bad],
    ["anything: a form", "POST", "/anything", form, "amount=500"],
    ["anything: text", "POST", "/anything", ["content-type", "text/plain"], bad],
    ["anything: bytes", "POST", "/anything", ["content-type", "application/octet-stream"], bad],
    ["anything: XML", "POST", "/anything", ["content-type", "application/xml"], "<amount>500</amount>"],
    ["of any vendor", "POST", "/json", ["content-type", "application/vnd.a+json"], bad],
    ["a path", "GET", "/search/%6fther", [], undefined],
    ["a number", "GET", "/search/open?limit=11", [], undefined],
    ["a number twice", "GET", "/search/open?limit=1&limi%74=11", [], undefined],
    ["a number, encoded", "GET", "/search/open?limit=%31%31", [], undefined],
    ["a number in another notation", "GET", "/search/open?limit=0x1", [], undefined],
    ["inside an object", "GET", "/search/open?filter[a]=x", [], undefined],
    ["deeper inside", "GET", "/search/open?filter[a][b]=1", [], undefined],
    ["what an object takes besides", "GET", "/search/open?more=abcd", [], undefined],
    ["a header twice", "GET", "/search/open", ["x-role", "user", "x-role", "admin"], undefined],
    ["a list in a header", "GET", "/search/open", ["x-ids", "1, x"], undefined],
    ["a cookie twice", "GET", "/search/open", ["cookie", "role=user; role=admin"], undefined],
    ["a cookie in a second header", "GET", "/search/open", ["cookie", "a=b", "cookie", "role=1"], undefined],
    ["a cookie, encoded", "GET", "/search/open", ["cookie", "role=%3Cb%3E"], undefined],
  ])("%s", async (_, method, path, headers, body) => {
    expect(await send(method, path, headers, body)).toBe("400 refused")
  })
})
