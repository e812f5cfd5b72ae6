import { afterEach, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const more = `
api items {
  path "/items"
  auth subscription
  version v1 { removed; successor v2 }
  version v2 { deprecated 2026-03-01; successor v3; GET "/" { respond 200 { body text "\${product.name}/\${subscription.name}" } } }
  version v3
  GET "/" { respond 200 }
}
api closed { path "/closed"; auth subscription; GET "/" { respond 200 } }
product free { apis items; open }
product gone { apis closed; open; unpublished }`

describePostgres("a call without a key", () => {
  it("of an open product passes as one of it, with a wrong key it does not; versions tell their end", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    await runtime.apply(planOf(ports, "hello", more), author)
    const call = (path: string, key?: string) =>
      fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
        headers: key === undefined ? {} : { "x-api-key": key },
      })
    const open = await call("/v2/items")
    expect([open.status, await open.text()]).toEqual([200, "free/"])
    expect(open.headers.get("deprecation")).toBe("@1772323200")
    expect(open.headers.get("link")).toBe('</v3/items>; rel="successor-version"')
    expect((await call("/v2/items", "wrong")).status).toBe(401)
    expect((await call("/closed")).status).toBe(401)
    const removed = await call("/v1/items")
    expect([removed.status, removed.headers.get("link")]).toEqual([
      410,
      '</v2/items>; rel="successor-version"',
    ])
    const { body } = await control(ports, "GET", "/v1/usage?by=subscription,product&api=items")
    expect(body["lines"]).toMatchObject([
      { key: { subscription: "", product: "" }, calls: 2 },
      { key: { subscription: "", product: "free" }, calls: 1 },
    ])
  })
})
