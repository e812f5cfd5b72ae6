import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPortal } from "../process/portal-project.ts"
import { keepScreenshots, usableByEverybody, violationsOf, watchedPage } from "../support/browser-page.ts"
import { chromiumPath } from "../support/chromium.ts"
import { consoleBrowserMissing } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

/** An operation that says everything about itself that published documents can say. */
const richOperation = `
  /rich:
    post:
      operationId: rich
      description: "Costs *nothing*."
      parameters:
        - { name: page, in: query, required: true, schema: { type: integer, minimum: 1, maximum: 100, default: 1 }, example: 3 }
        - name: old
          in: query
          deprecated: true
          schema: { type: array, maxItems: 1, items: { type: string, enum: [a, b] } }
          examples: { first: { summary: Oldest first, value: [a] } }
        - { name: filter, in: query, content: { application/json: { schema: { type: boolean } } } }
      requestBody:
        description: "The *order*."
        content:
          application/json:
            examples: { small: { summary: A small one, value: { id: 7 } } }
            schema:
              type: object
              required: [id]
              additionalProperties: false
              properties:
                id: { type: integer, format: int64, exclusiveMinimum: 0, multipleOf: 7, readOnly: true }
                code: { type: string, minLength: 3, maxLength: 20, pattern: "^[A-Z]+$", examples: [ABC] }
                gone: { type: string, deprecated: true, description: "Use \`id\`." }
                secret: { type: string, writeOnly: true }
                nested: { $ref: "#/components/schemas/Nested" }
                pay:
                  discriminator: { propertyName: kind, mapping: { card: "#/components/schemas/Card" } }
                  oneOf:
                    - { $ref: "#/components/schemas/Card" }
                    - { type: object, properties: { kind: { const: bill }, days: { enum: [14, null] } } }
      responses:
        "200":
          description: Done
          headers: { X-Total: { description: How many there are, required: true, schema: { type: integer, minimum: 0 } } }
          content: { text/plain: { schema: { type: string }, example: all done } }
`

/** Markup that would change the title. */
const evil = `<img src=x onerror="document.title='owned'">`

