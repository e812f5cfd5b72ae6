import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { author, control, keyOf, type Ports, planOf } from "../process/project.ts"
import { keepScreenshots, usableByEverybody, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

describeBrowser("requests that the console sends", () => {
  let opened: ConsoleBrowser
  let page: Page
  let ports: Ports
  const apis = `
api inside { path "/inside"; auth none; deny ip 127.0.0.0/8; GET "/" { respond 200 } }
api own { path "/own"; auth none; cors { origins "https://elsewhere.example" }; GET "/" { respond 200 } }
api big { path "/big"; auth none; GET "/" { respond 200 { body text "${"0123456789".repeat(20_000)}" } } }`
  const allowing = (origin: string) => `control { try-it "${origin}" }${apis}`
  const tryPath = (path: string, query = "") =>
    `${opened.origin}/console/try?method=GET&target=${path}${query}`
  const sendButton = () => page.getByRole("button", { name: "Send to" })
  const response = () => page.getByRole("region", { name: "Response" })

  beforeAll(async () => {
    opened = await openConsole()
    ports = opened.ports
    await opened.runtime.apply(planOf(ports, "hello", apis), author)
    const gateway = `http://127.0.0.1:${ports.gateway}`
    page = await watchedPage(opened.context, opened.faults, new RegExp(`^(?:${opened.origin}|${gateway})/`))
    await page.goto(await opened.link())
    await page.getByRole("heading", { name: "Overview" }).waitFor()
  })
  afterAll(() => opened?.close())

  test("are not offered without `try-it`, and the page says how to allow them", async () => {
    await page.goto(tryPath("/hello"))
    await page.getByText("The running plan lets no page send requests").waitFor()
    await page.getByText(`control { try-it "${opened.origin}" }`).waitFor()
    expect(await sendButton().count()).toBe(0)
    const policy = (await fetch(`${opened.origin}/console/`)).headers.get("content-security-policy")
    expect(policy).toContain("connect-src 'self';")
  })

  test("are not offered to pages of another origin", async () => {
    await opened.runtime.apply(planOf(ports, "hello", allowing("https://console.example")), author)
    await page.goto(tryPath("/hello"))
    await page.getByText("lets the pages of https://console.example send requests").waitFor()
    expect(await sendButton().count()).toBe(0)
  })

  test.each(["light", "dark"] as const)(
    "go through the gateway, with response, log line and road (%s)",
    async (colorScheme) => {
      await opened.runtime.apply(planOf(ports, "hello", allowing(opened.origin)), author)
      await page.emulateMedia({ colorScheme })
      await page.goto(tryPath("/order/1", "&as=key"))
      const answer = await control(ports, "GET", "/v1/try-it")
      expect(answer.body).toEqual({
        tryIt: { console: opened.origin, gateway: `http://127.0.0.1:${ports.gateway}` },
      })
      await page.getByRole("textbox", { name: "Key" }).fill(keyOf("ann"))
      await sendButton().click()
      await response().getByText("403").first().waitFor()
      await page.getByRole("link", { name: "Why was it refused?" }).waitFor()
      await page.getByText("subscription").first().waitFor()
      await usableByEverybody(page)
      await keepScreenshots(page, `try-${colorScheme}`)
      await page.getByRole("link", { name: "Why was it refused?" }).click()
      await page.getByRole("heading", { name: "Proof" }).waitFor()
    },
  )

  test("show a successful response with its headers", async () => {
    await page.goto(tryPath("/hello"))
    await sendButton().click()
    await response().getByText("200 OK").waitFor()
    await response().getByText("hello").waitFor()
    await response().getByText("Headers", { exact: true }).click()
    await response().getByText("x-request-id").waitFor()
    await page.getByText("answered by").waitFor()
  })

  test("obey rules about addresses, because the browser sends them", async () => {
    await page.goto(tryPath("/inside"))
    await sendButton().click()
    await response().getByText("403").first().waitFor()
  })

  test("are not sent to a route whose own `cors` would hide the response", async () => {
    await page.goto(tryPath("/own"))
    await sendButton().click()
    await page.getByText("Nothing was sent").waitFor()
  })

  test("load only the beginning of a large body", async () => {
    await page.goto(tryPath("/big"))
    await sendButton().click()
    await page.getByText("only its beginning was loaded").waitFor()
    expect((await response().locator("pre code").textContent())?.length).toBeLessThanOrEqual(100_000)
  })

  test("are refused with a reason where a browser cannot send them", async () => {
    await page.goto(tryPath("/order/1", "&sub=ann"))
    await page.getByText("Claims cannot be sent").waitFor()
    await page.goto(tryPath("/hello", "&host=elsewhere.example"))
    await page.getByText("Browsers choose the host").waitFor()
    await page.goto(tryPath("/hello"))
    await page.getByText("Headers and body").click()
    await page.getByLabel("Headers, one in a line").fill("Cookie: a=b")
    await page.getByText("Browsers set `Cookie` themselves").waitFor()
  })

  test("had no error, and broke no policy", () => {
    expect(opened.faults.filter((each) => !/CORS policy|net::ERR/.test(each))).toEqual([])
  })
})
