import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `gateway shop { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8081; store acme { model "models/fga.mod" } }
backend orders { url "http://127.0.0.1:9001" }
product gold { apis shop }
subscription ann { product gold; key env(KEY) }
api shop {
  path "/shop"
  auth subscription
  backend orders
  GET "/orders/{id}" { require viewer of "order:\${path.id}" for "user:\${subscription.name}" }
}
`
const core = `module core
type user
type group
  relations
    define member: [user]
type order
  relations
    define owner: [user, group#member]
    define viewer: owner
    define guest: [user with inside]
condition inside(ip: ipaddress) {
  ip.in_cidr("10.0.0.0/8")
}
`

async function serviceAt(path: string, text: string) {
  const service = new LanguageService(
    new MemoryFiles([
      ["gateway.conf", conf],
      ["models/fga.mod", 'schema: "1.2"\ncontents:\n  - core.fga\n'],
      ["models/core.fga", core],
      ["models/parts/other.fga", "module other\n"],
    ]),
    "gateway.conf",
  )
  service.set(path, text.replace("│", ""))
  return { service, offset: text.indexOf("│") }
}

async function proposed(path: string, text: string) {
  const { service, offset } = await serviceAt(path, text)
  return service.completion(path, offset)
}

describe("completion in tests", () => {
  test.each<[what: string, path: string, text: string, labels: string[], not: string[]]>([
    ["keys of a file", "a.fga.yaml", "│", ["model_file", "tuples", "tests"], ["check"]],
    ["keys that are left", "a.fga.yaml", "model_file: x.fga\nte│", ["tests"], ["model_file"]],
    [
      "keys of a test",
      "a.fga.yaml",
      "tests:\n  - name: a\n    │",
      ["check", "list_users"],
      ["name", "model"],
    ],
    ["keys of a tuple", "a.fga.yaml", "tuples:\n  - { user: user:a, │ }", ["relation", "object"], ["tests"]],
    ["models of other folders", "models/tests/a.fga.yaml", "model_file: │", ["../core.fga"], ["core.fga"]],
    ["the gateway.conf", "tests/a.gw.yaml", "config: │", ["../gateway.conf"], []],
    ["requests", "a.gw.yaml", "tests:\n  - request: │\n", ["GET /shop/orders/1"], []],
    ["paths of a method", "a.gw.yaml", "tests:\n  - request: GET /│\n", ["/shop/orders/1"], []],
    ["no paths of another method", "a.gw.yaml", "tests:\n  - request: PUT /│\n", [], ["/shop/orders/1"]],
    ["conditions", "a.fga.yaml", "tuples:\n  - condition: { name: │ }\n", ["inside"], []],
    ["files of models", "models/a.fga.yaml", "model_file: │", ["core.fga", "fga.mod"], []],
    [
      "relations of the object",
      "a.fga.yaml",
      "tuples:\n  - { object: order:1, relation: │ }",
      ["owner", "viewer"],
      ["member"],
    ],
    ["types of objects", "a.fga.yaml", "tuples:\n  - user: │", ["user", "group", "order"], ["owner"]],
    ["relations of a set", "a.fga.yaml", "tuples:\n  - { user: 'group:a#│' }", ["group:a#member"], []],
    [
      "relations that a question asks for",
      "a.fga.yaml",
      "tests:\n  - check:\n      - user: user:a\n        object: order:1\n        assertions:\n          o│: true\n",
      ["owner", "viewer"],
      ["member"],
    ],
    ["keys of a request", "a.gw.yaml", "tests:\n  - request:\n      │", ["method", "path"], ["tests"]],
    ["words", "a.gw.yaml", "tests:\n  - only: │", ["true"], []],
    ["backends", "a.gw.yaml", "given:\n  backends:\n    o│: {}\n", ["orders"], []],
    [
      "subscriptions of callers",
      "a.gw.yaml",
      "given:\n  callers:\n    ann: { subscription: │ }\n",
      ["ann"],
      [],
    ],
    [
      "callers",
      "a.gw.yaml",
      "given:\n  callers:\n    ann: { token: {} }\n    bob: {}\ntests:\n  - as: │\n",
      ["ann", "bob"],
      ["acme"],
    ],
    ["routes", "a.gw.yaml", "tests:\n  - expect: { route: │ }\n", ["GET /shop/orders/{id}"], []],
    ["stores", "a.gw.yaml", "given:\n  tuples:\n    a│: []\n", ["acme"], ["user"]],
    ["products", "a.gw.yaml", "given:\n  subscriptions:\n    x: { product: │ }\n", ["gold"], ["ann"]],
    ["modules", "models/fga.mod", 'schema: "1.2"\ncontents:\n  - │\n', ["core.fga", "parts/other.fga"], []],
    ["keys of fga.mod", "models/fga.mod", "s│", ["schema", "contents"], []],
  ])("%s", async (_, path, text, labels, not) => {
    const found = (await proposed(path, text)).map(({ label }) => label)
    expect(found).toEqual(expect.arrayContaining(labels))
    for (const label of not) expect(found).not.toContain(label)
  })

  test("a key has its description, and is inserted with its colon", async () => {
    const found = await proposed("a.gw.yaml", "tests:\n  - na│")
    expect(found.find(({ label }) => label === "name")).toMatchObject({
      docs: "The name of the test.",
      insert: "name: ",
    })
  })
})

test("hover over a key says what it means, over a name where it is declared", async () => {
  const text =
    "model_file: models/fga.mod\ntuples:\n  - { user: user:a, rel│ation: owner, object: order:1 }\n"
  const { service, offset } = await serviceAt("a.fga.yaml", text)
  expect((await service.hover("a.fga.yaml", offset))?.markdown).toBe("The relation, as the model defines it.")
  const name = await service.hover("a.fga.yaml", text.indexOf("owner") - 1)
  expect(name?.markdown).toContain("define owner: [user, group#member]")
})

test.each([
  ["gateway.conf", conf.replace("models/fga.mod", "models/│fga.mod"), ["models/fga.mod"]],
  ["models/fga.mod", 'schema: "1.2"\ncontents:\n  - core│.fga\n', ["models/core.fga"]],
  ["models/tests/a.fga.yaml", "model_file: ../fga│.mod\n", ["models/fga.mod"]],
  ["more.conf", 'include "models/│*.fga"\n', ["models/core.fga"]],
  ["more.conf", 'include "models/│none.fga"\n', []],
])("a path in %s leads to its files", async (path, text, files) => {
  const { service, offset } = await serviceAt(path, text)
  const found = await service.definition(path, offset)
  expect(found.map(({ file, start }) => [file.path, start])).toEqual(files.map((each) => [each, 0]))
})

test("open tests of models have findings, also if no store names them", async () => {
  const text =
    "model_file: models/fga.mod\ntests:\n  - check: [{ user: user:a, object: order:1, assertions: { nope: true } }]\n"
  const { service } = await serviceAt("a.fga.yaml", text)
  const found = (await service.findings()).get("a.fga.yaml") ?? []
  expect(found.map(({ detail }) => detail).join()).toContain("nope")
})
