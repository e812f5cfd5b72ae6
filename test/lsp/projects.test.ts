import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type {
  CompletionItem,
  DocumentSymbol,
  FoldingRange,
  Hover,
  Location,
  TextEdit,
} from "vscode-languageserver"
import { LspClient } from "./client.ts"

const gateway = (name: string, include: string) => `gateway ${name} { listen 127.0.0.1:8000 }
include "${include}"
backend orders { url "http://127.0.0.1:9001" }
`
const api = (name: string, backend: string) => `api ${name} {
  path    "/${name}"
  auth    none
  backend ${backend}
  GET "/"
}
`
const files: Readonly<Record<string, string>> = {
  "shop/gateway.conf": gateway("shop", "pay/shared.conf"),
  "shop/pay/shared.conf": api("shared", "orders"),
  "shop/pay/gateway.conf": gateway("pay", "apis/*.conf"),
  "shop/pay/apis/cards.conf": api("cards", "order"),
  "shop/later/apis.conf": api("later", "order"),
  "shop/nginx.conf": "server {\n        listen 80;\n}\n",
  "other/gateway.conf": gateway("other", "apis.conf"),
  "other/apis.conf": api("other", "order"),
}

let top: string
let client: LspClient

function write(path: string, text: string): void {
  mkdirSync(dirname(join(top, path)), { recursive: true })
  writeFileSync(join(top, path), text)
}

beforeAll(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-projects-")))
  for (const [path, text] of Object.entries(files)) write(path, text)
  client = await LspClient.start(join(top, "shop"))
})

afterAll(async () => {
  expect(await client.end()).toBe(0)
  rmSync(top, { recursive: true, force: true })
})

const open = (path: string, language?: string) => client.open(path, files[join("shop", path)] ?? "", language)
const codes = (path: string) => client.findings.get(path)?.map(({ code }) => code)
const backendAt = { position: { line: 3, character: 12 } }
const definitions = async (path: string) =>
  (await client.ask<Location[]>("definition", path, backendAt)).map(({ uri }) => uri)
const format = { options: { tabSize: 2, insertSpaces: true } }

test("a gateway.conf in a folder inside is a project of its own while its files are open", async () => {
  expect(codes("pay/apis/cards.conf")).toBeUndefined()
  await open("pay/apis/cards.conf")
  await expect.poll(() => codes("pay/apis/cards.conf")).toEqual(["SP2012"])
  await client.change("pay/apis/cards.conf", api("cards", "orders"))
  await expect.poll(() => codes("pay/apis/cards.conf")).toEqual([])
  expect(await definitions("pay/apis/cards.conf")).toEqual([client.uri("pay/gateway.conf")])
  await client.change("pay/apis/cards.conf", api("cards", "order"))
  await expect.poll(() => codes("pay/apis/cards.conf")).toEqual(["SP2012"])
  await client.close("pay/apis/cards.conf")
  await expect.poll(() => codes("pay/apis/cards.conf")).toEqual([])
})

test("a file belongs to the project that includes it, also below another gateway.conf", async () => {
  await open("pay/gateway.conf")
  await open("pay/shared.conf", "properties")
  expect(await definitions("pay/shared.conf")).toEqual([client.uri("gateway.conf")])
  await client.change("pay/shared.conf", api("shared", "order"))
  await expect.poll(() => codes("pay/shared.conf")).toEqual(["SP2012"])
  await client.close("pay/shared.conf")
  await client.close("pay/gateway.conf")
  await expect.poll(() => codes("pay/shared.conf")).toEqual([])
})

test("a gateway.conf that comes while a file of its folder is open begins a project, and ends it when it goes", async () => {
  await open("later/apis.conf", "properties")
  expect(await definitions("later/apis.conf")).toEqual([])
  write("shop/later/gateway.conf", gateway("later", "apis.conf"))
  await client.stored("later/gateway.conf")
  await expect.poll(() => codes("later/apis.conf")).toEqual(["SP2012"])
  rmSync(join(top, "shop/later/gateway.conf"))
  await client.stored("later/gateway.conf")
  await expect.poll(() => codes("later/apis.conf")).toEqual([])
  await client.close("later/apis.conf")
})

