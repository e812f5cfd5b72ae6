import { afterEach, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const more = `
api items { path "/items"; auth subscription; GET "/" { respond 200 { body text "0123456789" } } }
api paid { path "/paid"; auth subscription; quota 3 calls per 1d by subscription
  GET "/" { respond 200 } }
product gold { apis items; quota 2 calls in total by subscription }
product silver { apis items; quota 25B per 30d by subscription }
secret gold_key = env(GOLD_KEY)
secret silver_key = env(SILVER_KEY)
secret paid_key = env(PAID_KEY)
subscription golden { product gold; key gold_key }
subscription silvery { product silver; key silver_key }
subscription payer { api paid; key paid_key }`

async function call(ports: Ports, path: string, key: string) {
  const response = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
    headers: { "x-api-key": key },
  })
  const text = await response.text()
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text }
}

describePostgres("a quota of a product or an API", () => {
  it("refuses with 403 when calls or bytes are used up, each in its words, also after a restart", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const names = ["ann", "bob", "gold", "silver", "paid"]
    const env = Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_KEY`, keyOf(name)]))
    const first = await start(url, ports, { env })
    const plan = planOf(ports, "hello", more)
    await first.apply(plan, author)
    const gold = () => call(ports, "/items", keyOf("gold"))
    const silver = () => call(ports, "/items", keyOf("silver"))
    expect([(await gold()).status, (await gold()).status]).toEqual([200, 200])
    const out = await gold()
    expect(out).toMatchObject({ status: 403, retryAfter: null })
    expect(JSON.parse(out.text)).toMatchObject({ status: 403, detail: "The quota of calls is used up." })
    for (let index = 0; index < 3; index += 1) expect((await silver()).status).toBe(200)
    const wide = await silver()
    expect(wide.status).toBe(403)
    expect(Number(wide.retryAfter)).toBeGreaterThan(0)
    expect(JSON.parse(wide.text).detail).toMatch(
      /^The quota of bytes is used up\. It is renewed in \d+ seconds\.$/,
    )
    const paid = async (path: string) => (await call(ports, path, keyOf("paid"))).status
    expect([await paid("/paid"), await paid("/paid"), await paid("/paid"), await paid("/paid")]).toEqual([
      200, 200, 200, 403,
    ])
    await first.close()
    const second = await start(url, ports, { env })
    stops.push(() => second.close())
    expect([(await gold()).status, (await silver()).status, await paid("/paid")]).toEqual([403, 403, 403])
  })
})
