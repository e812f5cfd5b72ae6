import { afterEach, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { promptlyMs } from "../support/busy.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { until } from "../support/until.ts"
import { author, control, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const more = `
api items { path "/items"; auth subscription; GET "/" { respond 200 { body text "items" } } }
product gold { apis items; approval required; subscriptions 2 per owner }
product silver { apis items }
product old { apis items; unpublished }
secret root_key = env(ROOT_KEY)
secret root_next = env(ROOT_NEXT)
subscription root { api *; key root_key; secondary root_next }`
const env = {
  ANN_KEY: keyOf("ann"),
  BOB_KEY: keyOf("bob"),
  ROOT_KEY: keyOf("root"),
  ROOT_NEXT: keyOf("root-next"),
}

async function running(url: string, ports: Ports): ReturnType<typeof start> {
  const runtime = await start(url, ports, { env })
  stops.push(() => runtime.close())
  return runtime
}

async function one(): Promise<{ url: string; ports: Ports; runtime: Awaited<ReturnType<typeof start>> }> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = await freePorts()
  const runtime = await running(url, ports)
  await runtime.apply(planOf(ports, "hello", more), author)
  return { url, ports, runtime }
}

async function items(ports: Ports, key: string, path = "/items"): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
    headers: { "x-api-key": key },
  })
  await response.arrayBuffer()
  return response.status
}

interface Keys {
  readonly primary: string
  readonly secondary: string
}

async function create(ports: Ports, body: object): Promise<Keys> {
  const made = await control(ports, "POST", "/v1/subscriptions", body)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  expect(made.headers.get("cache-control")).toBe("no-store")
  return made.body["keys"] as Keys
}

const act = (ports: Ports, name: string, action: string, body: object = {}) =>
  control(ports, "POST", `/v1/subscriptions/${name}/${action}`, body)

