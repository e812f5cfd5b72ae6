import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `gateway shop { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
value region = "eu"
secret key = env("KEY")
issuer staff { discovery "https://id.example/.well-known/openid-configuration"; audience a }
backend orders { url "http://127.0.0.1:9001" }
policy shared { inbound { header set "X-A" "1" } }
api shop {
  path "/shop"
  auth jwt staff
  backend orders
  use shared
  inbound { set tenant (jwt.tenant); header set "X-Region" "\${region}" }
  GET "/orders/{id}" {
    require viewer of "order:\${path.id}" for "user:\${jwt.sub}"
  }
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
    define parent: [group]
    define owner: [user, group#member with inside]
    define viewer: [user] or owner or member from parent
condition inside(ip: ipaddress) {
  ip.in_cidr("10.0.0.0/8")
}
`

/** The labels that are proposed where `│` stands. */
async function proposed(path: string, text: string): Promise<string[]> {
  const offset = text.indexOf("│")
  const service = new LanguageService(
    new MemoryFiles([
      ["gateway.conf", conf],
      ["acme.fga", model],
    ]),
    "gateway.conf",
  )
  service.set(path, text.replace("│", ""))
  return (await service.completion(path, offset)).map(({ label }) => label)
}

/** The text with this part replaced. */
function written(text: string, part: string, by: string): string {
  expect(text).toContain(part)
  return text.replace(part, by)
}

describe("in gateway.conf", () => {
  test.each<[what: string, part: string, by: string, labels: string[], not: string[]]>([
    [
      "statements of a file",
      "value region",
      "v│\nvalue region",
      ["value", "backend", "api"],
      ["GET", "owner"],
    ],
    ["statements of a block", "auth jwt staff", "a│", ["auth", "limit", "GET"], ["issuer", "path"]],
    ["words that may follow", "auth jwt staff", "auth │", ["jwt", "none", "subscription"], ["auth"]],
    ["a declared name of the kind", "auth jwt staff", "auth jwt │", ["staff"], ["orders", "shared"]],
    ["a backend", "  backend orders\n", "  backend │\n", ["orders"], ["staff", "region"]],
    ["a policy", "use shared\n", "use s│\n", ["shared"], ["orders"]],
    ["a relation", "require viewer", "require │", ["viewer", "owner", "any"], ["orders"]],
    ["a value in an expression", '"${region}"', '"${r│}"', ["region", "request", "jwt"], ["key", "orders"]],
    ["nothing in a comment", "value region", "# a │\nvalue region", [], ["value"]],
    [
      "members of an object",
      '"${region}"',
      '"${request.│}"',
      ["ip", "header", "cookie"],
      ["region", "status"],
    ],
    ["members of a text", '"${region}"', '"${request.ip.st│ + 1}"', ["startsWith", "size"], ["ip", "hex"]],
    ["a member in a broken expression", '"${region}"', '"${1 + + request.│}"', ["ip", "header"], ["region"]],
    ["path parameters", "order:${path.id}", "order:${path.│}", ["id"], ["ip", "region"]],
    ["claims that the project uses", "user:${jwt.sub}", "user:${jwt.│}", ["tenant"], ["ip"]],
    ["a variable of a loop", '"${region}"', '"${[1].all(each, e│)}"', ["each", "request"], []],
    ["functions of a library", '"${region}"', '"${math.│}"', ["abs", "greatest"], ["request"]],
    ["headers in an expression", '"${region}"', '"${request.header("X│")}"', ["X-Region", "X-A"], ["ip"]],
    ["headers in quotes", 'header set "X-Region"', 'header set "X│"', ["X-A"], ["region"]],
    ["headers without quotes", 'header set "X-Region" "${region}"', "header set │", ["X-A"], []],
    ["keys of a limit", "use shared", "limit 5 per 1m by │", ["ip", "subscription", "jwt.tenant"], []],
    ["no response before it", '"${region}"', '"${r│}"', ["request"], ["response"]],
    ["variables set before", '"${region}"', '"${var.│}"', ["tenant"], ["ip"]],
    ["relations of the object", "require viewer of", "require │ of", ["viewer", "owner", "any"], ["member"]],
    [
      "objects of the types that have the relation",
      'of "order:${path.id}"',
      'of "│"',
      ["order:${path.id}", "order:"],
      ["group:", "user:"],
    ],
    ["an object in its quotes", 'of "order:${path.id}"', "of │", ["order:${path.id}"], ["region", "key"]],
    ["users of the relation", 'for "user:${jwt.sub}"', "for │", ["user:${jwt.sub}"], ["region", "group:"]],
    [
      "what is inherited, after `without`",
      "require viewer",
      "without │\n    require viewer",
      ["auth"],
      ["limit"],
    ],
    ["policies in use, after `without`", "require viewer", "without │\n    require viewer", ["shared"], []],
    ["other versions", "  use shared\n", "  version a { successor │ }\n  version b\n", ["b"], ["a"]],
    ["what is read from outside", 'env("KEY")', "│", ["env", "file"], ["region"]],
    ["`=` after a name", '= env("KEY")', "│", ["="], []],
    ["a keyword for no limit", "  use shared\n", "  timeout │\n", ["none"], []],
    [
      "`else` after `when`",
      "set tenant",
      "when (true) { } │\n set tenant",
      ["else", "else when"],
      ["header"],
    ],
    ["no statement twice", "  use shared\n", "  │\n", ["use", "auth", "GET"], ["path"]],
    ["values only, where no request is", '"eu"', '"${│}"', ["region"], ["request", "jwt"]],
    [
      "no secret that callers would see",
      "inbound { set",
      'outbound { header set "X-B" │ }\n  inbound { set',
      ["region"],
      ["key"],
    ],
    ["an expression without its end", "order:${path.id}", "order:${path.│", ["id"], ["region", "key"]],
    [
      "an expression and a text without their ends",
      'order:${path.id}" for "user:${jwt.sub}"',
      "order:${path.│",
      ["id"],
      ["region"],
    ],
    [
      "a header in a text without its end",
      'header set "X-Region" "${region}"',
      'header set "│',
      ["X-A"],
      ["region"],
    ],
    [
      "an expression without its end in a heredoc",
      '"${region}"',
      "<<END\n${request.│\nEND\n",
      ["ip"],
      ["region"],
    ],
    ["no header of another statement", "use shared", 'use shared; header set "│', [], ["X-A"]],
    ["nothing behind an expression", '"${region}"', '"${region}-│"', [], []],
    ["nothing in a heredoc", '"${region}"', "<<END\n│\nEND\n", [], []],
    ["nothing directly behind a text", 'path "/shop"', 'path "/shop"│', [], []],
    ["nothing in the default of a variable", 'env("KEY")', 'env(KEY, "│")', [], []],
    ["no mark of a heredoc", '"${region}"', "<<│\n", [], []],
    [
      "a section of a block with a mistake",
      'inbound { set tenant (jwt.tenant); header set "X-Region" "${region}" }',
      'outbound { header set X "${r│}" }',
      ["response"],
      ["error"],
    ],
  ])("%s", async (_, part, by, labels, not) => {
    const found = await proposed("gateway.conf", written(conf, part, by))
    expect(found).toEqual(expect.arrayContaining(labels))
    for (const label of not) expect(found).not.toContain(label)
    if (labels.length === 0) expect(found).toEqual([])
  })
})

