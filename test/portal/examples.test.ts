import { execFileSync } from "node:child_process"
import { Script } from "node:vm"
import { expect, test } from "vitest"
import { RequestBudget } from "../../runtime/portal/budget.ts"
import { exampleRequest, exampleTexts } from "../../runtime/portal/examples.ts"
import { sampleOf } from "../../runtime/portal/sample.ts"

const nasty = 'it\'s "quoted" \\ $(touch x) `x` ${y}\nü\u2028😀'

const operation = {
  parameters: [
    { name: "id", in: "path", required: true, schema: { type: "string" }, example: "a/b" },
    { name: "q", in: "query", required: true, schema: { type: "array", items: { type: "integer" } } },
    { name: "optional", in: "query", schema: { type: "string" } },
    { name: "X-Note", in: "header", required: true, schema: { type: "string", enum: ["one"] } },
  ],
  requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Order" } } } },
  security: [{ key: [], token: [] }],
}
const schemas = {
  Order: {
    type: "object",
    properties: {
      note: { type: "string", example: nasty },
      at: { type: "string", format: "date" },
      made: { type: "string", readOnly: true },
      parent: { $ref: "#/components/schemas/Order" },
    },
  },
}
const securitySchemes = {
  key: { type: "apiKey", in: "query", name: "key" },
  token: { type: "http", scheme: "bearer" },
}
const request = exampleRequest({ method: "PUT", path: "/v1/{id}", operation, schemas, securitySchemes })

test("a request has what the operation requires, and placeholders for credentials", () => {
  expect(request).toMatchObject({
    ...{ method: "PUT", url: "/v1/a%2Fb?q=1&key=YOUR_KEY" },
    headers: [
      ["X-Note", "one"],
      ["Authorization", "Bearer YOUR_TOKEN"],
      ["Content-Type", "application/json"],
    ],
  })
  const body = JSON.parse(request.body ?? "")
  expect(body).toMatchObject({ note: nasty, at: "2027-01-31" })
  expect(body).not.toHaveProperty("made")
})

test("sources are valid, whatever an example contains", () => {
  const texts = exampleTexts(request, "https://api.example")
  const printed = execFileSync("sh", ["-c", texts.curl.replace(/^curl/, "printf '%s\\n'")]).toString()
  expect(printed).toContain(nasty.split("\n")[0]?.replaceAll("\\", "\\\\").replaceAll('"', '\\"'))
  expect(() => new Script(`async () => {\n${texts.javascript}\n}`)).not.toThrow()
  for (const text of [texts.python, texts.go, texts.java, texts.csharp]) {
    expect(text).toContain("\\u2028")
    expect(text).toMatch(/^[\x20-\x7e\n\t]*$/)
  }
})

test("a schema that refers to itself, or has very many members, has a small sample", () => {
  expect(JSON.stringify(sampleOf({ $ref: "#/components/schemas/Order" }, schemas)).length).toBeLessThan(1000)
  const wide = {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`m${at}`, {}])),
  }
  expect(JSON.stringify(sampleOf(wide, {})).length).toBeLessThan(100_000)
  expect(
    sampleOf(
      { allOf: [{ properties: { a: { type: "boolean" } } }, { properties: { b: { const: 2 } } }] },
      {},
    ),
  ).toEqual({
    a: true,
    b: 2,
  })
})

test("callers have a burst, and then a pace of their own", () => {
  let now = 0
  const budget = new RequestBudget({ burst: 2, everyMs: 1000 }, () => now)
  expect([budget.take("a"), budget.take("a"), budget.take("a"), budget.take("b")]).toEqual([0, 0, 1, 0])
  now += 1000
  expect([budget.take("a"), budget.take("a")]).toEqual([0, 1])
})
