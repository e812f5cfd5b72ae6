import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { author, control, type Ports, planOfEngine, token } from "../process/project.ts"
import { usableByEverybody, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

/** Markup that would change the title. */
const evilMarkup = `<img src=x onerror="document.title='owned'">`
/** Relations of `order`, and more types. */
const relations = `define viewer: ([user, user:*, group#member] or guest or viewer from parent) but not blocked
    define guest: [user with office_hours]
    define parent: [folder]
    define blocked: [user, group#member]
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define viewer: [user, group#member]
condition office_hours(hour: int) {
  hour >= 9 && hour < 17
}`
const members = 100_000
/** Names of tuples cannot have spaces. */
const evilName = `user:${evilMarkup.replaceAll(" ", "/").replaceAll(":", "")}`

/** Every view: its address, and a text that is there when it has loaded. */
const views: readonly (readonly [path: string, text: string])[] = [
  ["access", "Ask whether somebody may do something"],
  ["access/check?user=user:u000001&relation=viewer&object=order:1", "Green holds"],
  ["access/check?user=user:bob&relation=viewer&object=order:1", "What would allow it"],
  ["access/check?user=user:cleo&relation=viewer&object=order:1", "Values that would decide it"],
  ["access/check?user=bob&relation=viewer&object=order:1", "has no type"],
  ["access/who", "Ask who has a relation to an object"],
  ['access/who?relation=viewer&object=order:1&context={"hour":10}', "user:u000001"],
  ["access/who?relation=viewer&object=order:all", "everybody of the type"],
  ["access/who?relation=viewer&object=order:none", "No user has viewer on order:none"],
  ["access/what", "Ask what somebody has a relation to"],
  ["access/what?user=user:u000001&relation=viewer&type=order", "order:1"],
  ["access/tuples", "scroll for more"],
  ["access/tuples?object=order:1", "office_hours"],
  ["access/tuples?relation=viewer", "Name an object or a user"],
  ["access/tuples?store=none", "There is no such store"],
  ["access/matrix", "Choose an object"],
  ['access/matrix?object=order:1&context={"hour":10}', "the first ones of a longer list"],
  ["access/matrix?object=order:1&people=user:bob,user:cleo", "2 people"],
  ["access/edit", "Nothing is to be changed yet"],
  [
    `access/edit?steps=${encodeURIComponent("+group:all#member viewer order:2\n-user:bob blocked order:1")}`,
    "everybody in",
  ],
  [`access/edit?steps=${encodeURIComponent("+user:* viewer order:2")}`, "everybody of type"],
  [
    `access/edit?steps=${encodeURIComponent("+order:1 viewer order:2")}`,
    "is not an allowed type restriction",
  ],
  [
    "access/check?user=user:u000001&relation=viewer&object=order:1&as=tree",
    "group:all#member viewer folder:root",
  ],
  ["access/changes", "live"],
  ["access/import", "For YAML and larger files"],
  ["access/none", "There is no such view"],
]

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

describeBrowser("the page Access in a browser", () => {
  let opened: ConsoleBrowser
  let page: Page
  let ports: Ports
  const origin = () => opened.origin
  const open = (path: string) => page.goto(`${origin()}/console/${path}`)
  const rows = (of: Page = page) => of.locator(".window-table tbody tr")

  beforeAll(async () => {
    opened = await openConsole()
    ;({ page, ports } = opened)
    const limits = "limits { timeout 60s; list-users in 60s; list-objects in 60s }"
    await opened.runtime.apply(planOfEngine(ports, "", limits, relations), author)
    await writeTuples(ports)
    await open("access")
    await page.getByLabel("Token").fill(token)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Access" }).waitFor()
  })
  afterAll(() => opened?.close())

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(views)("%s can be used by everybody, on a phone too", async (path, text) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 1280, height: 720 })
      await open(path)
      await page.getByText(text).first().waitFor()
      await usableByEverybody(page)
    })
  })

  test("asks by the form, puts the question into the address, and goes back", async () => {
    await open("access/check")
    await page.getByLabel("Can").fill("user:u000001")
    await page.getByLabel("do", { exact: true }).fill("viewer")
    await page.getByLabel("to", { exact: true }).fill("order:1")
    await page.keyboard.press("Enter")
    await page.getByText("Allowed").waitFor()
    expect(page.url()).toContain("user=user%3Au000001&relation=viewer&object=order%3A1")
    await page.getByLabel("Can").fill("user:bob")
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText("Denied").waitFor()
    await page.getByText("remove user:bob blocked order:1").waitFor()
    await page.goBack()
    await page.getByText("Allowed").waitFor()
    expect(await page.getByLabel("Can").inputValue()).toBe("user:u000001")
  })

  test("shows a hundred thousand users by the rows in view, and searches them", async () => {
    await open('access/who?relation=viewer&object=order:1&context={"hour":10}')
    // 100,000 members; bob is blocked, cleo is a guest, and one has a name with markup.
    await page.getByText("1,000 users loaded").waitFor()
    await page.getByRole("button", { name: "Load all" }).click()
    await page.getByText("100,002 users", { exact: true }).waitFor({ timeout: 0 })
    expect(await rows().count()).toBeLessThan(80)
    const view = page.getByRole("region", { name: "Who has viewer on order:1" }).last()
    await view.focus()
    await page.keyboard.press("End")
    await page.getByText("user:u099999").waitFor()
    expect(await rows().count()).toBeLessThan(80)
    await page.getByPlaceholder("Search in this list").fill("U09999")
    await page.getByText("10 of 100,002 users").waitFor()
    expect(await rows().count()).toBe(10)
    await page.getByRole("link", { name: "user:u099995" }).click()
    await page.getByText("Allowed").waitFor()
  })

  test("answers a key in a list of a hundred thousand rows within 100 ms", async () => {
    await open('access/who?relation=viewer&object=order:1&context={"hour":10}')
    await page.getByRole("button", { name: "Load all" }).click()
    await page.getByText("100,002 users", { exact: true }).waitFor({ timeout: 0 })
    await page.getByPlaceholder("Search in this list").focus()
    const watch = `window.slow = []; new PerformanceObserver((list) => { for (const each of list.getEntries()) window.slow.push(Math.round(each.duration)) }).observe({ type: "event", durationThreshold: 16 })`
    await page.evaluate(watch)
    for (const key of "u0999") await page.keyboard.press(key)
    await page.getByText("100 of 100,002 users").waitFor()
    const slow = (await page.evaluate("window.slow")) as number[]
    expect(Math.max(0, ...slow)).toBeLessThanOrEqual(100)
  })

  test("loads tuples while it is scrolled, and filters them", async () => {
    await open("access/tuples")
    await page.getByText("100 tuples loaded").waitFor()
    for (const count of ["200", "300"]) {
      await page
        .getByRole("region", { name: "Tuples" })
        .last()
        .evaluate((each) => each.scrollTo(0, 1e9))
      await page.getByText(`${count} tuples loaded`).waitFor()
    }
    expect(await rows().count()).toBeLessThan(80)
    await page.getByLabel("User", { exact: true }).fill("user:u000007")
    await page.keyboard.press("Enter")
    await page.getByText("1 tuple", { exact: true }).waitFor()
    await page.getByRole("link", { name: "member", exact: true }).click()
    await page.getByText("Allowed").waitFor()
  })

  test("tells who gains and loses before it writes, and just that comes true", async () => {
    await open("access/edit")
    const add = async (user: string, relation: string, object: string, button: string) => {
      await page.getByRole("combobox", { name: "User" }).fill(user)
      await page.getByRole("combobox", { name: "Relation" }).fill(relation)
      await page.getByRole("combobox", { name: "Object" }).fill(object)
      await page.getByRole("button", { name: button }).click()
    }
    await add("group:few#member", "viewer", "order:1", "Add this tuple")
    await add("user:dora", "viewer", "order:all", "Add this tuple")
    await add("user:bob", "blocked", "order:all", "Remove this tuple")
    await page.getByText("accesses of named users").first().waitFor()
    const before = await allAccess(ports)
    const answer = await control(ports, "POST", "/v1/tuples/impact", {
      store: "acme",
      writes: [
        { user: "group:few#member", relation: "viewer", object: "order:1" },
        { user: "user:dora", relation: "viewer", object: "order:all" },
      ],
      deletes: [{ user: "user:bob", relation: "blocked", object: "order:all" }],
      context: { hour: 10 },
    })
    const said = (answer.body["rows"] as { user: string; object: string; relation: string; change: string }[])
      .filter(({ user, change }) => !user.includes("#") && change !== "unchanged")
      .map(
        ({ user, object, relation, change }) => `${change} ${user} ${relation.split("#").at(-1)} ${object}`,
      )
    expect((await rows().allTextContents()).join(" ")).toContain("user:bob")
    await page.getByRole("button", { name: "Write: add 2 tuples, remove 1 tuple" }).click()
    await page.getByText("3 tuples were changed").waitFor()
    const after = await allAccess(ports)
    const happened = [
      ...[...after].filter((each) => !before.has(each)).map((each) => `gains ${each}`),
      ...[...before].filter((each) => !after.has(each)).map((each) => `loses ${each}`),
    ]
    expect(said.sort()).toEqual(happened.sort())
    expect(said.length).toBeGreaterThan(2)
    // What exists cannot be added again.
    await open(`access/edit?steps=${encodeURIComponent("+user:dora viewer order:all")}`)
    await page.getByText("Nobody gains or loses access").waitFor()
    await page.getByRole("button", { name: "Write: add 1 tuple" }).click()
    await page.getByText("already exists").waitFor()
  })

  test("shows a viewer no button that writes, and writes nothing for one", async () => {
    const expiresAt = "2100-01-01T00:00:00Z"
    const made = await control(ports, "POST", "/v1/tokens", { name: "vera", role: "viewer", expiresAt })
    const other = await opened.browser.newContext()
    const viewer = await watchedPage(other, opened.faults, origin())
    await viewer.goto(`${origin()}/console/access/tuples?object=order:1`)
    await viewer.getByLabel("Token").fill(String(made.body["secret"]))
    await viewer.keyboard.press("Enter")
    await viewer.getByRole("link", { name: "folder:root" }).waitFor()
    expect(await viewer.getByRole("link", { name: /Remove|Edit/ }).count()).toBe(0)
    await viewer.goto(
      `${origin()}/console/access/edit?steps=${encodeURIComponent("+user:eve viewer order:2")}`,
    )
    await viewer.getByText("access of a named user").waitFor()
    expect(await viewer.getByRole("button").allTextContents()).toEqual(["Sign out"])
    const refused = await control(
      ports,
      "POST",
      "/authz/stores/acme/write",
      { writes: { tuple_keys: [{ user: "user:eve", relation: "viewer", object: "order:2" }] } },
      `Bearer ${made.body["secret"]}`,
    )
    expect(refused.status).toBe(403)
    await other.close()
  })

  test("opens and closes the nodes of a drawing, by clicks and by keys", async () => {
    await open("access/check?user=user:u050000&relation=viewer&object=order:1")
    const top = page.getByRole("button", { name: "order:1#viewer" }).first()
    await page.getByRole("button", { name: "group:all#member" }).waitFor()
    await top.click()
    await page.getByRole("button", { name: "group:all#member" }).waitFor({ state: "detached" })
    await top.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "group:all#member" }).waitFor()
  })

  test("shows changes as they are committed", async () => {
    await open("access/changes")
    await page.getByText("live", { exact: true }).waitFor()
    const tuple = { user: "user:hanna", relation: "member", object: "group:few" }
    await control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: [tuple] } })
    await page.getByText("user:hanna member group:few").waitFor()
    await control(ports, "POST", "/authz/stores/acme/write", { deletes: { tuple_keys: [tuple] } })
    await page.getByText("removed").first().waitFor()
  })

  test("imports a file in batches, and names the lines that are wrong", async () => {
    await open("access/import")
    const lines = Array.from({ length: 2_500 }, (_, at) =>
      JSON.stringify({
        user: `user:i${at}`,
        relation: "member",
        object: at === 1_500 ? "nothing:1" : "group:import",
      }),
    )
    lines[7] = "{"
    const buffer = Buffer.from(lines.join("\n"))
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "tuples.jsonl", mimeType: "text/plain", buffer })
    await page.getByRole("button", { name: /^Import/ }).click()
    await page.getByText("2,500 of 2,500 tuples: 2,498 written, 0 existed already, 2 mistakes").waitFor()
    expect((await rows().allTextContents()).map((text) => text.slice(0, 4))).toEqual(["8Exp", "1501"])
    const text = Buffer.from("user: user:ann")
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "tuples.yaml", mimeType: "text/plain", buffer: text })
    await page.getByRole("button", { name: /^Import/ }).click()
    await page.getByText("The format of tuples.yaml is not known").waitFor()
  })

  test("shows names with markup as text", async () => {
    await open(`access/check?user=${encodeURIComponent(evilName)}&relation=viewer&object=order:1`)
    await page.getByText("Allowed").waitFor()
    await open("access/tuples?object=order:1")
    await page.getByText(evilName).waitFor()
    await open(`access/who?relation=${encodeURIComponent(evilMarkup)}&object=order:1`)
    await page.getByText("invalid ListUsersRequest.Relation").waitFor()
    expect(await page.locator("img").count()).toBe(0)
    expect(await page.title()).not.toContain("owned")
  })

  test("has a row in the audit log for each question", async () => {
    const { body } = await control(ports, "GET", "/v1/audit?limit=1000")
    const entries = (body["rows"] as { entry: string }[]).map(
      ({ entry }) => JSON.parse(entry) as { path: string },
    )
    const asked = new Set(entries.map(({ path }) => path.split("/").at(-1)))
    expect(
      ["explain", "list-users", "list-objects", "read", "matrix", "impact", "write"].filter(
        (path) => !asked.has(path),
      ),
    ).toEqual([])
  })

  test("had no error, and broke its own policy nowhere", () => {
    expect(opened.faults).toEqual([])
  })
})

