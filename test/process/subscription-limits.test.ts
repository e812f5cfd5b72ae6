import { afterAll, beforeAll, expect, it } from "vitest"
import type { LimitsAnswer, ProductListAnswer } from "../../runtime/control/api.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const more = `
api items {
  path "/items"
  auth subscription
  limit 20 per 1m by subscription
  version v1 { GET "/" { respond 200 { body text "0123456789" } } }
  version v2 { quota 9 calls per 1h by subscription; GET "/" { respond 200 } }
}
api paid {
  path "/paid"
  auth subscription
  quota 3 calls per 1d by subscription
  GET "/" { respond 200 }
}
api words {
  path "/words"
  auth subscription
  limit 500 per 2m by subscription { count tokens reported }
  quota 70 calls per 1d by ip
  POST "/" { limit 8 per 1m by subscription; respond 200 }
}
product gold { apis items; quota 5 calls per 30d by subscription; quota 1MB in total by subscription { starts 2026-01-01 } }
product silver { apis items; limit 2 per 1s by subscription }
product bare { apis hello }
product asked { apis paid words; approval required; subscriptions 7 per owner; price 0.002 EUR per call }
secret paid_key = env(PAID_KEY)
secret root_key = env(ROOT_KEY)
subscription payer { api paid; key paid_key }
subscription root { api *; key root_key }
secret first_key = env(FIRST_KEY)
subscription first { product asked; key first_key }`

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const items = [
  { api: "items", version: "v1" },
  { api: "items", version: "v2" },
]
const everyMinute = { unit: "calls", calls: 20, seconds: 60, where: items }

describePostgres("what counts by a subscription", () => {
  let ports: Ports
  let close: () => Promise<unknown>
  const limits = async (name: string) =>
    (await control(ports, "GET", `/v1/subscriptions/${name}/limits`)).body as unknown as LimitsAnswer
  const call = async (path: string, key: string) => {
    const response = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
      headers: { "x-api-key": key },
    })
    await response.arrayBuffer()
    return response.status
  }
  const issue = async (name: string, scope: object) => {
    const made = await control(ports, "POST", "/v1/subscriptions", { name, scope })
    return made.body as unknown as {
      subscription: { createdAt: string }
      keys: { primary: string }
    }
  }

  beforeAll(async () => {
    const { url, drop } = await createMigratedDatabase()
    ports = await freePorts()
    const names = ["ann", "bob", "paid", "root", "first"]
    const env = Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_KEY`, keyOf(name)]))
    const runtime = await start(url, ports, { env })
    close = () => runtime.close().finally(drop)
    await runtime.apply(planOf(ports, "hello", more), author)
  })
  afterAll(() => close())

  it("has the limits and quotas of the product and its APIs, with what calls have used", async () => {
    const { subscription, keys } = await issue("lena", { product: "gold" })
    const begun = subscription.createdAt
    const after = (ms: number) => new Date(Date.parse(begun) + ms).toISOString()
    const [hour, month, total] = [
      { unit: "calls", calls: 9, bytes: null, seconds: 3600, where: items.slice(1) },
      { unit: "calls", calls: 5, bytes: null, seconds: 2_592_000, where: items },
      { unit: "calls", calls: null, bytes: 2 ** 20, seconds: 0, where: items },
    ]
    const unused = { used: { calls: 0, bytes: 0 }, startsAt: begun }
    const sorted = ({ limits, quotas }: LimitsAnswer) => ({
      limits,
      quotas: quotas.toSorted((one, other) => (other.calls ?? 0) - (one.calls ?? 0)),
    })
    expect(sorted(await limits("lena"))).toEqual({
      limits: [everyMinute],
      quotas: [
        { ...hour, ...unused, endsAt: after(hourMs) },
        { ...month, ...unused, endsAt: after(30 * dayMs) },
        { ...total, ...unused, startsAt: "2026-01-01T00:00:00.000Z", endsAt: null },
      ],
    })
    expect([await call("/v1/items", keys.primary), await call("/v2/items", keys.primary)]).toEqual([200, 200])
    // Bytes are written a second later.
    await expect
      .poll(async () => sorted(await limits("lena")).quotas.map(({ used }) => used), { timeout: 10_000 })
      .toEqual([
        { calls: 1, bytes: 0 },
        { calls: 2, bytes: 0 },
        { calls: 0, bytes: 10 },
      ])
    for (const status of [200, 200, 200, 403]) expect(await call("/v1/items", keys.primary)).toBe(status)
    expect(sorted(await limits("lena")).quotas[1]).toMatchObject({ calls: 5, used: { calls: 5 } })
  })

  it("counts periods of a subscription of gateway.conf from 1970 on, as the gateway does", async () => {
    for (const status of [200, 200, 200, 403]) expect(await call("/paid", keyOf("paid"))).toBe(status)
    const startMs = Math.floor(Date.now() / dayMs) * dayMs
    expect(await limits("payer")).toEqual({
      limits: [],
      quotas: [
        {
          ...{ unit: "calls", calls: 3, bytes: null, seconds: 86_400 },
          where: [{ api: "paid", version: null }],
          used: { calls: 3, bytes: 0 },
          startsAt: new Date(startMs).toISOString(),
          endsAt: new Date(startMs + dayMs).toISOString(),
        },
      ],
    })
  })

  it("leaves out what another product counts, what counts by something else, and other APIs", async () => {
    const ofWords = [
      { unit: "tokens", calls: 500, seconds: 120, where: [{ api: "words", version: null }] },
      { unit: "calls", calls: 8, seconds: 60, where: [{ api: "words", version: null }] },
    ]
    const bySize = ({ limits: all }: LimitsAnswer) => all.toSorted((one, other) => other.calls - one.calls)
    const all = await limits("root")
    expect(bySize(all)).toEqual([ofWords[0], everyMinute, ofWords[1]])
    expect(all.quotas.map(({ calls }) => calls).toSorted()).toEqual([3, 9])

    await issue("sam", { product: "silver" })
    const ofSilver = { unit: "calls", calls: 2, seconds: 1, where: items }
    expect(bySize(await limits("sam"))).toEqual([everyMinute, ofSilver])
    await issue("wes", { api: "words" })
    expect(await limits("wes")).toMatchObject({ quotas: [] })
    expect(bySize(await limits("wes"))).toEqual(ofWords)
    await issue("bea", { product: "bare" })
    expect(await limits("bea")).toEqual({ limits: [], quotas: [] })
  })

  it("lists the products with what they count, and how many subscriptions they have by state", async () => {
    for (const name of ["one", "two", "three", "four", "five"]) await issue(name, { product: "asked" })
    const act = (path: string, body: object = {}) => control(ports, "POST", `/v1/subscriptions/${path}`, body)
    await act("one/approve")
    await act("two/approve")
    await act("two/activate")
    await act("two/suspend")
    await act("three/reject")
    await control(ports, "DELETE", "/v1/subscriptions/four")
    await act("five/cancel")
    await issue("six", { api: "paid" })
    const soon = new Date(Date.now() + 500).toISOString()
    const ending = { name: "seven", scope: { product: "asked" }, state: "active", expiresAt: soon }
    expect((await control(ports, "POST", "/v1/subscriptions", ending)).status).toBe(201)
    const list = async () =>
      (await control(ports, "GET", "/v1/products")).body as unknown as ProductListAnswer
    const found = (await list()).products
    expect(found.map(({ name }) => name)).toEqual(["asked", "bare", "gold", "silver"])
    const nothing = {
      approval: false,
      open: false,
      unpublished: false,
      price: null,
      subscriptionsPerOwner: null,
    }
    expect(found[1]).toEqual({
      ...{ name: "bare", apis: ["hello"], ...nothing, limits: [], quotas: [] },
      subscriptions: expect.any(Object),
    })
    expect(found[2]?.limits).toEqual([everyMinute])
    const sizes = found[2]?.quotas.map(({ calls, bytes, seconds }) => [calls, bytes, seconds])
    expect(sizes?.toSorted()).toEqual([
      [null, 2 ** 20, 0],
      [5, null, 2_592_000],
      [9, null, 3600],
    ])
    expect(found[0]).toMatchObject({
      ...{ apis: ["paid", "words"], approval: true, subscriptionsPerOwner: 7 },
      price: { amount: "0.002", currency: "EUR" },
      quotas: [{ calls: 3, where: [{ api: "paid", version: null }] }],
    })
    // One of the active ones is that of gateway.conf, and another ends by itself.
    const counts = { active: 2, suspended: 1, rejected: 1, cancelled: 1, expired: 1 }
    await expect.poll(async () => (await list()).products[0]?.subscriptions).toEqual(counts)
    for (const [state, count] of Object.entries(counts)) {
      const { body } = await control(ports, "GET", `/v1/subscriptions?product=asked&state=${state}`)
      expect(body["subscriptions"], state).toHaveLength(count)
    }
    expect(
      (await control(ports, "GET", "/v1/products", undefined, "Bearer wrong-token-0123456789")).status,
    ).toBe(401)
  })

  it("knows no subscription that does not exist, and needs a credential", async () => {
    const path = "/v1/subscriptions/nobody/limits"
    expect(await control(ports, "GET", path)).toMatchObject({
      status: 404,
      body: {
        type: "urn:sallyport:control:not-found",
        detail: "there is no subscription `nobody`",
      },
    })
    expect((await control(ports, "GET", path, undefined, "Bearer wrong-token-0123456789")).status).toBe(401)
  })
})