describePostgres("subscriptions issued while a gateway runs", () => {
  it("open what they say, with either key, through their states; an illegal step is told what is possible", async () => {
    const { ports, runtime } = await one()
    const keys = await create(ports, { name: "carl", scope: { product: "gold" }, owner: "carl" })
    expect(await items(ports, keys.primary)).toBe(401)
    expect(await act(ports, "carl", "suspend")).toMatchObject({
      status: 409,
      body: {
        detail:
          "`carl` is submitted and cannot be suspended; possible actions: `approve`, `reject`, `cancel`, `delete`",
      },
    })
    expect(await act(ports, "carl", "approve")).toMatchObject({ status: 200, body: { state: "active" } })
    expect([await items(ports, keys.primary), await items(ports, keys.secondary)]).toEqual([200, 200])
    expect(await items(ports, keys.primary, "/order/1")).toBe(401)
    expect(await act(ports, "carl", "suspend")).toMatchObject({ body: { state: "suspended" } })
    expect(await items(ports, keys.primary)).toBe(401)
    expect(await act(ports, "carl", "activate")).toMatchObject({ body: { state: "active" } })
    expect(await items(ports, keys.primary)).toBe(200)
    const rotated = await act(ports, "carl", "rotate", { key: "primary" })
    const { primary } = rotated.body["keys"] as Keys
    expect(rotated.body["keys"]).toEqual({ primary })
    expect([await items(ports, keys.primary), await items(ports, primary)]).toEqual([401, 200])
    expect(await items(ports, keys.secondary)).toBe(200)
    expect(await act(ports, "carl", "cancel")).toMatchObject({ body: { state: "cancelled" } })
    expect((await act(ports, "carl", "activate")).body["detail"]).toMatch(
      /only `delete`; then create a new one/,
    )
    expect((await act(ports, "carl", "rotate", { key: "primary" })).status).toBe(409)
    expect(await items(ports, primary)).toBe(401)
    expect((await control(ports, "DELETE", "/v1/subscriptions/carl")).status).toBe(204)
    expect((await control(ports, "DELETE", "/v1/subscriptions/carl")).status).toBe(404)
    expect((await control(ports, "GET", "/v1/subscriptions/carl")).status).toBe(404)
    await create(ports, { name: "dora", scope: { product: "gold" } })
    expect(await act(ports, "dora", "reject")).toMatchObject({ body: { state: "rejected" } })
    const shown = JSON.stringify(runtime.lines)
    for (const key of [keys.primary, keys.secondary, primary]) expect(shown).not.toContain(key)
  })

  it("are refused for what the plan does not have, for names and bounds, and keep keys that were made elsewhere", async () => {
    const { ports } = await one()
    const refused = async (body: object) => {
      const answer = await control(ports, "POST", "/v1/subscriptions", body)
      return `${answer.status} ${answer.body["detail"]}`
    }
    expect(await refused({ name: "x", scope: { product: "tin" } })).toMatch(/422 .* no product `tin`/)
    expect(await refused({ name: "x", scope: { api: "tin" } })).toMatch(/422 .* no API `tin`/)
    expect(await refused({ name: "x", scope: { product: "old" } })).toMatch(/422 .* not published/)
    expect(await refused({ name: "root", scope: { all: true } })).toMatch(/409 gateway.conf declares/)
    expect(await refused({ name: "9", scope: { all: true } })).toMatch(/400 name: /)
    expect(await refused({ name: "x", scope: { all: true }, expiresAt: "2020-01-01T00:00:00Z" })).toMatch(
      /422/,
    )
    expect(await refused({ name: "x", scope: { all: true }, extra: 1 })).toMatch(/400/)
    for (const name of ["e1", "e2"]) await create(ports, { name, scope: { product: "gold" }, owner: "emil" })
    expect(await refused({ name: "e3", scope: { product: "gold" }, owner: "emil" })).toMatch(
      /409 `emil` already has 2 of 2 subscriptions to `gold`/,
    )
    expect(await refused({ name: "e1", scope: { product: "silver" } })).toMatch(
      /409 a subscription `e1` already exists/,
    )
    const own = { primary: "0123456789abcdef0123456789abcdef", secondary: "fedcba9876543210fedcba9876543210" }
    const made = await control(ports, "POST", "/v1/subscriptions", {
      name: "moved",
      scope: { product: "silver" },
      keys: own,
    })
    expect(made.body["keys"]).toEqual({})
    expect([await items(ports, own.primary), await items(ports, own.secondary)]).toEqual([200, 200])
    expect(await refused({ name: "moved2", scope: { all: true }, keys: own })).toMatch(/409 one of the keys/)
    expect((await act(ports, "moved", "rotate", { key: "third" })).status).toBe(400)
    expect((await act(ports, "root", "cancel")).body["detail"]).toMatch(/declared in gateway.conf/)
    expect((await control(ports, "DELETE", "/v1/subscriptions/root")).status).toBe(409)
    expect([await items(ports, keyOf("root")), await items(ports, keyOf("root-next"))]).toEqual([200, 200])
  })

  it("tell policy documents who holds them, and from when until when they hold", async () => {
    const { ports, runtime } = await one()
    const shown = `<policies><inbound><base /><return-response><set-body>@(string.Join("|", context.Subscription.Name, context.User?.Id, context.User?.Email, (DateTime.UtcNow - (DateTime)context.Subscription.StartDate).TotalHours < 1, context.Subscription.EndDate?.ToString("yyyy-MM-dd")))</set-body></return-response></inbound></policies>`
    const api = `\napi shown { path "/shown"; auth subscription; GET "/" { policy xml "shown.xml" } }`
    await runtime.apply(planOf(ports, "hello", more + api, undefined, [["shown.xml", shown]]), author)
    const scope = { all: true }
    const hal = await create(ports, {
      name: "hal",
      scope,
      owner: "hal@example.org",
      expiresAt: "2099-01-02T00:00:00Z",
    })
    const ida = await create(ports, { name: "ida", scope })
    const told = async (key: string): Promise<string> => {
      const headers = { "ocp-apim-subscription-key": key }
      return (await fetch(`http://127.0.0.1:${ports.gateway}/shown`, { headers })).text()
    }
    await until(async () => (await items(ports, ida.primary)) === 200)
    expect(await told(hal.primary)).toBe("hal|hal@example.org|hal@example.org|True|2099-01-02")
    expect(await told(ida.secondary)).toBe("ida|||True|")
  })

  it("are listed with those of the text, by page and filter; an expired one is told and comes back with a new end", async () => {
    const { ports } = await one()
    const soon = new Date(Date.now() + promptlyMs(400)).toISOString()
    const keys = await create(ports, { name: "fay", scope: { api: "items" }, expiresAt: soon, owner: "fay" })
    await create(ports, { name: "gus", scope: { all: true }, note: "for tests" })
    const listed = async (query: string) => {
      const { body } = await control(ports, "GET", `/v1/subscriptions${query}`)
      const found = body["subscriptions"] as { name: string; source: string; state: string }[]
      return { names: found.map(({ name }) => name), next: body["next"], gateway: body["gateway"] }
    }
    expect(await listed("")).toEqual({
      names: ["ann", "bob", "fay", "gus", "root"],
      next: null,
      gateway: "test",
    })
    expect(await listed("?limit=3")).toMatchObject({ names: ["ann", "bob", "fay"], next: "fay" })
    expect(await listed("?limit=3&after=fay")).toMatchObject({ names: ["gus", "root"], next: null })
    expect(await listed("?text=TESTS")).toMatchObject({ names: ["gus"] })
    expect(await listed(`?prefix=${keys.secondary.slice(0, 11)}`)).toMatchObject({ names: ["fay"] })
    expect((await control(ports, "GET", "/v1/subscriptions?limit=0")).status).toBe(400)
    expect((await control(ports, "GET", "/v1/subscriptions?colour=red")).status).toBe(400)
    await until(async () => (await items(ports, keys.primary)) === 401)
    expect(await listed("?state=expired")).toMatchObject({ names: ["fay"] })
    expect((await act(ports, "fay", "activate")).body["detail"]).toMatch(/set a new end, or none/)
    expect(await act(ports, "fay", "activate", { expiresAt: null })).toMatchObject({
      body: { state: "active" },
    })
    expect(await items(ports, keys.primary)).toBe(200)
    expect((await control(ports, "GET", "/v1/subscriptions", undefined, "Bearer wrong")).status).toBe(401)
  })

  it("count in every process within a second", async () => {
    const { url, ports } = await one()
    const elsewhere = await freePorts()
    // A gateway on its own addresses, with a plan of its own, over the same database.
    const second = await start(url, elsewhere, { env, plan: planOf(elsewhere, "hello", more) }, ["gateway"])
    stops.push(() => second.close())
    const keys = await create(ports, { name: "hal", scope: { product: "silver" } })
    expect(await until(async () => (await items(elsewhere, keys.primary)) === 200)).toBeLessThan(
      promptlyMs(1_000),
    )
    await act(ports, "hal", "suspend")
    expect(await until(async () => (await items(elsewhere, keys.primary)) === 401)).toBeLessThan(
      promptlyMs(1_000),
    )
  })

  it("count on where the database is away, and the control API says that it is", async () => {
    const server = await startThrowAwayPostgres({ migrated: true })
    stops.push(() => server.stop())
    const url = server.url("postgres")
    const ports = await freePorts()
    const runtime = await running(url, ports)
    await runtime.apply(planOf(ports, "hello", more), author)
    const keys = await create(ports, { name: "ida", scope: { product: "silver" } })
    await server.stop()
    expect(await items(ports, keys.primary)).toBe(200)
    expect(await items(ports, "nobody")).toBe(401)
    expect((await act(ports, "ida", "suspend")).status).toBe(503)
    await until(async () =>
      runtime.lines.some((line) => line.includes("issued subscriptions could not be updated")),
    )
  })
})
