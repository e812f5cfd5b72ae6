import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type {
  CodeLens,
  CompletionItem,
  DocumentSymbol,
  Hover,
  InlayHint,
  Location,
  SemanticTokens,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver"
import { LspClient } from "./client.ts"

const files: Readonly<Record<string, string>> = {
  "gateway.conf": `gateway shop { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
include "apis.conf"
# Where orders are.
backend orders { url "http://127.0.0.1:9001" }
`,
  "apis.conf": `api shop {
  path    "/shop"
  auth    none
  backend orders
  GET "/orders/{id}" {
    require viewer of "order:\${path.id}" for "user:ann"
  }
}
`,
  "acme.fga": `model
  schema 1.1
type user
type order
  relations
    define owner: [user]
    define viewer: [user] or owner
`,
  "acme.fga.yaml": `model_file: acme.fga
tuples: [{ user: user:ann, relation: owner, object: order:1 }]
tests:
  - check: [{ user: user:ann, object: order:1, assertions: { owner: true } }]
`,
}

let root: string
let client: LspClient

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-lsp-")))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  // Nothing listens at the port of "discard".
  client = await LspClient.start(root, {
    ...{ SALLYPORT_CONTROL_URL: "http://127.0.0.1:9", SALLYPORT_CONTROL_TOKEN: "x".repeat(32) },
  })
})

afterAll(async () => {
  expect(await client.end()).toBe(0)
  rmSync(root, { recursive: true, force: true })
})

/** Line and column of a text in a file, from 0; `into` characters after its start. */
function at(path: string, text: string, into = 0) {
  const before = (files[path] ?? "").slice(0, (files[path] ?? "").indexOf(text) + into).split("\n")
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
}

const position = (path: string, text: string, into = 0) => ({ position: at(path, text, into) })
const codes = (path: string) => (client.findings.get(path) ?? []).map(({ code }) => code)

test("says what it offers", () => {
  expect(client.initialized.serverInfo?.name).toBe("sallyport")
  expect(client.initialized.capabilities).toMatchObject({
    hoverProvider: true,
    renameProvider: { prepareProvider: true },
  })
})

test("findings follow the text while it is typed, in every file that it concerns", async () => {
  const text = files["apis.conf"] ?? ""
  await client.open("apis.conf", text.replace("backend orders", "backend order"))
  await expect.poll(() => codes("apis.conf")).toEqual(["SP2012"])
  expect(client.findings.get("apis.conf")?.[0]).toMatchObject({
    severity: 1,
    source: "sallyport",
    message: expect.stringContaining("unknown backend `order`; did you mean `orders`?"),
    range: { start: { line: 3, character: 10 }, end: { line: 3, character: 15 } },
  })
  await client.change("apis.conf", text)
  await expect.poll(() => codes("apis.conf")).toEqual([])
  await client.open("acme.fga", (files["acme.fga"] ?? "").replace("viewer:", "reader:"))
  await expect.poll(() => codes("apis.conf").length).toBeGreaterThan(0)
  await client.close("acme.fga")
  await expect.poll(() => codes("apis.conf")).toEqual([])
})

test("a broken text has findings and answers", async () => {
  const broken = 'api shop {\n  path "/shop\n  au'
  await client.change("apis.conf", broken)
  await expect.poll(() => codes("apis.conf").length).toBeGreaterThan(0)
  const found = await client.ask<CompletionItem[]>("completion", "apis.conf", {
    position: { line: 2, character: 4 },
  })
  expect(Array.isArray(found)).toBe(true)
  await client.change("apis.conf", files["apis.conf"] ?? "")
  await expect.poll(() => codes("apis.conf")).toEqual([])
})

