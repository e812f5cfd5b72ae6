import { afterEach, expect, test } from "vitest"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describePostgres("pruning the changes of a store", () => {
  async function serving() {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    await runtime.apply(planOf(ports), author)
    const database = openPostgres(url)
    stops.push(() => database.close())
    const write = (user: string) =>
      control(ports, "POST", "/authz/stores/acme/write", {
        writes: { tuple_keys: [{ user: `user:${user}`, relation: "viewer", object: "order:1" }] },
      })
    const age = () =>
      database.query({
        name: "",
        text: "update sallyport.changes set changed_at = changed_at - interval '2 days'",
      })
    return { ports, write, age, lines: runtime.lines }
  }

  test("tells a reader that is behind where to go on, and disturbs nobody else", async () => {
    const { ports, write, age, lines } = await serving()
    const changes = (query = "") => control(ports, "GET", `/authz/stores/acme/changes${query}`)
    for (const user of ["ann", "bob", "cid"]) await write(user)
    const page = await changes("?page_size=1")
    const behind = encodeURIComponent(String(page.body["continuation_token"]))
    await age()
    const pruned = await control(ports, "POST", "/v1/prune", { changesSeconds: 86_400 })
    expect(pruned.body).toEqual({
      pruned: { changes: 2, tuples: 0, stores: 0, subscriptions: 0, plans: 0 },
      next: null,
    })
    for (const query of ["", `?continuation_token=${behind}`, "?start_time=2026-01-01T00:00:00Z"]) {
      const { status, body } = await changes(query)
      expect([status, body["code"]]).toEqual([410, "changes_pruned"])
      expect(body["message"]).toMatch(
        /^the changes of this store from before 2\d{3}-.* were pruned; read its tuples/,
      )
    }
    const told = /continuation_token=(\S+)$/.exec(String((await changes()).body["message"]))?.[1]
    await write("dan")
    const rest = await changes(`?continuation_token=${told}`)
    expect(rest.body["changes"]).toMatchObject([{ tuple_key: { user: "user:dan" } }])
    const check = await control(ports, "POST", "/authz/stores/acme/check", {
      tuple_key: { user: "user:dan", relation: "viewer", object: "order:1" },
    })
    expect(check.body["allowed"]).toBe(true)
    expect(lines.filter((line) => line.includes("history"))).toEqual([])
  })

  test("refuses bodies and cursors that are not its own", async () => {
    const { ports } = await serving()
    const cases = [
      { changesSeconds: 60 },
      { plansKept: 0 },
      { all: true },
      { plansKept: 1, cursor: "eA" },
      { plansKept: 1, cursor: Buffer.from('["a\\u0000",0,0,0]').toString("base64url") },
      { plansKept: 1, cursor: Buffer.from('["",-1,0,0]').toString("base64url") },
    ]
    for (const body of cases) expect((await control(ports, "POST", "/v1/prune", body)).status).toBe(400)
    const counted = await control(ports, "POST", "/v1/prune", { plansKept: 1, dryRun: true })
    expect([counted.status, counted.body["next"]]).toEqual([200, null])
  })
})