test("files *.conf of other programs are left alone", async () => {
  await open("nginx.conf", "properties")
  expect(await client.ask<DocumentSymbol[]>("documentSymbol", "nginx.conf")).toEqual([])
  expect(await client.ask<TextEdit[]>("formatting", "nginx.conf", format)).toEqual([])
  await client.close("nginx.conf")
  // An editor that takes it for gateway.conf gets answers.
  await client.open("new.conf", "backend orders {}\n")
  expect(await client.ask<DocumentSymbol[]>("documentSymbol", "new.conf")).toHaveLength(1)
})

test("a gateway.NAME.conf is the first file of a project of its own, unless another includes it", async () => {
  const text = gateway("staging", "pay/shared.conf")
  await open("pay/shared.conf", "properties")
  await client.open("gateway.staging.conf", text.replace("backend orders { url", "backend sales { urll"))
  await expect.poll(() => codes("gateway.staging.conf")).toEqual(["SP2001"])
  await expect.poll(() => codes("pay/shared.conf")).toEqual(["SP2012"])
  await client.change("gateway.staging.conf", text)
  await expect.poll(() => codes("gateway.staging.conf")).toEqual([])
  expect(codes("pay/shared.conf")).toEqual([])
  // Both have the file: the first one of the folder answers.
  expect(await definitions("pay/shared.conf")).toEqual([client.uri("gateway.conf")])
  await client.change("gateway.staging.conf", api("shared", "orders"))
  await expect.poll(() => codes("gateway.staging.conf")?.length).toBeGreaterThan(0)
  const including = files["shop/gateway.conf"]?.replace("pay/shared", "gateway.staging") ?? ""
  await client.open("gateway.conf", including)
  await expect.poll(() => codes("gateway.staging.conf")).toEqual([])
  for (const path of ["gateway.staging.conf", "gateway.conf", "pay/shared.conf"]) await client.close(path)
})

test("a file that no other includes yet has proposals and documentation", async () => {
  await client.open("extra.conf", "backend new {\n  \n}\n")
  const found = await client.ask<CompletionItem[]>("completion", "extra.conf", {
    position: { line: 1, character: 2 },
  })
  expect(found.map(({ label }) => label)).toContain("health")
  const hover = await client.ask<Hover>("hover", "extra.conf", { position: { line: 0, character: 2 } })
  expect(JSON.stringify(hover)).toContain("backend NAME")
  await client.close("extra.conf")
})

test("only models and gateway.conf are formatted, where the editor can be told so", async () => {
  const other = await LspClient.start(join(top, "other"), {}, { formatting: { dynamicRegistration: true } })
  expect(other.initialized.capabilities.documentFormattingProvider).toBe(false)
  await expect.poll(() => other.registered).toHaveLength(1)
  expect(JSON.stringify(other.registered)).toContain(`${join(top, "other")}/**/*.fga`)
  expect(await other.end()).toBe(0)
  expect(client.initialized.capabilities.documentFormattingProvider).toBe(true)
})

test("a model folds by its types; YAML is left to the editor", async () => {
  const ranges = (path: string) => client.ask<FoldingRange[] | null>("foldingRange", path)
  await client.open(
    "a.fga",
    "model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define a: [user]\n",
    "fga",
  )
  expect(await ranges("a.fga")).toEqual([{ startLine: 3, endLine: 5 }])
  await client.open("a.gw.yaml", "tests:\n  - name: a\n", "yaml")
  expect(await ranges("a.gw.yaml")).toBeNull()
  for (const path of ["a.fga", "a.gw.yaml"]) await client.close(path)
})

test("a folder that the editor adds is a project until it is removed", async () => {
  await client.folder("added", "../other")
  await expect.poll(() => codes("../other/apis.conf")).toEqual(["SP2012"])
  await client.folder("removed", "../other")
  await expect.poll(() => codes("../other/apis.conf")).toEqual([])
})

test("a folder without gateway.conf has no finding that it is missing", async () => {
  write("models/acme.fga", "model\n  schema 1.1\ntype user\n  relations\n    define a: b\n")
  await client.folder("added", "../models")
  await client.open(
    "../models/acme.fga",
    "model\n  schema 1.1\ntype user\n  relations\n    define a: b\n",
    "fga",
  )
  await expect.poll(() => codes("../models/acme.fga")?.length).toBeGreaterThan(0)
  expect(codes("../models/gateway.conf")).toBeUndefined()
  await client.folder("removed", "../models")
  await expect.poll(() => codes("../models/acme.fga")).toEqual([])
})
