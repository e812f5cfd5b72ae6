import { expect, test } from "vitest"
import type { TextEdit } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { readGatewayTests } from "../../compiler/gateway-test/test-file.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `gateway shop { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8081; store acme { model "models/acme.fga"; tests "models/acme.fga.yaml" } }
backend orders { url "http://127.0.0.1:9001" }
api shop {
  path "/shop"
  auth none
  backend orders
  GET "/orders/{id}" { require viewer of "order:\${path.id}" for "user:ann" }
}
`
const model = `model
  schema 1.1
type user
type group
  relations
    define member: [user]
type order
  relations
    define owner: [user, group#member]
    define viewer: owner
`
const storeTests = `model_file: acme.fga
tuple_file: more.yaml
tuples:
  - { user: user:ann, relation: owner, object: "order:1" }
  - { user: "group:eng#member", relation: owner, object: order:2 }
tests:
  - name: viewer of an order
    check:
      - user: user:ann
        object: order:1
        assertions: { owner: true, viewer: true }
    list_objects:
      - user: user:ann
        type: order
        assertions: { viewer: [order:1] }
    list_users:
      - object: order:1
        user_filter: [{ type: user }]
        assertions:
          viewer: { users: [user:ann] }
      - object: order:2
        user_filter: [{ type: group, relation: member }]
        assertions: { owner: { users: ["group:eng#member"] } }
`
const more = `- { user: user:bob, relation: member, object: group:eng }
`
const gatewayTests = `given:
  tuples: [{ user: user:ann, relation: owner, object: order:7 }]
tests:
  - name: she reads
    request: GET /shop/orders/7
    expect: { status: 200 }
`
const other = `model: |
  model
    schema 1.1
  type user
  type order
    relations
      define owner: [user]
tests:
  - name: a project of its own
    check: [{ user: user:a, object: order:1, assertions: { owner: false } }]
`

const original: Readonly<Record<string, string>> = {
  "gateway.conf": conf,
  "models/acme.fga": model,
  "models/acme.fga.yaml": storeTests,
  "models/more.yaml": more,
  "tests/shop.gw.yaml": gatewayTests,
  "other/own.fga.yaml": other,
}

function serviceOf(files: Readonly<Record<string, string>>): LanguageService {
  return new LanguageService(new MemoryFiles(Object.entries(files)), "gateway.conf")
}

async function renamed(files: Readonly<Record<string, string>>, path: string, offset: number, to: string) {
  const renaming = await serviceOf(files).rename(path, offset, to)
  if ("problem" in renaming) return renaming.problem
  const texts = { ...files }
  for (const path of new Set(renaming.edits.map(({ span }) => span.file.path)))
    texts[path] = applied(
      files[path] ?? "",
      renaming.edits.filter(({ span }) => span.file.path === path),
    )
  return texts
}

function applied(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((a, b) => b.span.start - a.span.start)
    .reduce((all, { span, text: by }) => all.slice(0, span.start) + by + all.slice(span.end), text)
}

const errorsOf = async (files: Readonly<Record<string, string>>) =>
  [...(await serviceOf(files).findings()).values()].flat().filter(({ severity }) => severity === "error")

test("a relation is renamed in the model, in `require`, in tests of models and of the gateway, and in files of tuples", async () => {
  expect(await errorsOf(original)).toEqual([])
  const owner = await renamed(original, "models/acme.fga", model.indexOf("owner"), "keeper")
  expect(owner).toEqual({
    ...original,
    "models/acme.fga": model.replaceAll("owner", "keeper"),
    "models/acme.fga.yaml": storeTests.replaceAll("owner", "keeper"),
    "tests/shop.gw.yaml": gatewayTests.replaceAll("owner", "keeper"),
  })
  const viewer = await renamed(original, "gateway.conf", conf.indexOf("viewer"), "reader")
  expect(viewer).toEqual({
    ...original,
    "gateway.conf": conf.replace("viewer", "reader"),
    "models/acme.fga": model.replace("viewer", "reader"),
    "models/acme.fga.yaml": storeTests.replaceAll("viewer:", "reader:"),
  })
  const member = await renamed(original, "models/acme.fga", model.indexOf("member"), "part")
  expect(member).toEqual({
    ...original,
    "models/acme.fga": model.replaceAll("member", "part"),
    "models/acme.fga.yaml": storeTests.replaceAll("member", "part"),
    "models/more.yaml": more.replace("member", "part"),
  })
})

test("a name is found and renamed from a test", async () => {
  const at = storeTests.indexOf("owner: true")
  const found = await serviceOf(original).definition("models/acme.fga.yaml", at)
  expect(found.map(({ file, start }) => [file.path, start])).toEqual([
    ["models/acme.fga", model.indexOf("owner")],
  ])
  const hover = await serviceOf(original).hover("models/acme.fga.yaml", at)
  expect(hover?.markdown).toContain("define owner: [user, group#member]")
  const texts = await renamed(original, "tests/shop.gw.yaml", gatewayTests.indexOf("owner"), "keeper")
  expect(texts).toMatchObject({ "models/acme.fga": model.replaceAll("owner", "keeper") })
})

test("types are renamed in objects and users", async () => {
  const texts = await renamed(original, "models/acme.fga", model.indexOf("group"), "team")
  expect(texts).toMatchObject({
    "models/acme.fga.yaml": storeTests.replaceAll("group:", "team:").replace("type: group", "type: team"),
    "models/more.yaml": more.replace("group:", "team:"),
  })
})

test("a type is renamed in the objects and users of gateway.conf", async () => {
  expect(await renamed(original, "models/acme.fga", model.indexOf("order"), "sale")).toMatchObject({
    "gateway.conf": conf.replace('"order:', '"sale:'),
    "models/acme.fga": model.replace("type order", "type sale"),
    "tests/shop.gw.yaml": gatewayTests.replace("order:7", "sale:7"),
  })
  expect(await renamed(original, "gateway.conf", conf.indexOf("user:ann"), "person")).toMatchObject({
    "gateway.conf": conf.replace("user:ann", "person:ann"),
    "models/acme.fga": model.replaceAll("user", "person"),
  })
})

// Data keep their texts, and so do names of callers.
test.each<[what: string, declaration: string, to: string, changes: [string, string][]]>([
  [
    "a backend",
    "backend orders",
    "sales",
    [
      ["backends: { orders: { json", "backends: { sales: { json"],
      ["backends: { orders: { path", "backends: { sales: { path"],
    ],
  ],
  [
    "a subscription",
    "subscription team",
    "crew",
    [
      ["callers: { team: { subscription: team }", "callers: { team: { subscription: crew }"],
      ['as: { subscription: "team" }', 'as: { subscription: "crew" }'],
    ],
  ],
  ["a product", "product paid", "gold", [["product: paid", "product: gold"]]],
  ["a store", "store acme", "main", [["acme: [", "main: ["]]],
])("%s is renamed in tests of the gateway", async (_, declaration, to, changes) => {
  const tests = `given:
  tuples: { acme: [{ user: user:ann, relation: owner, object: order:7 }] }
  subscriptions: { own: { product: paid } }
  callers: { team: { subscription: team }, own: { subscription: own } }
  backends: { orders: { json: { orders: 1, subscription: team } } }
tests:
  - request: GET /shop/orders/7
    as: { subscription: "team" }
    expect: { status: 200, backends: { orders: { path: /orders/7 } } }
`
  const text = `${conf.replace("auth none", "auth subscription")}
secret team_key = env(KEY)
product paid { apis shop }
subscription team { product paid; key team_key }
`
  const files = { ...original, "gateway.conf": text, "tests/shop.gw.yaml": tests }
  expect(await errorsOf(files)).toEqual([])
  const at = text.indexOf(declaration) + declaration.indexOf(" ") + 1
  const expected = changes.reduce((all, [from, by]) => all.replace(from, by), tests)
  expect(await renamed(files, "gateway.conf", at, to)).toMatchObject({ "tests/shop.gw.yaml": expected })
})

test("names are renamed in policy documents, but not ids that gateway.conf maps", async () => {
  const policy = (value: string, backend: string) => `<policies>
  <inbound>
    <!-- {{auth-url}} -->
    <set-header name="X-A"><value>{{${value}}} {{mapped}}</value></set-header>
    <set-backend-service backend-id="${backend}" />
  </inbound>
</policies>
`
  const files = {
    ...original,
    "gateway.conf": `${conf.replace("auth none", 'auth none\n  policy xml "a.xml"')}
value auth_url = "x"
value other = "y"
xml { value "mapped" other }
`,
    "a.xml": policy("auth-url", "orders"),
  }
  expect(await errorsOf(files)).toEqual([])
  const text = files["gateway.conf"]
  const rename = (name: string) => renamed(files, "gateway.conf", text.indexOf(name), "renamed")
  expect(await rename("auth_url")).toMatchObject({ "a.xml": policy("renamed", "orders") })
  expect(await rename("orders {")).toMatchObject({ "a.xml": policy("auth-url", "renamed") })
  expect(await rename("other")).toMatchObject({ "a.xml": files["a.xml"] })
  const place = files["a.xml"].indexOf("{{auth-url}}", 60)
  const [found] = await serviceOf(files).definition("a.xml", place + 3)
  expect(found?.start).toBe(text.indexOf("auth_url"))
})

test("renaming is refused where a test of the gateway would have a mistake afterwards", async () => {
  const files = {
    ...original,
    "tests/shop.gw.yaml": `tests:
  - each: [{ caller: team }]
    request: GET /shop/orders/7
    as: { subscription: "\${caller}" }
    expect: { status: 200 }
`,
    "gateway.conf": `${conf}
secret team_key = env(KEY)
subscription team { api shop; key team_key }
`,
  }
  const service = new LanguageService(
    new MemoryFiles(Object.entries(files)),
    "gateway.conf",
    async (file, report, projectOf) => {
      await readGatewayTests(file, report, async (_, named, at) => {
        const project = await projectOf(named, at)
        return project && { ...project, folder: "." }
      })
    },
  )
  const at = files["gateway.conf"].indexOf("subscription team") + "subscription ".length
  expect(await service.rename("gateway.conf", at, "crew")).toEqual({
    problem: expect.stringMatching(/there is no subscription `team`.*tests\/shop\.gw\.yaml:4/),
  })
})

test.each([
  [
    "more.csv",
    `user_type,user_id,user_relation,relation,object_type,object_id
user,bob,,owner,order,9
"group",eng,member,"owner",order,owner
`,
    (text: string) => text.replaceAll(",owner,", ",keeper,").replace('"owner"', '"keeper"'),
  ],
  [
    "more.jsonl",
    `{"user":"user:bob","relation":"owner","object":"order:owner"}
{"user":"group:eng#member","relation":"owner","object":"order:9"}
`,
    (text: string) => text.replaceAll('"owner"', '"keeper"'),
  ],
])("a relation and a type are renamed in the tuples of %s", async (name, tuples, keeper) => {
  const files = {
    ...original,
    "models/acme.fga.yaml": storeTests.replace("more.yaml", name),
    [`models/${name}`]: tuples,
  }
  expect(await errorsOf(files)).toEqual([])
  const owner = await renamed(files, "models/acme.fga", model.indexOf("owner"), "keeper")
  expect(owner).toMatchObject({ [`models/${name}`]: keeper(tuples) })
  const group = await renamed(files, `models/${name}`, tuples.indexOf("group"), "team")
  expect(group).toMatchObject({
    [`models/${name}`]: tuples.replace("group", "team"),
    "models/acme.fga": model.replaceAll("group", "team"),
  })
})

test("renaming is refused while a test has a mistake of YAML, which hides names", async () => {
  const files = { ...original, "tests/shop.gw.yaml": `${gatewayTests}  - name: [\n` }
  const problem = "tests/shop.gw.yaml has a mistake that hides its names"
  expect(await renamed(files, "models/acme.fga", model.indexOf("owner"), "keeper")).toContain(problem)
  expect(await renamed(files, "gateway.conf", conf.indexOf("orders"), "sales")).toContain(problem)
})

test.each([
  [
    "a text with escapes has the name",
    { "models/acme.fga.yaml": storeTests.replace("relation: owner", 'relation: "own\\x65r"') },
    "models/acme.fga.yaml has a mistake that hides its names, or has the name in a form that cannot be renamed",
  ],
  [
    "a name in a table has escapes",
    {
      "models/acme.fga.yaml": storeTests.replace("more.yaml", "more.jsonl"),
      "models/more.jsonl": '{"user":"user:bob","relation":"own\\u0065r","object":"order:9"}\n',
    },
    "models/more.jsonl has a mistake that hides its names, or has the name in a form that cannot be renamed",
  ],
])("renaming is refused when %s", async (_, changed, problem) => {
  const files = { ...original, ...changed }
  expect(await errorsOf(files)).toEqual([])
  expect(await renamed(files, "models/acme.fga", model.indexOf("owner"), "keeper")).toContain(problem)
})