describeBrowser("the developer portal in a browser", () => {
  const stops: (() => Promise<unknown>)[] = []
  const faults: string[] = []
  let portal: Awaited<ReturnType<typeof startPortal>>
  let browser: Browser
  let context: BrowserContext
  let page: Page
  /** Of a person's own subscription. */
  let key = ""

  beforeAll(async () => {
    portal = await startPortal(stops)
    const gateway = `http://127.0.0.1:${portal.ports.gateway}`
    await portal.apply(`auth oidc login; gateway "${gateway}"; try-it`)
    browser = await chromium.launch({ executablePath: chromiumPath() ?? "", args: ["--no-sandbox"] })
    stops.push(() => browser.close())
    context = await browser.newContext()
    page = await watchedPage(context, faults, portal.url)
  })
  afterAll(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  const see = async (path: string, text: string) => {
    await page.goto(portal.url + path)
    await page.getByText(text, { exact: false }).first().waitFor()
  }

  test("shows the catalogue to everybody, on every screen and in both themes", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await see("/", "Our APIs")
      expect(await page.title()).toBe("Acme for developers")
      await page.getByText("deprecated").waitFor()
      await usableByEverybody(page)
      await see("/apis/orders/v1", "From 2099-06-30").catch(() =>
        see("/apis/orders/v1", "It ends on 2099-06-30"),
      )
      await usableByEverybody(page)
      await see("/apis/orders/v2", "Orders of customers.")
      await page.getByRole("link", { name: "PUT /{id}" }).waitFor()
      await usableByEverybody(page)
      await see("/products", "0.002")
      await usableByEverybody(page)
      await see("/changelog", "Announced ends")
      await keepScreenshots(page, `portal-changelog-${colorScheme}`)
      await usableByEverybody(page)
      await see("/pages/start", "Hello.")
      await usableByEverybody(page)
    }
    await page.emulateMedia({ colorScheme: "light" })
  })

  test("opens an operation with its schemas step by step, and examples in each language", async () => {
    await see("/apis/orders/v2", "Orders of customers.")
    await page.getByRole("link", { name: "PUT /{id}" }).click()
    await page.getByRole("heading", { name: "Body" }).waitFor()
    expect(page.url()).toBe(`${portal.url}/apis/orders/v2/putOrder`)
    const parents = page.getByRole("button", { name: "parent" })
    await parents.click()
    expect(await parents.count()).toBe(2)
    await parents.nth(1).click()
    expect(await parents.count()).toBe(3)
    for (const [language, text] of [
      ["JavaScript", "fetch("],
      ["Python", "import"],
      ["Go", "http.NewRequest"],
      ["Java", "HttpRequest"],
      ["C#", "HttpClient"],
      ["curl", "curl"],
    ] as const) {
      await page.getByRole("button", { name: language, exact: true }).click()
      expect(await page.locator("pre").first().textContent()).toContain(text)
    }
    await usableByEverybody(page)
  })

  test("a person signs in, subscribes, calls with the key, and sees usage, limits and errors", async () => {
    await see("/products", "0.002")
    await page.getByRole("link", { name: "Sign in" }).first().click()
    await page.getByLabel("User").fill("ann")
    await page.getByLabel("Password").fill("ann")
    await page.getByRole("button", { name: "Log in" }).click()
    await page.waitForURL(`${portal.url}/products`)
    await page.getByRole("region", { name: "open" }).getByRole("button", { name: "Subscribe" }).click()
    await page.getByLabel("What it is for").fill(evil)
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click()
    await page.getByText("Copy now").waitFor()
    key = (await page.getByRole("dialog").locator("code").first().textContent()) ?? ""
    expect(key).toMatch(/^sp_/)
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("heading", { name: evil }).waitFor()
    const address = page.url()

    await see("/apis/orders/v2/listOrders", "Try it")
    await page.getByLabel("Headers, one in a line").fill(`x-api-key: ${key}`)
    for (const status of ["200", "200", "200", "429"]) {
      await page.getByRole("button", { name: "Send" }).click()
      await page
        .getByRole("region", { name: "Response", exact: true })
        .locator(".badge", { hasText: status })
        .waitFor()
    }
    await usableByEverybody(page)
    await page.goto(address)
    await page.getByText("3 calls per hour").waitFor()
    await page.getByRole("heading", { name: "Failed calls" }).waitFor()
    await expect
      .poll(async () => {
        await page.reload()
        await page.getByRole("heading", { name: "Usage" }).waitFor()
        return page.getByRole("rowheader").or(page.getByRole("cell")).filter({ hasText: "429" }).count()
      })
      .toBe(1)
    await usableByEverybody(page)
    expect(await page.locator("img[src='x']").count()).toBe(0)
    expect(await page.title()).not.toContain("owned")
  })

  test("shows the whole document in Swagger UI, which sends requests through the gateway", async () => {
    const before = page.url()
    await see("/apis/orders/v2", "Orders of customers.")
    await page.getByRole("link", { name: "Swagger UI" }).click()
    await page.waitForURL(`${portal.url}/swagger/orders/v2`)
    await page.getByText("Orders of customers.").waitFor()
    await page.locator(".opblock").nth(2).waitFor()
    expect(await page.locator(".opblock").count()).toBe(3)
    await page.getByRole("button", { name: "Authorize" }).click()
    const dialog = page.locator(".modal-ux")
    await dialog.getByText("https://id.example/.well-known/openid-configuration").waitFor()
    const keyInHeader = dialog.locator(".auth-container", { hasText: "In: header" })
    await keyInHeader.getByLabel("Value:").fill(key)
    await keyInHeader.getByRole("button", { name: "Apply credentials" }).click()
    await dialog.getByRole("button", { name: "Close" }).last().click()
    await page.locator(".opblock-summary-control").first().click()
    await page.getByRole("button", { name: "Try it out" }).click()
    await page.getByRole("button", { name: "Execute" }).click()
    // The calls of this key are used up; without a key it would be 401.
    await page.locator(".live-responses-table .response-col_status", { hasText: "429" }).waitFor()
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0)
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme })
      // The page hears of the change a moment later.
      await expect
        .poll(() => page.evaluate("document.documentElement.classList.contains('dark-mode')"))
        .toBe(colorScheme === "dark")
      await keepScreenshots(page, `portal-swagger-${colorScheme}`)
    }
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0)
    await page.setViewportSize({ width: 1280, height: 720 })
    await see(
      "/swagger/orders/v2?url=https://evil.example/a.json&configUrl=https://evil.example/b.json",
      "Orders of",
    )
    await page.getByRole("link", { name: "Acme for developers" }).click()
    await page.waitForURL(`${portal.url}/apis/orders/v2`)
    await see("/swagger/orders/v3", "this portal does not publish it")
    await page.goto(before)
  })

  test("replaces a key, and suspends the subscription after a question", async () => {
    await page.getByRole("row", { name: "secondary key" }).getByRole("button", { name: "Replace" }).click()
    await page.getByText("Copy now").waitFor()
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("button", { name: "Suspend …" }).click()
    await page.getByText("Only operators can activate it again").waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click()
    await page.getByText("suspended").waitFor()
    await page.goto(`${portal.url}/subscriptions`)
    await page.getByRole("cell", { name: "suspended" }).waitFor()
    await usableByEverybody(page)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page
      .getByText("You are logged out")
      .or(page.getByRole("link", { name: "Sign in" }))
      .first()
      .waitFor()
    await page.goto(`${portal.url}/subscriptions`)
    await page.getByText("Sign in to see your subscriptions").waitFor()
  })

  test("shows what a document says of an operation", async () => {
    await portal.apply(
      `auth oidc login; gateway "http://127.0.0.1:${portal.ports.gateway}"; try-it`,
      richOperation,
    )
    await see("/apis/orders/v2/rich", "Costs nothing.")
    expect(await page.locator(".page-head code").textContent()).toBe("POST /v2/orders/rich")
    for (const name of ["pay", "Card", "oneOf 2"]) await page.getByRole("button", { name }).click()
    for (const summary of ["A small one", "X-Total"])
      await page.locator("summary", { hasText: summary }).click()
    await page.getByRole("region", { name: "Response 200" }).getByText("Example").click()
    const text = await page.evaluate("document.querySelector('main').innerText.replaceAll(/\\s+/g, ' ')")
    for (const part of [
      "Credentials one of these A key in the header x-api-key A key in the query parameter",
      "page required query integer · at least 1, at most 100 · default 1 for example 3",
      'old deprecated query array of string · at most 1 item; each item: one of "a", "b" Oldest first: ["a"]',
      "filter query boolean",
      "The order. application/json object · no other properties",
      "id integer (int64) · more than 0, a multiple of 7 required read-only",
      'code string · matches ^[A-Z]+$, 3–20 characters · for example "ABC"',
      "gone string deprecated Use id.",
      "secret string write-only",
      "nested Nested",
      "kind says which of these it is: card is Card.",
      'Card Card kind always "card" required',
      'oneOf 2 object kind always "bill" days one of 14, null',
      'Example: A small one { "id": 7 }',
      "200 Done text/plain string Example all done",
      "X-Total integer · at least 0 required How many there are",
    ])
      expect(text).toContain(part)
    await keepScreenshots(page, "portal-operation")
    await usableByEverybody(page)
  })

  test("leads to Swagger UI where a page cannot be shown, and sends nothing from there without `try-it`", async () => {
    const deep = ">".repeat(5000)
    const operation = `{ operationId: deep, description: "${deep}", responses: { "200": { description: ok } } }`
    await portal.apply("auth oidc login", `  /deep: { get: ${operation} }`)
    await see("/apis/orders/v2/deep", "This page cannot be shown")
    await usableByEverybody(page)
    await page.getByRole("link", { name: "Swagger UI" }).click()
    await page.locator(".opblock-summary-control", { hasText: "/deep" }).click()
    await page.getByText(deep).waitFor()
    expect(await page.getByRole("button", { name: "Try it out" }).count()).toBe(0)
  })

  test("had no error, and asked nobody but the gateway and the identity provider", () => {
    const gateway = `http://127.0.0.1:${portal.ports.gateway}/`
    expect(
      faults.filter((fault) => !fault.startsWith(gateway) && !fault.startsWith(portal.provider.url)),
    ).toEqual([])
  })
})
