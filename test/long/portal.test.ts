import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPortal } from "../process/portal-project.ts"
import { keepScreenshots, usableByEverybody, violationsOf, watchedPage } from "../support/browser-page.ts"
import { chromiumPath } from "../support/chromium.ts"
import { consoleBrowserMissing } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

/** Markup that would change the title. */
const evil = `<img src=x onerror="document.title='owned'">`

describeBrowser("the developer portal in a browser", () => {
  const stops: (() => Promise<unknown>)[] = []
  const faults: string[] = []
  let portal: Awaited<ReturnType<typeof startPortal>>
  let browser: Browser
  let context: BrowserContext
  let page: Page

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
    const key = (await page.getByRole("dialog").locator("code").first().textContent()) ?? ""
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
    await page.getByText("3 calls in").waitFor()
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

  test("had no error, and asked nobody but the gateway and the identity provider", () => {
    const gateway = `http://127.0.0.1:${portal.ports.gateway}/`
    expect(
      faults.filter((fault) => !fault.startsWith(gateway) && !fault.startsWith(portal.provider.url)),
    ).toEqual([])
  })
})