test("gateway tests are judged by the names of the project, with what is typed in it", async () => {
  const text = `given:
  callers: { ann: { ip: 10.0.0.1 } }
tests:
  - request: GET /shop/orders/1
    as: bob
    expect: { route: "GET /shop/orders/{id}", statuss: 200 }
`
  await client.open("shop.gw.yaml", text)
  const details = () => (client.findings.get("shop.gw.yaml") ?? []).map(({ message }) => message)
  await expect.poll(details).toHaveLength(2)
  expect(details().join()).toMatch(/no caller `bob`.*`statuss` is not a key/s)
  expect(client.findings.get("shop.gw.yaml")?.[0]?.range.start.line).toBe(4)
  await client.change("shop.gw.yaml", text.replace("bob", "ann").replace("statuss", "status"))
  await expect.poll(details).toEqual([])
  const apis = files["apis.conf"] ?? ""
  await client.change("apis.conf", apis.replace("/orders/{id}", "/order/{id}"))
  await expect.poll(() => details().join()).toContain("there is no route `GET /shop/orders/{id}`")
  await client.change("apis.conf", apis)
  await expect.poll(details).toEqual([])
  await client.close("shop.gw.yaml")
})

test("hover, definition and references, over files and languages", async () => {
  const hover = await client.ask<Hover>("hover", "apis.conf", position("apis.conf", "require"))
  expect(JSON.stringify(hover.contents)).toContain("require RELATION of")
  const name = await client.ask<Hover>("hover", "apis.conf", position("apis.conf", "backend orders", 9))
  expect(JSON.stringify(name.contents)).toContain("# Where orders are.\\nbackend orders")
  const declared = await client.ask<Location[]>(
    "definition",
    "apis.conf",
    position("apis.conf", "backend orders", 9),
  )
  expect(declared).toEqual([
    {
      uri: client.uri("gateway.conf"),
      range: expect.objectContaining({ start: at("gateway.conf", "orders {") }),
    },
  ])
  const relation = await client.ask<Location[]>(
    "definition",
    "apis.conf",
    position("apis.conf", "viewer of", 2),
  )
  expect(relation).toMatchObject([
    { uri: client.uri("acme.fga"), range: { start: at("acme.fga", "viewer:") } },
  ])
  const used = await client.ask<Location[]>("references", "acme.fga", position("acme.fga", "owner: "))
  expect(used.map(({ range }) => range.start)).toEqual([
    ...[at("acme.fga", "owner: "), at("acme.fga", "owner\n")],
    ...[at("acme.fga.yaml", "owner,"), at("acme.fga.yaml", "owner: true")],
  ])
  const without = await client.ask<Location[]>("references", "acme.fga", {
    ...position("acme.fga", "owner: "),
    context: { includeDeclaration: false },
  })
  expect(without).toEqual(used.slice(1))
})

test("completion and hover in expressions", async () => {
  const text = (files["apis.conf"] ?? "").replace("${path.id}", "${path.}")
  await client.change("apis.conf", text)
  const into = "order:${path.".length
  const names = await client.ask<CompletionItem[]>(
    "completion",
    "apis.conf",
    position("apis.conf", "order:${path.id}", into),
  )
  expect(names).toMatchObject([{ label: "id", detail: "string", textEdit: { newText: "id" } }])
  await client.change("apis.conf", files["apis.conf"] ?? "")
  const hover = await client.ask<Hover>(
    "hover",
    "apis.conf",
    position("apis.conf", "order:${path.id}", into + 1),
  )
  expect(JSON.stringify(hover.contents)).toContain("path.id: string")
})

test("inlay hints, lenses and semantic tokens", async () => {
  const whole = { range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } } }
  const hints = await client.ask<InlayHint[]>("inlayHint", "apis.conf", whole)
  expect(hints).toMatchObject([
    {
      position: at("apis.conf", " {\n    require"),
      label: [{ value: "auth none" }, { value: " · backend orders" }],
    },
  ])
  const lenses = await client.ask<CodeLens[]>("codeLens", "apis.conf")
  expect(lenses.map(({ command }) => command?.title)).toEqual([
    'Callers: anyone, who is viewer of "order:${path.id}" for "user:ann"',
  ])
  const tokenTypes: readonly string[] =
    client.initialized.capabilities.semanticTokensProvider?.legend.tokenTypes ?? []
  const { data } = await client.ask<SemanticTokens>("semanticTokens/full", "apis.conf")
  const kinds = Array.from({ length: data.length / 5 }, (_, index) => tokenTypes[data[index * 5 + 3] ?? -1])
  expect(kinds.slice(0, 4)).toEqual(["keyword", "namespace", "keyword", "string"])
  // `shop` is declared: one column after `api `, on the same line.
  expect(data.slice(5, 10)).toEqual([0, 4, 4, tokenTypes.indexOf("namespace"), 1])
})

