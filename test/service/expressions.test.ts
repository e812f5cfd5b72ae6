import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `gateway shop { listen 127.0.0.1:8000 }
issuer staff { discovery "https://id.example/.well-known/openid-configuration"; audience a; claims { sub string; level int } }
backend orders { url "http://127.0.0.1:9001" }
api shop {
  path "/shop"
  auth jwt staff
  backend orders
  openapi "shop.yaml" { security none auth none; skip "DELETE /orders/{order}" }
  inbound {
    set level (jwt.level)
    header set "X-Level" "\${string(jwt.level)} \${path.id} \${request.ip} \${request.ip.size()}"
  }
  GET "/orders/{id}" { auth jwt staff }
}
`
const document = `openapi: 3.1.0
info: { title: Shop, version: "1" }
paths:
  /orders:
    get: { operationId: listOrders, summary: All orders., parameters: [{ in: query, name: page, schema: { type: string } }, { in: header, name: X-Trace, schema: { type: string } }], responses: { "200": { description: Good } } }
  /orders/{id}:
    parameters: [{ in: path, name: id, required: true, schema: { type: string } }]
    get: { operationId: readOrder, responses: { "200": { description: Good } } }
  /orders/{order}/lines:
    parameters: [{ in: path, name: order, required: true, schema: { type: string } }]
    post: { operationId: addLine, responses: { "200": { description: Good } } }
`

function serviceOf(text: string): LanguageService {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["shop.yaml", document],
  ])
  return new LanguageService(files, "gateway.conf")
}

async function proposed(part: string, by: string) {
  expect(conf).toContain(part)
  const text = conf.replace(part, by)
  return serviceOf(text.replace("│", "")).completion("gateway.conf", text.indexOf("│"))
}

describe("operations of an OpenAPI document", () => {
  test("are proposed by their ids, as statements", async () => {
    const found = await proposed('  GET "/orders/{id}"', '  │\n  GET "/orders/{id}"')
    expect(found.find(({ label }) => label === "listOrders")).toMatchObject({
      ...{ kind: "operation", detail: 'GET "/orders"', docs: "All orders.", insert: 'GET "/orders" {\n}' },
    })
    expect(found.map(({ label }) => label)).not.toContain("readOrder")
  })

  test.each<[what: string, part: string, by: string, labels: string[], not: string[]]>([
    [
      "paths of the method",
      'GET "/orders/{id}"',
      'GET "/o│"',
      ["/orders", "/orders/{id}"],
      ["/orders/{order}/lines"],
    ],
    [
      "what to skip",
      'skip "DELETE /orders/{order}"',
      'skip "│"',
      ["GET /orders", "POST /orders/{order}/lines"],
      [],
    ],
    ["its query parameters", "request.ip.size()", 'request.query("│")', ["page"], ["X-Trace"]],
    ["its headers", "request.ip.size()", 'request.header("│")', ["X-Trace", "X-Level"], ["page"]],
  ])("%s", async (_, part, by, labels, not) => {
    const found = (await proposed(part, by)).map(({ label }) => label)
    expect(found).toEqual(expect.arrayContaining(labels))
    for (const label of not) expect(found).not.toContain(label)
  })
})

test("a statement of an outer block is offered the parameters of all routes that it runs in, and only declared claims", async () => {
  const parameters = (await proposed("${path.id}", "${path.│}")).map(({ label }) => label)
  expect(parameters.sort()).toEqual(["id", "order"])
  const claims = (await proposed("(jwt.level)", "(jwt.│)")).map(({ label, detail }) => [label, detail])
  expect(claims.sort()).toEqual([
    ["level", "int"],
    ["sub", "string"],
  ])
})

test.each([
  ["a claim", "jwt.level)", 5, "jwt.level: int", "A claim"],
  ["a path parameter", "path.id", 6, "path.id: string", "A parameter"],
  ["a field", "request.ip}", 9, "request.ip: string", "client's address"],
  ["a variable", "request.ip}", 2, "request: request", "The request of the client."],
  ["a method", ".size()", 2, "size() → int", ""],
  ["a function", "string(jwt", 2, "string(int) → string", ""],
])("hover over %s", async (_, part, into, form, docs) => {
  const found = await serviceOf(conf).hover("gateway.conf", conf.indexOf(part) + into)
  expect(found?.markdown).toContain(form)
  expect(found?.markdown).toContain(docs)
})
