import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { unzipSync } from "fflate"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { usableByEverybody, violationsOf, watchedPage } from "../support/browser-page.ts"
import { chromiumPath } from "../support/chromium.ts"

const executablePath = chromiumPath()
const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
}
/** Compressed bytes that the start page loads. */
const firstLoadMax = 250_000

const store = `model_file: ./model.fga
tuples:
  - { user: "user:ann", relation: member, object: "group:eng" }
  - { user: "group:eng#member", relation: viewer, object: "doc:1" }
tests:
  - name: members view
    check:
      - user: user:ann
        object: doc:1
        assertions: { viewer: true }
      - user: user:bob
        object: doc:1
        assertions: { viewer: true }
`
const model = `model
  schema 1.1
type user
type group
  relations
    define member: [user]
type doc
  relations
    define viewer: [group#member]
`

const gateway = `gateway shop { listen 127.0.0.1:8000 }
issuer users {
  discovery  "https://id.example.com"
  audience   shop
  algorithms RS256
}
backend orders { url "http://127.0.0.1:9001" }
api orders {
  path    "/orders"
  backend orders
  auth    jwt users
  compress { codings gzip; min 1KB }
  POST "/" {
    inbound {
      validate content { json "application/json" { schema "order.schema.json" } }
      respond 200 { body text "${"text ".repeat(500)}" }
    }
  }
}
`

const schema = '{"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}}}'

const describeBrowser = describe.skipIf(executablePath === undefined)