test("the requests that a place is about, with the first file of the project", async () => {
  expect(client.initialized.capabilities.experimental).toEqual({ requests: true })
  expect(await client.requests("apis.conf", position("apis.conf", "require"))).toEqual({
    config: client.uri("gateway.conf"),
    requests: [{ method: "GET", path: "/shop/orders/{id}" }],
  })
  expect(await client.requests("../elsewhere/gateway.conf", position("apis.conf", "require"))).toBeNull()
})

test("an assertion is asked of a running engine when it is clicked, and without one the lens says so", async () => {
  const lenses = () => client.ask<CodeLens[]>("codeLens", "acme.fga.yaml")
  const [lens, ...others] = await lenses()
  expect(others).toEqual([])
  expect(lens?.range.start).toEqual(at("acme.fga.yaml", "owner: true"))
  expect(lens?.command?.title).toBe("Ask the running engine: owner")
  const question = { kind: "check", user: "user:ann", relation: "owner", object: "order:1", context: {} }
  expect(lens?.command?.arguments).toEqual([question])
  expect(await client.click(lens as CodeLens)).toMatch(/^no answer: /)
  expect((await lenses())[0]?.command?.title).toMatch(/^Running engine, owner: no answer: .*127\.0\.0\.1:9/)
})

test("completion, rename, outline, format", async () => {
  const text = (files["apis.conf"] ?? "").replace("backend orders", "backend ")
  await client.change("apis.conf", text)
  const names = await client.ask<CompletionItem[]>(
    "completion",
    "apis.conf",
    position("apis.conf", "backend orders", 8),
  )
  expect(names.map(({ label }) => label)).toContain("orders")
  await client.change("apis.conf", files["apis.conf"] ?? "")
  const keywords = await client.ask<CompletionItem[]>(
    "completion",
    "apis.conf",
    position("apis.conf", "auth    none", 1),
  )
  expect(keywords.find(({ label }) => label === "auth")?.documentation).toBeDefined()
  expect(await client.ask("prepareRename", "apis.conf", position("apis.conf", "backend orders", 9))).toEqual({
    start: at("apis.conf", "backend orders", 8),
    end: at("apis.conf", "backend orders", 14),
  })
  expect(
    await client.ask("prepareRename", "apis.conf", position("apis.conf", "backend orders", 2)),
  ).toBeNull()
  const renamed = await client.ask<WorkspaceEdit>("rename", "apis.conf", {
    ...position("apis.conf", "backend orders", 9),
    newName: "sales",
  })
  expect(Object.entries(renamed.changes ?? {}).map(([uri, edits]) => [uri, edits.length])).toEqual(
    expect.arrayContaining([
      [client.uri("gateway.conf"), 1],
      [client.uri("apis.conf"), 1],
    ]),
  )
  const relation = await client.ask<WorkspaceEdit>("rename", "acme.fga", {
    ...position("acme.fga", "owner: "),
    newName: "keeper",
  })
  expect(relation.changes?.[client.uri("acme.fga.yaml")]).toHaveLength(2)
  await expect(
    client.ask("rename", "apis.conf", { ...position("apis.conf", "backend orders", 9), newName: "a b" }),
  ).rejects.toThrow("not a valid name")
  const outline = await client.ask<DocumentSymbol[]>("documentSymbol", "acme.fga")
  expect(outline.map(({ name, children }) => [name, children?.map((each) => each.name)])).toEqual([
    ["user", []],
    ["order", ["owner", "viewer"]],
  ])
  await client.change("apis.conf", (files["apis.conf"] ?? "").replace("  auth    none", "      auth none"))
  const edits = await client.ask<TextEdit[]>("formatting", "apis.conf", {
    options: { tabSize: 2, insertSpaces: true },
  })
  expect(edits[0]?.newText).toBe(files["apis.conf"])
})
