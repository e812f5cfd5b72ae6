import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { modelText } from "../../compiler/model/model-text.ts"
import { author, control, planOf } from "../process/project.ts"
import { keepScreenshots, usableByEverybody, violationsOf, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

const first = `model
  schema 1.1
type user
type group
  relations
    define member: [user]
type doc
  relations
    # Owners do everything.
    define owner: [user]
    define blocked: [user]
    define viewer: ([group#member] or owner) but not blocked
`
const second = first.replace("[group#member] or owner", "[group#member, user] or owner")
/** Markup that would change the title. */
const evil = `<img/src=x/onerror="document.title='owned'">`

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

describeBrowser("the console's page Model in a browser", () => {
  let opened: ConsoleBrowser
  let page: Page
  let store: string
  let versions: readonly [string, string]
  const engine = async (method: string, path: string, body?: unknown) => {
    const answer = await control(opened.ports, method, `/authz${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  const writeModel = async (text: string): Promise<string> => {
    const read = modelText.read(text)
    if (!("model" in read)) throw new Error("the model has errors")
    const made = await engine("POST", `/stores/${store}/authorization-models`, read.model)
    return String(made["authorization_model_id"])
  }
  const address = (query = "") => `${opened.origin}/console/model/${store}${query}`
  const editor = () => page.getByRole("textbox", { name: "Text of the model" })

  beforeAll(async () => {
    opened = await openConsole({ modelText })
    page = opened.page
    await opened.runtime.apply(planOf(opened.ports), author)
    store = String((await engine("POST", "/stores", { name: "docs" }))["id"])
    versions = [await writeModel(first), await writeModel(second)]
    await engine("POST", `/stores/${store}/write`, {
      writes: {
        tuple_keys: [
          { user: "user:ann", relation: "member", object: "group:eng" },
          { user: "group:eng#member", relation: "viewer", object: "doc:1" },
        ],
      },
    })
    const assertion = (user: string, expectation: boolean) => ({
      tuple_key: { user, relation: "viewer", object: "doc:1" },
      expectation,
      context: { note: evil },
    })
    await engine("PUT", `/stores/${store}/assertions/${versions[1]}`, {
      assertions: [assertion("user:ann", true), assertion("user:bob", false)],
    })
    await page.goto(await opened.link())
    await page.getByRole("heading", { name: "Overview" }).waitFor()
  })
  afterAll(() => opened?.close())

  test("lists the stores, and opens one by keys", async () => {
    await page.keyboard.press("g")
    await page.keyboard.press("m")
    await page.getByRole("heading", { name: "Model" }).waitFor()
    await page.getByRole("link", { name: "acme" }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("link", { name: /docs/ }).click()
    await page.getByRole("heading", { name: /docs/ }).waitFor()
    await page.getByText("onerror").first().waitFor()
    expect(await page.locator("img").count()).toBe(0)
    expect(await page.title()).not.toContain("owned")
  })

  test("shows the text beside the graph, and the paths of a relation in focus", async () => {
    await page.goto(address())
    await page.getByText("2 passed").waitFor()
    await page.getByRole("button", { name: "doc: viewer" }).click()
    await page.getByRole("button", { name: "group#member" }).waitFor()
    expect(page.url()).toContain("focus=doc%23viewer")
    await page.locator("svg text", { hasText: "but not" }).waitFor()
    await page.getByRole("button", { name: "group#member" }).press("Enter")
    await page.getByRole("group", { name: "Who gets group#member" }).waitFor()
    await page.getByRole("button", { name: "group#member" }).press("Escape")
    await page.getByRole("button", { name: "doc: viewer" }).waitFor()
    await page.getByRole("combobox", { name: "Focus" }).selectOption("doc#owner")
    await page.getByRole("group", { name: "Who gets doc#owner" }).waitFor()
    await page.reload()
    await page.getByRole("group", { name: "Who gets doc#owner" }).waitFor()
  })

  test("runs the assertions and compares as the text is edited", async () => {
    await page.goto(address())
    await page.getByText("2 passed").waitFor()
    await editor().getByText("define viewer").click()
    await page.keyboard.press("End")
    await page.keyboard.type(" but not owner")
    await page.getByText("1 error").waitFor()
    await page.getByText("The text has errors").waitFor()
    for (const _ of " but not owner") await page.keyboard.press("Backspace")
    await page.getByText("1 error").waitFor({ state: "detached" })
    await page.getByText("Choose a version to compare with").waitFor()
    await editor().locator("span", { hasText: /^or$/ }).dblclick()
    await page.keyboard.type("and")
    await page.getByText("1 of 2 failed").waitFor()
    await page.getByText("user:ann owner doc:1").waitFor()
    await page.getByText("narrower").waitFor()
    await page.getByText(/For example, user:ann loses viewer of doc:1/).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole("button", { name: "Discard" }).click()
    await page.getByText("2 passed").waitFor()
    await page.getByText("Choose a version to compare with").waitFor()
  })

  test("completes and explains the text, as the playground does", async () => {
    await page.goto(address())
    await page.getByText("2 passed").waitFor()
    await editor().getByText("define viewer").click()
    await page.keyboard.press("End")
    await page.keyboard.type(" or own")
    await page.getByRole("option", { name: "owner", exact: true }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Discard" }).click()
    await page.getByText("2 passed").waitFor()
  })

  test("names a single relation of an edge only where somebody looks", async () => {
    await page.goto(address())
    await page.getByRole("button", { name: "doc: viewer" }).waitFor()
    const opacity = () =>
      page.evaluate('getComputedStyle(document.querySelector(".edge.quiet-label text")).opacity')
    expect(await opacity()).toBe("0")
    await page.locator(".edge.quiet-label .reach").first().hover({ force: true })
    await expect.poll(opacity).toBe("1")
    await keepScreenshots(page, "model")
    // Larger than a phone: it opens as a whole.
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    await page.getByRole("region", { name: "Types, and whose users" }).waitFor()
    const wider =
      '(() => { const { scrollWidth, clientWidth } = document.querySelector(".drawing"); return scrollWidth - clientWidth })()'
    await expect.poll(() => page.evaluate(wider)).toBe(0)
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test("shows what a version decides differently, with the counterexample", async () => {
    await page.goto(address(`?compare=${versions[0]}`))
    await page.getByText("wider").waitFor()
    await page.getByText(/For example, user:ann gains viewer of doc:1/).waitFor()
    await page.getByRole("region", { name: "Differences" }).getByText("user:ann viewer doc:1").waitFor()
    await page.getByRole("link", { name: "doc#viewer" }).click()
    await page.getByRole("group", { name: "Who gets doc#viewer" }).waitFor()
    await page.getByRole("combobox", { name: "Compared with" }).selectOption(versions[1])
    await page.getByText("Nobody gains or loses a relation").waitFor()
  })

  test("saves assertions of operators only", async () => {
    await page.goto(address())
    await page.getByText("2 passed").waitFor()
    expect(await page.getByRole("button", { name: "Save assertions" }).count()).toBe(0)
    for (const [label, text] of [
      ["User", "user:eve"],
      ["Relation", "viewer"],
      ["Object", "doc:1"],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(text)
    await page.getByLabel("Expected").selectOption("denied")
    await page.getByRole("button", { name: "Add assertion" }).click()
    await page.getByText("3 passed").waitFor()
    await page.getByRole("button", { name: "Save assertions" }).click()
    await page.getByRole("button", { name: "Save assertions" }).waitFor({ state: "detached" })
    const kept = await engine("GET", `/stores/${store}/assertions/${versions[1]}`)
    expect(kept["assertions"]).toHaveLength(3)
    const expiresAt = "2100-01-01T00:00:00Z"
    const made = await control(opened.ports, "POST", "/v1/tokens", {
      name: "vera",
      role: "viewer",
      expiresAt,
    })
    const context = await opened.browser.newContext()
    const viewer = await watchedPage(context, opened.faults, opened.origin)
    await viewer.goto(address())
    await viewer.getByLabel("Token").fill(String(made.body["secret"]))
    await viewer.keyboard.press("Enter")
    await viewer.getByText("3 passed").waitFor()
    await viewer.getByRole("button", { name: "Remove user:eve viewer doc:1" }).click()
    await viewer.getByText("2 passed").waitFor()
    expect(await viewer.getByRole("button", { name: "Save assertions" }).count()).toBe(0)
    await context.close()
  })

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(["stores", "", "?focus=doc%23viewer", "?focus=doc", "?compare=first"])(
      "%s can be used by everybody, on a phone too",
      async (query) => {
        await page.emulateMedia({ colorScheme })
        const isList = query === "stores"
        const target = isList
          ? `${opened.origin}/console/model`
          : address(query.replace("first", versions[0]))
        await page.goto(target)
        if (isList) await page.getByRole("link", { name: "acme" }).waitFor()
        else await page.getByText("3 passed").waitFor()
        if (query.startsWith("?compare")) await page.getByText("wider").waitFor()
        if (query === "?focus=doc%23viewer")
          await page.getByRole("button", { name: "group#member" }).waitFor()
        await usableByEverybody(page)
      },
    )
  })

  test("had no error, and broke its own policy nowhere", () => {
    expect(opened.faults).toEqual([])
  })
})