describe("in a model", () => {
  test.each<[what: string, part: string, by: string, labels: string[], not: string[]]>([
    [
      "types in a list",
      "define parent: [group]",
      "define parent: [│]",
      ["user", "group", "order"],
      ["member"],
    ],
    ["relations of a set", "group#member with", "group#│ with", ["member"], ["viewer", "user"]],
    ["conditions", "with inside", "with │", ["inside"], ["user"]],
    ["relations of the type", "or owner or", "or o│ or", ["owner", "parent"], ["user", "viewer"]],
    ["relations of a parent", "or owner or", "or │ or", ["member from parent"], ["member"]],
    ["what to read from", "from parent", "from │", ["parent"], ["member", "owner"]],
    ["keywords of a line", "type group", "t│\ntype group", ["type", "condition"], ["user", "schema"]],
    [
      "keywords in a type",
      "    define owner",
      "    │\n    define owner",
      ["define"],
      ["relations", "schema"],
    ],
    ["the list after a type", "group#member with", "group#member │", ["with"], ["user"]],
    ["the second half of a keyword", "or owner or", "but │ or", ["not"], ["but not"]],
    ["versions of the language", "schema 1.1", "schema │", ["1.1", "1.2"], []],
    ["types of parameters", "ip: ipaddress", "ip: │", ["ipaddress", "timestamp"], ["user"]],
    [
      "parameters of a condition",
      'ip.in_cidr("10.0.0.0/8")',
      "│",
      ["ip", "duration"],
      ["define", "relations"],
    ],
    ["members of a parameter", 'in_cidr("10.0.0.0/8")', "│", ["in_cidr"], ["ip"]],
  ])("%s", async (_, part, by, labels, not) => {
    const found = await proposed("acme.fga", written(model, part, by))
    expect(found).toEqual(expect.arrayContaining(labels))
    for (const label of not) expect(found).not.toContain(label)
  })

  test("the header in an empty file", async () => {
    expect(await proposed("acme.fga", "│")).toEqual(["model", "module"])
    expect(await proposed("acme.fga", "model\n  │\n")).toEqual(["schema"])
  })
})

describe("renaming", () => {
  const service = () =>
    new LanguageService(
      new MemoryFiles([
        ["gateway.conf", conf],
        ["acme.fga", model],
      ]),
      "gateway.conf",
    )
  const rename = async (path: string, text: string, part: string, to: string) => {
    const renaming = await service().rename(path, text.indexOf(part), to)
    return "problem" in renaming
      ? renaming.problem
      : renaming.edits.map(({ span }) => `${span.file.path}:${span.file.position(span.start).line}`).sort()
  }

  test.each<[what: string, path: string, part: string, to: string, expected: string[] | string]>([
    [
      "a relation, in the model and in gateway.conf",
      "acme.fga",
      "viewer:",
      "reader",
      ["acme.fga:11", "gateway.conf:15"],
    ],
    ["a value, in expressions", "gateway.conf", "region =", "area", ["gateway.conf:13", "gateway.conf:3"]],
    ["a type", "acme.fga", "group\n", "team", ["acme.fga:10", "acme.fga:4", "acme.fga:9"]],
    ["to a name that exists", "acme.fga", "viewer:", "owner", "relation order#owner exists already"],
    ["to no name", "acme.fga", "viewer:", "a b", "`a b` is not a valid name"],
    ["of no name", "acme.fga", "schema", "x", "there is no declared name here"],
  ])("%s", async (_, path, part, to, expected) => {
    expect(await rename(path, path === "acme.fga" ? model : conf, part, to)).toEqual(expected)
  })
})
