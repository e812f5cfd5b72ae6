// The packed extension in VS Code as a person uses it. VS Code is served by code-server to Chromium: `npm install code-server@4.100.3` in a folder
// of its own, and its `node_modules/.bin` in PATH or `CODE_SERVER_BIN=/path/to/code-server`. Without it the tests are skipped and listed at the end.
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { missingVsCode, VsCode } from "../support/vs-code.ts"

const missing = missingVsCode()

let top: string
let code: VsCode
let copies = 0

/** A fresh copy of an example in a folder of its own, with the program where a project has it installed. */
function project(example: string, more: Readonly<Record<string, string>> = {}): string {
  copies += 1
  const folder = join(top, `${example}-${copies}`)
  cpSync(join(projectRoot, "models/examples", example), folder, { recursive: true })
  for (const [path, text] of Object.entries(more)) writeFileSync(join(folder, path), text)
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true })
  const program = join(folder, "node_modules/.bin/sallyport")
  writeFileSync(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${projectRoot}compiler/cli/sallyport.mjs" "$@"\n`,
  )
  chmodSync(program, 0o755)
  return folder
}

const modular = {
  "fga.mod": 'schema: "1.2"\ncontents:\n  - core.fga\n  - teams.fga\n',
  "core.fga": "module core\ntype user\n",
  "teams.fga": "module teams\ntype team\n  relations\n    define member: [user]\n    define all: member\n",
  "gateway.conf":
    'gateway teams { listen 127.0.0.1:8010 }\nauthz { listen 127.0.0.1:8090; store teams { model "fga.mod" } }\n',
}

beforeAll(async () => {
  if (missing !== undefined) return
  top = mkdtempSync(join(tmpdir(), "sallyport-vscode-"))
  const packed = execFileSync(process.execPath, [`${projectRoot}compiler/editor/pack.mjs`, top], {
    encoding: "utf8",
  })
  code = await VsCode.start(join(top, "vscode"), packed.trim())
})

afterAll(async () => {
  await code?.end()
  if (top !== undefined) rmSync(top, { recursive: true, force: true, maxRetries: 5 })
})

const lenses = () => code.page.locator(".codelens-decoration")
const proposals = () => code.page.locator(".suggest-widget .monaco-list-row")
const mistakes = () => code.page.locator(".squiggly-error")
const press = (key: string) => code.page.keyboard.press(key)
const type = (text: string) => code.page.keyboard.type(text)
const shown = async () => (await code.lines()).join("\n")

/** VS Code writes spaces as no-break spaces. */
const plain = (texts: readonly string[]) => texts.join("\n").replaceAll("\u00a0", " ")

/** Puts the cursor of the active editor before a text of its stored file; `into` characters further. */
async function cursor(path: string, text: string, into = 0): Promise<void> {
  const before = readFileSync(path, "utf8").split(text)[0]?.split("\n") ?? []
  await code.goto(before.length, (before.at(-1)?.length ?? 0) + into + 1)
}

/** Waits until the server has answered for the active file: the line above the text names what the cursor is in. */
async function within(symbol: string): Promise<void> {
  await code.page.locator(".breadcrumbs-control .monaco-breadcrumb-item", { hasText: symbol }).waitFor()
}

/** A trusted window with a fresh copy of `docs-app`, in which the language server answers. Returns the folder. */
async function openDocs(): Promise<string> {
  const folder = project("docs-app")
  await code.open(folder)
  await code.trust()
  await code.file("gateway.conf")
  await lenses().first().waitFor()
  return folder
}

/** A test that is skipped with the reason where VS Code cannot be run. */
function inVsCode(name: string, body: () => Promise<void>): void {
  test(name, async (context) => {
    if (missing !== undefined) context.skip(missing)
    await body()
  })
}

inVsCode("restricted mode colours files and offers nothing that starts a program", async () => {
  await code.open(project("docs-app"))
  await code.file("gateway.conf")
  const coloured = code.page.locator(".editor-instance .view-line span[class*=mtk]")
  await expect.poll(() => coloured.count()).toBeGreaterThan(50)
  expect(await code.commands("Sallyport: ")).not.toContain("Sallyport: Explain this route")
  await code.file("docs.fga.yaml")
  expect(await code.page.locator(".testing-run-glyph").count()).toBe(0)
  expect(await lenses().count()).toBe(0)
})

inVsCode("a folder that is trusted gets its language server", async () => {
  await openDocs()
  expect(plain(await lenses().allInnerTexts())).toContain("Callers: a token of users")
  await press("Control+Shift+o")
  await code.page.locator(".quick-input-list .monaco-list-row", { hasText: 'DELETE "/{id}"' }).waitFor()
  await press("Escape")
  await code.command("Fold All")
  await expect.poll(shown).not.toContain('POST   "/"')
})

inVsCode("definition, references and rename go over files and languages", async () => {
  const folder = await openDocs()
  await cursor(join(folder, "gateway.conf"), 'viewer of "document:${path', 2)
  await press("F12")
  await code.page.locator(".tab.active .label-name", { hasText: /^docs\.fga$/ }).waitFor()
  await within("viewer")
  await press("Shift+F12")
  const files = code.page.locator(".reference-zone-widget .reference-file")
  await expect.poll(() => files.count()).toBe(4)
  await press("Escape")
  await files.first().waitFor({ state: "detached" })
  await press("F2")
  const box = code.page.locator("input.rename-input")
  await box.waitFor()
  await box.fill("reader")
  await press("Enter")
  await expect.poll(shown).toContain("define reader: [user, user:*]")
  await code.file("gateway.conf")
  await expect.poll(shown).toContain("by reader of")
  for (const [name, text] of [
    ["docs.fga.yaml", "reader: true"],
    ["documents.gw.yaml", "relation: reader"],
  ] as const) {
    await code.file(name)
    await expect.poll(shown).toContain(text)
  }
})