/** Who has which relation to the orders and the folder, of some users: `user:ann viewer order:1`. */
async function allAccess(ports: Ports): Promise<Set<string>> {
  const users = ["finn", "bob", "gus", "dora", "cleo", "u000001", "stranger"].map((name) => `user:${name}`)
  const relations = ["viewer", "guest", "blocked"]
  const objects = ["order:1", "order:2", "order:all"]
  const { body } = await control(ports, "POST", "/authz/stores/acme/matrix", {
    ...{ users, relations, objects, context: { hour: 10 }, consistency: "HIGHER_CONSISTENCY" },
  })
  const cells = body["cells"] as boolean[][][]
  return new Set(
    users.flatMap((user, u) =>
      relations.flatMap((relation, r) =>
        objects.flatMap((object, o) => (cells[u]?.[r]?.[o] ? [`${user} ${relation} ${object}`] : [])),
      ),
    ),
  )
}

/** A group of a hundred thousand users, and some tuples of every form. */
async function writeTuples(ports: Ports): Promise<void> {
  const lines: object[] = [
    { user: "group:all#member", relation: "viewer", object: "folder:root" },
    { user: "folder:root", relation: "parent", object: "order:1" },
    { user: "user:bob", relation: "viewer", object: "order:1" },
    { user: "user:bob", relation: "blocked", object: "order:1" },
    { user: "user:cleo", relation: "guest", object: "order:1", condition: { name: "office_hours" } },
    { user: evilName, relation: "viewer", object: "order:1" },
    { user: "user:*", relation: "viewer", object: "order:all" },
    { user: "user:bob", relation: "blocked", object: "order:all" },
    { user: "user:finn", relation: "member", object: "group:few" },
    { user: "user:bob", relation: "member", object: "group:few" },
    { user: "user:gus", relation: "member", object: "group:few" },
    { user: "user:u000001", relation: "member", object: "group:few" },
  ]
  for (let at = 0; at < members; at++)
    lines.push({
      user: `user:u${String(at).padStart(6, "0")}`,
      relation: "member",
      object: "group:all",
    })
  for (let at = 0; at < lines.length; at += 5_000) {
    const body = lines.slice(at, at + 5_000).map((line) => JSON.stringify(line))
    const response = await fetch(`http://127.0.0.1:${ports.control}/authz/stores/acme/bulk-write`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: body.join("\n"),
    })
    expect(response.status, await response.text()).toBe(200)
  }
}
