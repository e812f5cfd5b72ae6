import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { afterEach, expect, it } from "vitest"
import type { UsageLine } from "../../runtime/control/api.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, control, freePorts, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const more = `
api items {
  path "/items"
  auth subscription
  version v0 { removed; GET "/" { respond 200 { body text "the first items" } } }
  version v1 { deprecated; GET "/" { respond 200 { body text "old items" } } }
  version v2 { GET "/" { respond 200 { body text "items" } }; GET "/bad" { respond 503 } }
}
product gold { apis items; price 0.0025 EUR per call }`

async function running(url: string, ports: Ports, folder?: string): ReturnType<typeof start> {
  const runtime = await start(url, ports, folder === undefined ? {} : { spoolFolder: folder })
  stops.push(() => runtime.close())
  return runtime
}

async function key(ports: Ports, name: string): Promise<string> {
  const made = await control(ports, "POST", "/v1/subscriptions", { name, scope: { product: "gold" } })
  return (made.body["keys"] as { primary: string }).primary
}

async function call(ports: Ports, path: string, own: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
    headers: { "x-api-key": own },
  })
  await response.arrayBuffer()
}

async function usage(ports: Ports, query: string): Promise<UsageLine[]> {
  const { status, body } = await control(ports, "GET", `/v1/usage?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body["lines"] as UsageLine[]
}

describePostgres("usage of a gateway", () => {
  it("is told by what is asked, with what it costs; deprecated versions alone; over a restart", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const first = await start(url, ports)
    await first.apply(planOf(ports, "hello", more), author)
    const [ann, bob] = [await key(ports, "anna"), await key(ports, "bert")]
    for (let index = 0; index < 4; index += 1) await call(ports, "/v2/items", ann)
    await call(ports, "/v2/items/bad", ann)
    await call(ports, "/v2/items", "nobody")
    await call(ports, "/v1/items", bob)
    const lines = await usage(ports, "by=subscription,product&api=items")
    expect(
      lines.map(({ key: words, calls, billed, amounts }) => ({ ...words, calls, billed, amounts })),
    ).toEqual([
      {
        subscription: "anna",
        product: "gold",
        calls: 5,
        billed: 4,
        amounts: [{ amount: "0.01", currency: "EUR" }],
      },
      { subscription: "", product: "", calls: 1, billed: 0, amounts: [] },
      {
        subscription: "bert",
        product: "gold",
        calls: 1,
        billed: 1,
        amounts: [{ amount: "0.0025", currency: "EUR" }],
      },
    ])
    expect(lines[0]?.bytesOut).toBe(4 * "items".length)
    expect(lines[0]?.p99).toBeGreaterThan(0)
    expect(
      (await usage(ports, "by=status&api=items")).map(({ key: words, calls }) => [words.status, calls]),
    ).toEqual([
      ["2xx", 5],
      ["4xx", 1],
      ["5xx", 1],
    ])
    // What was removed is answered 410 before anybody asks who calls; a key that is shown says it all the same.
    for (const own of [bob, bob, "nobody"]) await call(ports, "/v0/items", own)
    const still = await usage(ports, "deprecated=true&by=subscription,product")
    expect(still.map(({ key: words, calls, billed }) => ({ ...words, calls, billed }))).toEqual([
      { subscription: "bert", product: "gold", api: "items", version: "v0", calls: 2, billed: 0 },
      { subscription: "", product: "", api: "items", version: "v0", calls: 1, billed: 0 },
      { subscription: "bert", product: "gold", api: "items", version: "v1", calls: 1, billed: 1 },
    ])
    expect(await usage(ports, "by=day&since=2999-01-01T00:00:00Z")).toEqual([])
    for (const wrong of ["by=colour", "since=yesterday", "deprecated=maybe", "more=1"])
      expect((await control(ports, "GET", `/v1/usage?${wrong}`)).status).toBe(400)
    expect((await control(ports, "GET", "/v1/usage", undefined, "Bearer wrong")).status).toBe(401)
    await call(ports, "/v2/items", ann)
    // What was counted a moment before the end is not lost.
    await first.close()
    await running(url, ports)
    expect(await usage(ports, "subscription=anna")).toMatchObject([{ calls: 6 }])
  })

  it("names who calls by a token, and nobody by a token that is refused", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const cwd = await mkdtemp(join(tmpdir(), "sallyport-usage-"))
    stops.push(() => rm(cwd, { recursive: true }))
    const ports = await freePorts()
    const runtime = await start(url, ports, { cwd })
    stops.push(() => runtime.close())
    const { publicKey, privateKey } = await generateKeyPair("ES256")
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "1" }] }
    await writeFile(join(cwd, "jwks.json"), JSON.stringify(keys))
    const apis = `
issuer corp { keys file("jwks.json"); issuer "https://corp.example"; audience gateway }
api open { path "/open"; auth jwt corp; GET "/" { respond 200 } }`
    await runtime.apply(planOf(ports, "hello", apis), author)
    const calls = async (sub: string, audience: string) => {
      const token = await new SignJWT({ sub })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer("https://corp.example")
        .setAudience(audience)
        .setExpirationTime("5m")
        .sign(privateKey)
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`http://127.0.0.1:${ports.gateway}/open`, { headers })).status
    }
    expect([
      await calls("jane", "gateway"),
      await calls("jane", "gateway"),
      await calls("joe", "other"),
    ]).toEqual([200, 200, 401])
    const told = await usage(ports, "by=subscription,user,status&api=open")
    expect(told.map(({ key: words, calls: n }) => ({ ...words, n }))).toEqual([
      { subscription: "", user: "jane", status: "2xx", n: 2 },
      { subscription: "", user: "", status: "4xx", n: 1 },
    ])
    expect(await usage(ports, "user=jane")).toMatchObject([{ calls: 2 }])
    expect(await usage(ports, "user=joe")).toEqual([])
  })

  it("waits on disk while the database is away; the process says that it is degraded, and why", async () => {
    const server = await startThrowAwayPostgres({ migrated: true })
    stops.push(() => server.stop())
    const url = server.url("postgres")
    const ports = await freePorts()
    const runtime = await running(url, ports)
    await runtime.apply(planOf(ports, "hello", more), author)
    const state = async () =>
      (await control(ports, "GET", "/v1/status")).body as {
        serial: unknown
        processes: { state: string; reasons: string[] }[]
        warnings: string[]
      }
    const ann = await key(ports, "anna")
    await call(ports, "/v2/items", ann)
    await expect
      .poll(async () => (await state()).processes)
      .toMatchObject([{ state: "active", reasons: [], subscriptions: 1 }])
    await server.stop()
    await call(ports, "/v2/items", ann)
    await expect
      .poll(async () => (await state()).processes[0]?.reasons.join())
      .toMatch(/issued subscriptions are not updated: {2}.*usage is stored on disk: /)
    expect(await state()).toMatchObject({
      serial: null,
      processes: [{ state: "degraded" }],
      warnings: [expect.stringMatching(/only the process that was asked is shown/)],
    })
    const page = (await control(ports, "GET", "/metrics")).body["text"]
    expect(page).toMatch(/sallyport_state\{state="degraded"\} 1\n/)
    expect(page).toMatch(/sallyport_usage_spooled_batches [1-9]/)
    expect((await control(ports, "GET", "/v1/usage")).status).toBe(503)
    expect(
      (
        await fetch(`http://127.0.0.1:${ports.gateway}/v2/items`, {
          headers: { "x-api-key": ann },
        })
      ).status,
    ).toBe(200)
  })
})