inVsCode("a finding is marked, and its quick fix says what it does", async () => {
  const folder = await openDocs()
  await cursor(join(folder, "gateway.conf"), "backend documents\n", 1)
  await press("Delete")
  await mistakes().first().waitFor()
  await press("Control+.")
  const fix = code.page.locator(".action-widget .monaco-list-row", {
    hasText: "Replace `bckend` with `backend`",
  })
  await fix.waitFor()
  await press("Enter")
  await mistakes().first().waitFor({ state: "detached" })
})

inVsCode("hover, completion, a snippet and format", async () => {
  const conf = join(await openDocs(), "gateway.conf")
  await cursor(conf, 'GET    "/{id}"', 1)
  await code.command("Show or Focus Hover")
  const hover = code.page.locator(".monaco-hover:visible")
  await expect.poll(async () => plain(await hover.allTextContents())).toContain("GET /documents/{id}")
  await press("Escape")
  await cursor(conf, "listen 127.0.0.1:8000")
  await type("      ")
  await code.command("Format Document")
  await expect.poll(shown).toContain("\n  listen 127.0.0.1:8000\n")
  await cursor(conf, "  # A list has")
  await press("Enter")
  await press("ArrowUp")
  await type("  comp")
  await press("Control+Space")
  await proposals().filter({ hasText: "compress" }).first().waitFor()
  await press("Enter")
  await expect.poll(shown).toContain("  compress")
  await code.file("docs.fga")
  await code.command("Snippets: Insert Snippet")
  await code.page.locator(".quick-input-list .monaco-list-row", { hasText: "Condition" }).waitFor()
})

inVsCode("a route is explained in a terminal", async () => {
  const folder = await openDocs()
  await cursor(join(folder, "gateway.conf"), "require viewer of")
  await code.command("Sallyport: Explain this route")
  const box = code.page.locator(".quick-input-widget input").first()
  await expect.poll(() => box.inputValue()).toBe("GET /documents/{id}")
  await box.fill("GET /documents/7 --as ann")
  await press("Enter")
  const terminal = code.page.locator(".terminal-wrapper.active .xterm-rows")
  await expect.poll(async () => plain(await terminal.allTextContents())).toContain("backend documents")
})

inVsCode("the language server is restarted", async () => {
  const folder = await openDocs()
  await code.command("Sallyport: Restart the language server")
  await cursor(join(folder, "gateway.conf"), "backend documents\n", 1)
  await press("Delete")
  await mistakes().first().waitFor()
  await type("a")
  await mistakes().first().waitFor({ state: "detached" })
})

inVsCode("tests run from the gutter, and failures are at their lines", async () => {
  const folder = await openDocs()
  const passed = () => code.page.locator(".editor-instance .codicon-testing-passed-icon").count()
  // First, because a test of the model that fails is a finding of the project: then no test of the gateway runs.
  await code.file("documents.gw.yaml")
  await code.page.locator(".testing-run-glyph").first().waitFor()
  await code.command("Test: Run Tests in Current File")
  await expect.poll(passed).toBeGreaterThan(1)
  await code.file("docs.fga.yaml")
  await code.page.locator(".testing-run-glyph").first().click()
  await expect.poll(passed).toBe(1)
  await cursor(join(folder, "models/docs.fga.yaml"), "true, editor: true, viewer: true }")
  for (const _ of "true") await press("Delete")
  await type("false")
  await press("Control+s")
  await code.page.locator(".tab.active:not(.dirty)").waitFor()
  await code.command("Test: Run Tests in Current File")
  const failure = code.page.locator(".test-error-content-widget")
  await failure.filter({ hasText: "owner document:1: expected false, got true" }).waitFor()
})

inVsCode(
  "a workspace of several folders has a server for each, with modules and policy documents",
  async () => {
    const [docs, apim, teams] = [project("docs-app"), project("apim"), project("minimal", modular)]
    const workspace = join(top, "all.code-workspace")
    writeFileSync(workspace, JSON.stringify({ folders: [docs, apim, teams].map((path) => ({ path })) }))
    await code.open(workspace)
    await code.trust()
    await code.file("docs.fga")
    await cursor(join(docs, "models/docs.fga"), "define member: [user", "define member: [".length)
    await within("member")
    await press("F12")
    await code.page.locator(".statusbar-item", { hasText: "Ln 5, Col 6" }).waitFor()
    await code.file("teams.fga")
    await cursor(join(teams, "teams.fga"), "[user]", 1)
    await within("member")
    await press("F12")
    await code.page.locator(".tab.active .label-name", { hasText: /^core\.fga$/ }).waitFor()
    await code.file("fga.mod")
    await cursor(join(teams, "fga.mod"), "  - teams.fga")
    await type("  - non.fga\n")
    await mistakes().first().waitFor()
    await code.file("orders.xml")
    await cursor(join(apim, "policies/orders.xml"), "<base />")
    await type("<rate")
    // Its finding says that the server answers for this folder, too: what VS Code asked before it did is not asked again.
    await mistakes().first().waitFor()
    await press("Control+Space")
    await proposals().filter({ hasText: "rate-limit-by-key" }).first().waitFor()
  },
)
