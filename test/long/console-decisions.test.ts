import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { author, control, type Ports, planOf } from "../process/project.ts"
import { usableByEverybody } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

describeBrowser("decisions of operators in a browser", () => {
  let opened: ConsoleBrowser
  let provider: IdentityProvider
  let page: Page
  let ports: Ports
  const origin = () => opened.origin
  const operators = () => `
issuer people { discovery "${provider.issuer}"; audience sallyport }
control { auth jwt people { role publisher claim "sub" "ann"; role viewer claim "sub" "bob"; login "sallyport-cli" } }`

  beforeAll(async () => {
    provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
    opened = await openConsole()
    ;({ page, ports } = opened)
    await opened.runtime.apply(planOf(ports, "hello", operators()), author)
    const tuple = { user: "user:ann", relation: "owner", object: "order:1" }
    await opened.runtime.apply(planOf(ports, "hello", operators(), relations("viewer: [user]")), author)
    await opened.runtime.seed("acme", [tuple])
  })
  afterAll(async () => {
    await opened?.close()
    await provider?.close()
  })

  const relations = (viewer: string) => `define owner: [user]\n    define ${viewer}`

  /** A file as `sallyport plan --out` writes it, made for the running plan. */
  async function fileOf(plan: Plan) {
    const { body } = await control(ports, "GET", "/v1/plan")
    const { serial, stamp, digest } = body["record"] as Record<string, unknown>
    const by = { who: "ci", commit: null, message: "owners see orders" }
    const seal = {
      history: null,
      base: { serial, stamp, digest },
      digest: plan.digest,
      author: by,
      at: new Date(0).toISOString(),
    }
    return {
      name: "next.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ sealed: 3, seal, plan })),
    }
  }

  async function logIn(user: string): Promise<void> {
    await page.goto(`${origin()}/console/plans/file`)
    await page.getByRole("button", { name: "Sign in with people" }).click()
    await page.getByLabel("User").fill(user)
    await page.getByLabel("Password").fill(user)
    await page.getByRole("button", { name: "Log in" }).click()
  }

  test("a person signs in at an issuer, and comes back to the same view", async () => {
    await page.goto(`${origin()}/console/`)
    await page.getByRole("button", { name: "Sign in with people" }).waitFor()
    await usableByEverybody(page)
    await logIn("carol")
    await page.getByText("Your account has no role").waitFor()
    await logIn("bob")
    await page.getByRole("heading", { name: "Plan from a file" }).waitFor()
    expect(page.url()).toBe(`${origin()}/console/plans/file`)
    await usableByEverybody(page)
  })

  test("see the keys with which their tokens are verified", async () => {
    await page.goto(`${origin()}/console/backends`)
    const row = page.getByRole("row", { name: /people control/ })
    await row.getByText("ready").waitFor()
    await row.getByText("RS256").waitFor()
    await usableByEverybody(page)
    await page.goBack()
  })

  test("a viewer reads what a plan changes and for whom, and may not apply it", async () => {
    await page.getByLabel("Plan", { exact: true }).setInputFiles({
      ...{ name: "notes.json", mimeType: "application/json" },
      buffer: Buffer.from("[1"),
    })
    await page.getByText("notes.json is not JSON").waitFor()
    const next = planOf(ports, "hello", operators(), relations("viewer: [user] or owner"))
    await page.getByLabel("Plan", { exact: true }).setInputFiles(await fileOf(next))
    await page.getByText("1 opens").waitFor()
    await page.getByRole("button", { name: "Who gains or loses access?" }).click()
    await page.getByRole("listitem").filter({ hasText: "gains user:ann on order:1" }).waitFor()
    await page.getByText("1 user: gain").waitFor()
    await usableByEverybody(page)
    expect(await page.getByRole("button", { name: "Apply" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "Begin the canary" }).count()).toBe(0)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("You are logged out").waitFor()
  })

  test("a publisher applies it after the changes were read, and an old file is not for the running plan", async () => {
    await logIn("ann")
    const next = planOf(ports, "hello", operators(), relations("viewer: [user] or owner"))
    const file = await fileOf(next)
    await page.getByLabel("Plan", { exact: true }).setInputFiles(file)
    const apply = page.getByRole("button", { name: "Apply" })
    await apply.waitFor()
    expect(await apply.isDisabled()).toBe(true)
    await page.getByLabel("I have read the changes of the class “opens”").check()
    await apply.click()
    await page.getByRole("heading", { name: "Plan 3", exact: true }).waitFor()
    await page.getByText("by ann: owners see orders").waitFor()
    await page.goto(`${origin()}/console/plans/file`)
    await page.getByLabel("Plan", { exact: true }).setInputFiles(file)
    await page.getByText("Plan 3 was applied since this file was made").waitFor()
    expect(opened.faults.filter((fault) => !fault.startsWith(provider.url))).toEqual([])
  })
})