describeBrowser("the playground in a browser", () => {
  let browser: Browser
  let page: Page
  let server: Server
  let origin: string
  /** Errors, violations of the policy, and requests to other servers. */
  const faults: string[] = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url === "/" ? "index.html" : (request.url ?? "").slice(1)
      response.setHeader("content-type", types[extname(path)] ?? "text/plain")
      response.setHeader("content-encoding", "br")
      response.end(readFileSync(join(projectRoot, "dist/playground", `${path}.br`)))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] })
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    page = await watchedPage(context, faults, origin)
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  const openStart = async () => {
    await page.goto(`${origin}/#`)
    await page.reload()
    await page.getByRole("button", { name: "New model" }).waitFor()
  }
  const openExample = async (name: string) => {
    await page.goto("about:blank")
    await page.goto(`${origin}/#example=${name}`)
  }
  /** Opens texts as an input for files gives them. */
  const openFiles = async (texts: Record<string, string>) => {
    await openStart()
    const files = Object.entries(texts).map(([name, text]) => ({
      name,
      mimeType: "text/plain",
      buffer: Buffer.from(text),
    }))
    await page.getByLabel("Open files").setInputFiles(files)
    await page.getByRole("tab", { name: "Ask" }).waitFor()
  }
  const verdict = (text: string) => page.locator(".verdict", { hasText: text }).waitFor()

  test("loads little at first", async () => {
    let bytes = 0
    page.on("response", async (response) => {
      bytes +=
        (
          await response
            .request()
            .sizes()
            .catch(() => undefined)
        )?.responseBodySize ?? 0
    })
    await page.goto(origin)
    await page.getByRole("button", { name: /docs-app/ }).waitFor()
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(firstLoadMax)
  })

  test("opens an example, explains an answer, and follows a change of the model", async () => {
    await page.getByRole("button", { name: /docs-app/ }).click()
    await verdict("Allowed")
    await page.getByLabel("User", { exact: true }).fill("user:nobody")
    await verdict("Denied")
    await page.getByText("It would be allowed after any of").waitFor()
  })

  test("shows tests, findings and the graph of files that were opened", async () => {
    await openFiles({ "model.fga": model, "store.fga.yaml": store })
    await page.getByRole("tab", { name: "Tests" }).click()
    await page.getByText(/^expected /).waitFor()
    await page.getByRole("tab", { name: "Graph" }).click()
    await graphByKeyboard(page)
    const source = page.getByRole("textbox", { name: "Source: model.fga" })
    await source.click()
    await page.keyboard.press("ControlOrMeta+End")
    await page.keyboard.type("    define owner: [usr]\n")
    await page.getByRole("tab", { name: /Findings/ }).click()
    await page.getByRole("button", { name: "model.fga:10" }).waitFor()
    await page.getByRole("button", { name: "model.fga:10" }).click()
    await expect.poll(() => page.evaluate("document.activeElement.shadowRoot !== null")).toBe(true)
  })

  test("proposes and explains in a model and in gateway.conf", async () => {
    await openFiles({ "model.fga": model, "gateway.conf": "gateway a { listen 127.0.0.1:8000 }\n" })
    const sources = page.getByRole("combobox", { name: "Source" })
    const proposed = (name: RegExp) => page.getByRole("option", { name })
    await page.getByRole("textbox", { name: "Source: model.fga" }).click()
    await page.keyboard.press("ControlOrMeta+End")
    await page.keyboard.type("    define editor: [gr")
    await proposed(/^group/)
      .first()
      .waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press("Enter")
    await page.locator(".cm-line", { hasText: "define editor: [group" }).waitFor()
    await sources.selectOption("gateway.conf")
    await page.getByText("listen", { exact: true }).hover()
    await page.locator(".cm-known", { hasText: "listen" }).waitFor()
    await page.getByRole("textbox", { name: "Source: gateway.conf" }).click()
    await page.keyboard.press("ControlOrMeta+End")
    await page.keyboard.type("ap")
    await proposed(/^api/).first().waitFor()
  })

  test("adds tuples by buttons", async () => {
    await openFiles({ "model.fga": model, "store.fga.yaml": store })
    await verdict("Allowed")
    await page.getByLabel("User", { exact: true }).fill("user:eve")
    await verdict("Denied")
    await page.getByRole("button", { name: "Add user:eve member group:eng" }).click()
    await verdict("Allowed")
    await page.getByLabel("Relation", { exact: true }).fill("viewer")
    await page.getByLabel("Object", { exact: true }).fill("doc:2")
    await page.getByLabel("User", { exact: true }).fill("group:eng#member")
    await verdict("Denied")
    await page.getByRole("button", { name: "Add as a tuple" }).click()
    await verdict("Allowed")
  })

  test("saves a project as an archive, and opens a folder that is chosen or dropped", async () => {
    const texts = { "model.fga": model, "tests/store.fga.yaml": store.replace("./model", "../model") }
    await openFiles({ "model.fga": model, "store.fga.yaml": store })
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save" }).click(),
    ])
    expect(download.suggestedFilename()).toBe("project.zip")
    const archive = unzipSync(readFileSync(await download.path()))
    expect(Object.keys(archive)).toEqual(["model.fga", "store.fga.yaml"])
    expect(Buffer.from(archive["model.fga"] ?? []).toString()).toBe(model)
    const folder = mkdtempSync(join(tmpdir(), "playground-"))
    try {
      for (const [path, text] of Object.entries({
        ...texts,
        "node_modules/a/b.yaml": "",
        ".git/c.yaml": "",
      })) {
        mkdirSync(join(folder, "docs", path, ".."), { recursive: true })
        writeFileSync(join(folder, "docs", path), text)
      }
      await openStart()
      await page.getByLabel("Open folder").setInputFiles(join(folder, "docs"))
      await verdict("Allowed")
      await openStart()
      await dropped(page, join(folder, "docs"))
      await verdict("Allowed")
      const shown = page.getByRole("combobox", { name: "Tuples and tests" })
      expect(await shown.locator("option").allTextContents()).toEqual(["tests/store.fga.yaml"])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test("puts a project into a link and opens it again", async () => {
    await openFiles({ "model.fga": model, "store.fga.yaml": store })
    await page.getByRole("button", { name: "Copy link" }).click()
    await page.waitForURL(/#p=/)
    const address = page.url()
    await page.goto("about:blank")
    await page.goto(address)
    await verdict("Allowed")
    await page.goto("about:blank")
    await page.goto(`${address.slice(0, -20)}`)
    await page.getByText("The link cannot be opened").waitFor()
  })

  test("opens a project with a gateway, and says what is wrong with it", async () => {
    await openFiles({ "gateway.conf": "gateway a { listen 127.0.0.1:8000 }\nwrong\n", "model.fga": model })
    await page.getByRole("tab", { name: /Findings/ }).click()
    await page.getByRole("button", { name: "gateway.conf:2" }).waitFor()
  })

  test("sends requests through the gateway of a project, with its steps and places", async () => {
    await openExample("docs-app")
    await page.getByRole("tab", { name: "Requests" }).click()
    await page.getByLabel("Path and query").fill("/documents/1")
    await page.getByLabel("As", { exact: true }).fill("")
    await page.getByRole("button", { name: "Send" }).click()
    await verdict("401")
    await page.getByLabel("As", { exact: true }).fill("ann")
    await page.getByRole("button", { name: "Send" }).click()
    await verdict("200")
    const steps = page.getByRole("region", { name: "Steps" })
    await steps.getByRole("button", { name: "gateway.conf:38" }).click()
    await page.getByLabel("Source: gateway.conf").waitFor()
    // The next request is sent through what is in the editor now.
    await page.getByLabel("Source: gateway.conf").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("wrong")
    await page.getByText("There is no gateway to ask").waitFor()
    for (const _ of "wrong") await page.keyboard.press("Backspace")
    await page.getByLabel("As", { exact: true }).fill("mallory")
    await page.getByRole("button", { name: "Send" }).click()
    await verdict("403")
  })

  test("verifies tokens of RSA, checks bodies by their schema and compresses, as Node.js does", async () => {
    await openFiles({ "gateway.conf": gateway, "order.schema.json": schema })
    await page.getByRole("tab", { name: "Requests" }).click()
    await page.getByLabel("Method").selectOption("POST")
    await page.getByLabel("Path and query").fill("/orders")
    await page.getByLabel("As", { exact: true }).fill("ann")
    await page.getByText("Headers, body and claims").click()
    await page.getByLabel("Headers").fill("content-type: application/json\naccept-encoding: gzip")
    await page.getByLabel("Body").fill('{"item": 1}')
    await page.getByRole("button", { name: "Send" }).click()
    await verdict("400")
    await page.getByLabel("Body").fill('{"item": "book"}')
    await page.getByRole("button", { name: "Send" }).click()
    await verdict("200")
    await page.getByText("content-encoding: gzip").waitFor()
  })

  test.each(readdirSync(join(projectRoot, "models/examples")))(
    "%s: the tests of its gateway pass in a browser",
    async (name) => {
      await openExample(name)
      await page.getByRole("tab", { name: /Tests/ }).click()
      const heading = page.getByRole("heading", { name: /\.gw\.yaml \d+ of \d+ passed/ })
      const [, passed, all] = /(\d+) of (\d+) passed/.exec((await heading.textContent()) ?? "") ?? []
      expect(Number(all)).toBeGreaterThan(1)
      expect(passed).toBe(all)
    },
  )

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(["Start", "Ask", "Tests", "Graph", "Findings"])(
      "%s can be used by everybody, on a phone too",
      async (name) => {
        await page.emulateMedia({ colorScheme })
        if (name === "Start") {
          await page.goto("about:blank")
          await page.goto(origin)
          await page.getByRole("button", { name: /docs-app/ }).waitFor()
        } else {
          await openFiles({ "model.fga": model, "store.fga.yaml": store })
          await verdict("Allowed")
          await page.getByRole("tab", { name }).click()
        }
        await usableByEverybody(page)
        await page.setViewportSize({ width: 1440, height: 900 })
      },
    )
  })

  test.each(["light", "dark"] as const)(
    "requests can be used by everybody in %s, on a phone too",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await openExample("saas")
      await page.getByRole("tab", { name: "Requests" }).click()
      await page.getByRole("button", { name: "Send" }).click()
      await verdict("200")
      await usableByEverybody(page)
      await page.setViewportSize({ width: 1440, height: 900 })
    },
  )

  test("had no error, and broke its own policy nowhere", () => {
    expect(faults).toEqual([])
  })
})

/** Drops a file or folder of this machine on the page, as a person does from a file manager. */
async function dropped(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: 200, y: 200, data })
  await session.detach()
}

/** Goes through the drawing by keys: to a relation, its focus, and the zoom. */
async function graphByKeyboard(page: Page): Promise<void> {
  const relation = page.getByRole("button", { name: "doc: viewer" })
  await relation.click()
  await page.locator(".graph .spot.selected", { hasText: "viewer" }).waitFor()
  expect(await relation.getAttribute("aria-pressed")).toBe("true")
  await page.keyboard.press("Escape")
  await page.locator(".graph .spot.selected").waitFor({ state: "detached" })
  await page.keyboard.press("ArrowUp")
  await page.keyboard.press("ArrowUp")
  await page.keyboard.press("Enter")
  await page.locator(".graph .spot.selected", { hasText: "member" }).waitFor()
  await page.keyboard.press("+")
  await page.getByText("125 %").waitFor()
  await page.keyboard.press("0")
  await page.getByText("125 %").waitFor({ state: "detached" })
}
