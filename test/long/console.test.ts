import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { author, call, control, type Ports, planOf, token } from "../process/project.ts"
import { keepScreenshots, usableByEverybody, violationsOf, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

/** Compressed bytes of everything that the first page loads. */
const firstLoadMax = 250_000

/** Markup that would change the title. */
const evil = `<img src=x onerror="document.title='owned'">`

const product = `product partner {
  apis order
  limit 20 per 1m by subscription
  quota 100 calls per 30d by subscription
}`

/** Every page: its address, and a text that is there when it has loaded. */
const pages: readonly (readonly [path: string, text: string])[] = [
  ["overview", "Processes"],
  ["routes", "GET /order/{id}"],
  [`routes/${encodeURIComponent("GET /order/{id}")}`, "require"],
  ["try?method=GET&target=/order/1&sub=ann", "The gateway responds itself"],
  ["access", "Ask whether somebody may do something"],
  ["log", "Waiting for requests"],
  ["backends", "The plan has no backends"],
  ["plans", "newest"],
  ["plans/2", "Changes since plan 1"],
  ["plans/2?text=yes", "Next change"],
  ["plans/1?rollback=yes", "Type 1 to confirm"],
  ["plans/file", "A file of"],
  ["products", "100 calls per 30 days"],
  ["products?text=none", "No product matches"],
  ["subscriptions", "lena"],
  ["subscriptions/lena", "20 calls per 60 s"],
  ["subscriptions/ann", "Nothing counts by this subscription"],
  ["usage?by=day,api", "Calls"],
  ["nowhere", "Page not found"],
]

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

describeBrowser("the console in a browser", () => {
  let opened: ConsoleBrowser
  let page: Page
  let ports: Ports
  const origin = () => opened.origin

  beforeAll(async () => {
    opened = await openConsole()
    ;({ page, ports } = opened)
    await opened.runtime.apply(planOf(ports, "hello", product), author)
    await opened.runtime.apply(planOf(ports, "hi", product), { ...author, message: evil })
    await control(ports, "POST", "/v1/subscriptions", {
      ...{ name: "lena", scope: { product: "partner" }, owner: evil, note: evil },
    })
    await call(ports, "/hello")
    await call(ports, "/order/1", "ann")
  })
  afterAll(() => opened?.close())

  test("signs in by a link once, and by a token, and signs out", async () => {
    const address = await opened.link()
    await page.goto(address)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    expect(page.url()).toBe(`${origin()}/console/`)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByLabel("Token").waitFor()
    await page.goto("about:blank")
    await page.goto(address)
    await page.getByText("the link was used").waitFor()
    await page.getByLabel("Token").fill("wrong-token-0123456789")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByText("not the control token").waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByLabel("Token").fill(token)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Overview" }).waitFor()
  })

  test("loads little at first, and nothing from elsewhere", async () => {
    const fresh = await opened.browser.newContext({ storageState: await opened.context.storageState() })
    const first = await fresh.newPage()
    const sizes: Promise<number>[] = []
    first.on("requestfinished", (request) => {
      if (request.url().includes("/console/") && !request.url().endsWith("/session"))
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    })
    await first.goto(`${origin()}/console/`)
    await first.getByRole("heading", { name: "Processes" }).waitFor()
    await first.waitForLoadState("load")
    const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
    await first.close()
    await fresh.close()
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(firstLoadMax)
  })

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(pages)("%s can be used by everybody, on a phone too", async (path, text) => {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${origin()}/console/${path}`)
      await page.getByText(text).first().waitFor()
      await usableByEverybody(page)
    })
  })

  test("goes from a refused request in the log to its explanation and route", async () => {
    await page.goto(`${origin()}/console/log?status=403`)
    await page.getByText("Waiting for requests").waitFor()
    const shown = page.getByRole("button", { name: "GET /order/7" }).first()
    while (!(await shown.isVisible())) {
      await call(ports, "/order/7", "bob")
      await call(ports, "/hello")
    }
    expect(await page.getByText("/hello").count()).toBe(0)
    await shown.click()
    await page
      .getByText("bob is not viewer of order:7")
      .or(page.getByText("user:bob is not viewer"))
      .first()
      .waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("link", { name: "Why was it refused?" }).click()
    await page.getByRole("heading", { name: "Proof" }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("link", { name: "GET /order/{id}" }).click()
    await page.getByRole("heading", { name: "Refusals by step" }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Proof" }).waitFor()
  })

  test("shows the difference of two plans as text, with equal lines folded", async () => {
    await page.goto(`${origin()}/console/plans/2`)
    await page.getByRole("button", { name: "Show the difference" }).click()
    const table = page.getByRole("table", { name: "Plan 1 and plan 2" })
    await table.getByRole("row", { name: /added.*hi/ }).waitFor()
    expect(await table.getByRole("row", { name: /removed.*hello/ }).count()).toBe(1)
    expect(page.url()).toContain("text=yes")
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme })
      await keepScreenshots(page, `plan-text-${colorScheme}`)
    }
    await page.getByRole("button", { name: "Next change" }).click()
    expect(await page.evaluate("document.activeElement.dataset.change")).toBe("here")
    const rows = await table.getByRole("row").count()
    await table
      .getByRole("button", { name: /equal line/ })
      .first()
      .click()
    await expect.poll(() => table.getByRole("row").count()).toBeGreaterThan(rows)
  })

  test("rolls back after the changes were read and the serial was typed", async () => {
    await page.goto(`${origin()}/console/plans`)
    await page.getByRole("link", { name: "1", exact: true }).click()
    await page.getByRole("button", { name: "Roll back to this plan" }).click()
    const button = page.getByRole("button", { name: "Roll back", exact: true })
    await page.getByLabel("Type 1 to confirm").fill("1")
    for (const box of await page.getByRole("checkbox").all()) await box.check()
    await page.getByLabel("Why").fill("it was better")
    await button.click()
    await page.getByRole("heading", { name: "Plan 3" }).waitFor()
    await page.getByText("it was better").waitFor()
    expect(await call(ports, "/hello")).toBe("hello")
  })

  test("issues a subscription, shows its keys once, replaces one, and suspends it", async () => {
    await page.goto(`${origin()}/console/subscriptions`)
    await page.getByRole("button", { name: "Issue a subscription" }).click()
    await page.getByLabel("Name", { exact: true }).fill("otto")
    await page.getByLabel("Access to").selectOption("product partner")
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("button", { name: "Issue", exact: true }).click()
    await page.getByText("nothing shows these keys again").waitFor()
    const key = (await page.locator("dialog code").first().textContent()) ?? ""
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("heading", { name: "otto" }).waitFor()
    expect(await page.content()).not.toContain(key)
    const status = async (given: string) =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/order/1`, { headers: { "x-api-key": given } })).status
    await expect.poll(() => status(key)).toBe(403)
    await page.getByRole("button", { name: "Replace the primary key" }).click()
    await page.getByText("nothing shows this key again").waitFor()
    await expect.poll(() => status(key)).toBe(401)
    await page.getByRole("button", { name: "Suspend" }).click()
    await page.getByText("suspended").waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByLabel("Type its name to confirm").fill("otto")
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByRole("heading", { name: "Subscriptions" }).waitFor()
  })

  test("shows products with what they count, and leads to their subscriptions by state", async () => {
    await page.goto(`${origin()}/console/products`)
    const row = page.getByRole("row", { name: /^partner/ })
    await row.getByText("20 calls per 60 s").waitFor()
    await row.getByRole("link", { name: "1 active" }).click()
    await page.getByRole("link", { name: "lena" }).waitFor()
    expect(page.url()).toMatch(/subscriptions\?product=partner&state=active$/)
    await page.keyboard.press("g")
    await page.keyboard.press("d")
    await page.getByRole("heading", { name: "Products" }).waitFor()
    await opened.runtime.apply(planOf(ports, "hi"), { ...author, message: "no products" })
    await page.reload()
    await page.getByText("The plan has no products").waitFor()
    await page.getByText("product partner {").waitFor()
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme })
      await usableByEverybody(page)
      await keepScreenshots(page, `no-products-${colorScheme}`)
    }
    await opened.runtime.apply(planOf(ports, "hello", product), author)
  })

  test("shows what is left of the quotas of a subscription", async () => {
    const { body } = await control(ports, "POST", "/v1/subscriptions", {
      ...{ name: "quinn", scope: { product: "partner" } },
    })
    const { primary } = body["keys"] as { primary: string }
    const send = async () =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/order/1`, { headers: { "x-api-key": primary } })).status
    // It counts before the engine denies it.
    expect([await send(), await send(), await send()]).toEqual([403, 403, 403])
    await page.goto(`${origin()}/console/subscriptions/quinn`)
    const panel = page.getByRole("region", { name: "Limits and quotas" })
    await panel.getByText("97 left").waitFor()
    await panel.getByText("3 of 100 used").waitFor()
    expect(await panel.getByRole("meter", { name: "Used calls of 100 calls per 30 days" }).count()).toBe(1)
    await panel.getByText(/^renewed on \d/).waitFor()
    await panel.getByText("20 calls per 60 s").waitFor()
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme })
      await keepScreenshots(page, `subscription-limits-${colorScheme}`)
    }
    await control(ports, "DELETE", "/v1/subscriptions/quinn")
  })

  test("shows a viewer no button that the role does not allow", async () => {
    const expiresAt = "2100-01-01T00:00:00Z"
    const made = await control(ports, "POST", "/v1/tokens", { name: "vera", role: "viewer", expiresAt })
    const other = await opened.browser.newContext()
    const viewer = await watchedPage(other, opened.faults, origin())
    await viewer.goto(`${origin()}/console/plans/1`)
    await viewer.getByLabel("Token").fill(String(made.body["secret"]))
    await viewer.keyboard.press("Enter")
    await viewer.getByRole("heading", { name: "Plan 1" }).waitFor()
    await viewer.getByText("first plan of the history").waitFor()
    expect(await viewer.getByRole("button").allTextContents()).toEqual(["Sign out", "Show the text"])
    await viewer.goto(`${origin()}/console/subscriptions/lena`)
    await viewer.getByText("primary key").waitFor()
    expect(await viewer.getByRole("button").allTextContents()).toEqual(["Sign out"])
    await other.close()
  })

  test("shows routes as a tree whose address says what is open", async () => {
    const route = page.getByRole("link", { name: "GET /order/{id}" })
    const api = page.getByRole("button", { name: "order", exact: true })
    await page.goto(`${origin()}/console/routes`)
    await route.waitFor()
    await api.click()
    await route.waitFor({ state: "detached" })
    expect(await api.getAttribute("aria-expanded")).toBe("false")
    expect(page.url()).toContain("open=hello")
    await page.reload()
    await page.getByRole("link", { name: "GET /hello" }).waitFor()
    expect(await route.count()).toBe(0)
    await api.focus()
    await page.keyboard.press("Enter")
    await route.waitFor()
    await page.getByRole("searchbox").fill("order")
    await expect.poll(() => page.url()).toMatch(/routes\?text=order$/)
    await route.waitFor()
  })

  test("shows the traffic of a route as it comes", async () => {
    await page.goto(`${origin()}/console/routes/${encodeURIComponent("GET /order/{id}")}`)
    const tile = (name: string) => page.locator(".tile", { hasText: name }).locator("dd")
    await tile("requests").getByText("–").waitFor()
    await call(ports, "/order/1")
    await tile("requests").getByText(/\d\/s/).waitFor()
    await tile("p95").getByText(/ ms$/).waitFor()
  })

  test("opens pages by keys", async () => {
    await page.goto(`${origin()}/console/overview`)
    await page.getByRole("heading", { name: "Processes" }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.getByRole("heading", { name: "Routes" }).waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("hello")
    await page.getByText("1 route of plan").waitFor()
    expect(page.url()).toContain("text=hello")
    await page.getByRole("heading", { name: "Routes" }).click()
    // The first row is that of the API.
    for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key)
    await page.getByRole("heading", { name: "GET /hello" }).waitFor()
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
  })

  test("says when the connection is lost, and continues when the process is back", async () => {
    await page.goto(`${origin()}/console/overview`)
    await page.getByText("healthy").waitFor()
    await opened.runtime.close()
    await page.getByText("The connection to the process was lost").waitFor()
    expect(await violationsOf(page)).toEqual([])
    await opened.restart()
    // The session is as valid at a new process with the same token.
    await page.getByText("The connection to the process was lost").waitFor({ state: "detached" })
    await page.getByText("healthy").waitFor()
  })

  test("shows markup as text, wherever it comes from", async () => {
    await page.goto(
      `${origin()}/console/log?caller=${encodeURIComponent(evil)}&route=${encodeURIComponent(evil)}`,
    )
    await page.getByText("Waiting for requests").waitFor()
    await page.goto(`${origin()}/console/log/${encodeURIComponent(evil)}`)
    await page.getByText("no process keeps a refusal").waitFor()
    await page.goto(`${origin()}/console/routes/${encodeURIComponent(evil)}`)
    await page.getByText("has no route").waitFor()
    await page.goto(
      `${origin()}/console/try?target=/${encodeURIComponent(evil)}&sub=${encodeURIComponent(evil)}`,
    )
    await page.getByText("No route matches").waitFor()
    await call(ports, `/${encodeURIComponent(evil)}`)
    await page.goto(`${origin()}/console/log`)
    await page.getByText("Waiting for requests").waitFor()
    while ((await page.getByText("not-found").count()) === 0)
      await call(ports, `/${encodeURIComponent(evil)}`)
    expect(await page.locator("img").count()).toBe(0)
    expect(await page.title()).not.toContain("owned")
  })

  test("had no error, and broke its own policy nowhere", () => {
    expect(opened.faults).toEqual([])
  })
})
