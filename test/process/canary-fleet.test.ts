import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Client } from "pg"
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { CanaryAnswer } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { ProcessRole, Runtime } from "../../runtime/process/settings.ts"
import { compile } from "../compile.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { author, control, freePorts, type Ports, start } from "./project.ts"

/** The engine is only in the first process. */
const authz = await freePort()
const key = Buffer.from("a key of 24 bytes or more")

interface Text {
  readonly hello?: string
  readonly more?: string
}

function plan({ hello = "respond 200", more = "" }: Text = {}): Plan {
  const text = `
gateway test { listen env(GATEWAY_LISTEN); trust none }
authz { listen 127.0.0.1:${authz}; store acme { model "acme.fga" } }
api hello { path "/hello"; auth none; GET "/" { ${hello} } }
${more}`
  const model = `model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n`
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", model],
  ])
  const { plan: compiled, diagnostics } = compile(files, "gateway.conf")
  if (compiled === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return compiled
}

const oldPlan = plan({ hello: 'respond 200 { body text "old" }' })
const newPlan = plan({ hello: 'respond 200 { body text "new" }' })
const brokenPlan = plan({ hello: 'respond 503 { body text "broken" }' })

/** Which plan serves each of these callers, on this address. */
async function sides(port: number, callers: readonly string[]): Promise<string[]> {
  const texts = []
  for (const caller of callers) {
    const headers = { authorization: `Bearer ${caller}` }
    texts.push(await (await fetch(`http://127.0.0.1:${port}/hello`, { headers })).text())
  }
  return texts
}

const callers = Array.from({ length: 60 }, (_, at) => `caller-${at}`)
const newOf = (texts: readonly string[]) => texts.filter((text) => text !== "old").length

describePostgres("a canary in a fleet", () => {
  let ports: Ports
  let second: number
  let url: string
  let drop: () => Promise<void>
  let runtime: Runtime
  let other: Runtime
  const events: { readonly type: string; readonly data: Record<string, unknown> }[] = []
  const receiver = createServer(async (request, response) => {
    const text = (await request.toArray()).join("")
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers
    const expected = createHmac("sha256", key).update(`${id}.${at}.${text}`).digest("base64")
    if (signature === `v1,${expected}`) events.push(JSON.parse(text))
    response.writeHead(204).end()
  })

  const env = (gateway: number) => ({ GATEWAY_LISTEN: `127.0.0.1:${gateway}` })
  const startOther = async (roles: readonly ProcessRole[] = ["gateway"]) => {
    other = await start(
      url,
      { ...ports, control: await freePort() },
      { env: env(second), graceMs: 100 },
      roles,
    )
  }
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  })
  afterAll(() => {
    receiver.close()
  })
  beforeEach(async () => {
    const database = await createMigratedDatabase()
    ;({ url, drop } = database)
    ports = await freePorts()
    second = await freePort()
    const { port } = receiver.address() as AddressInfo
    const webhooks = { urls: [`http://127.0.0.1:${port}/`], secret: `whsec_${key.toString("base64")}` }
    runtime = await start(url, ports, { webhooks, env: env(ports.gateway), graceMs: 100 })
    await runtime.apply(oldPlan, author)
    await startOther()
    events.length = 0
  })
  afterEach(async () => {
    await Promise.all([runtime.close(), other.close()])
    await drop()
  })

  const begin = (next: Plan, more: object = {}, base = 1) =>
    control(ports, "POST", "/v1/canary", { plan: next, base, author, percent: 30, seconds: 600, ...more })
  const newest = async () =>
    (await control(ports, "GET", "/v1/canary")).body as unknown as CanaryAnswer & {
      canary: NonNullable<CanaryAnswer["canary"]>
    }
  const end = async (how: "promote" | "cancel", id?: string) =>
    control(ports, "POST", `/v1/canary/${how}`, { id: id ?? (await newest()).canary.id, author })
  /** The other process follows. */
  const served = (side: (count: number) => boolean, port = second) =>
    expect.poll(async () => side(newOf(await sides(port, callers)))).toBe(true)
  const some = (count: number) => count > 0 && count < callers.length
  const audited = async () => {
    const { body } = await control(ports, "GET", "/v1/audit")
    return (body["rows"] as { entry: string }[]).map(({ entry }) => JSON.parse(entry))
  }

  it("serves the same callers in every process, also in one that starts meanwhile, until it is promoted", async () => {
    const begun = await begin(newPlan)
    expect(begun.status).toBe(200)
    const here = await sides(ports.gateway, callers)
    // A share of 30 % of 60 callers: by chance less than 4 or more than 36 once in a million.
    expect(newOf(here)).toBeGreaterThan(3)
    expect(newOf(here)).toBeLessThan(37)
    expect(await sides(ports.gateway, callers)).toEqual(here)
    await expect.poll(() => sides(second, callers)).toEqual(here)
    await other.close()
    await startOther()
    expect(await sides(second, callers)).toEqual(here)
    await expect.poll(async () => (await newest()).processes.length).toBe(3)
    const counted = async () => (await newest()).canary.counts?.new.requests ?? 0
    await expect.poll(counted).toBeGreaterThanOrEqual(4 * newOf(here))
    expect((await control(ports, "GET", "/v1/status")).body["canary"]).toMatchObject({ state: "running" })
    const metrics = (await control(ports, "GET", "/metrics")).body["text"]
    expect(metrics).toMatch(/sallyport_canary_requests_total\{plan="new",outcome="ok"\} [1-9]/)
    // Nobody loses sight of what another has begun.
    const put = await control(ports, "PUT", "/v1/plan", { plan: brokenPlan, base: 1, author })
    expect([put.status, put.body["detail"]]).toEqual([409, expect.stringMatching(/^a canary of test runs/)])
    expect((await begin(brokenPlan)).status).toBe(409)
    expect(await end("promote", "another")).toMatchObject({ status: 404 })
    expect(await end("promote")).toMatchObject({
      status: 200,
      body: { canary: { serial: 2, endedBy: "test" } },
    })
    await served((count) => count === callers.length, ports.gateway)
    await served((count) => count === callers.length)
    await expect.poll(() => other.serial()).toBe(2)
    expect((await end("cancel")).body["detail"]).toContain("it was promoted")
    await expect
      .poll(() => events.map(({ type }) => type))
      .toEqual(["canary.started", "canary.ended", "plan.applied"])
    const history = (await control(ports, "GET", "/v1/plans")).body
    expect(history).toMatchObject({
      plans: [{ serial: 2, who: "test" }, {}],
      canaries: [{ state: "promoted" }],
    })
  })

  it("returns by itself when the new plan fails", async () => {
    expect((await begin(brokenPlan, { limits: { requestsMin: 20 } })).status).toBe(200)
    await expect
      .poll(async () => {
        await sides(ports.gateway, callers)
        return (await newest()).canary
      })
      .toMatchObject({ state: "returned", endedBy: null, reason: expect.stringMatching(/^errors: 100 %/) })
    await served((count) => count === 0, ports.gateway)
    await served((count) => count === 0)
    expect(runtime.serial()).toBe(1)
    await expect
      .poll(() => events.at(-1))
      .toMatchObject({
        type: "canary.ended",
        data: { state: "returned", counts: { new: { requests: expect.any(Number) } } },
      })
    expect(await audited()).toContainEqual(
      expect.objectContaining({
        action: "plan.canary",
        event: "decided",
        who: expect.objectContaining({ kind: "process" }),
        details: expect.objectContaining({ state: "returned" }),
      }),
    )
    // The way is free again.
    expect((await control(ports, "PUT", "/v1/plan", { plan: newPlan, base: 1, author })).status).toBe(200)
  })

  it("becomes the plan of all callers when its time is over, or returns when nobody could compare", async () => {
    expect((await begin(newPlan, { seconds: 1 })).status).toBe(200)
    await expect
      .poll(async () => (await newest()).canary)
      .toMatchObject({
        state: "returned",
        reason: "the time is over, and the new plan served 0 of at least 50 requests",
      })
    expect((await begin(newPlan, { seconds: 1, limits: { requestsMin: 0 } })).status).toBe(200)
    await expect.poll(() => runtime.serial()).toBe(2)
    await served((count) => count === callers.length)
    expect((await newest()).canary).toMatchObject({ state: "promoted", endedBy: null, serial: 2 })
  })

  it("returns when a process cannot serve the plan", async () => {
    const port = await freePort()
    const needs = plan({ more: `secret only = env(ONLY_HERE)\nsubscription s { api hello; key only }` })
    await Promise.all([runtime.close(), other.close()])
    const own = { ...env(ports.gateway), ONLY_HERE: "a-key-of-16-bytes-or-more" }
    runtime = await start(url, ports, { env: own, graceMs: 100 })
    second = port
    await startOther()
    expect((await begin(needs)).status).toBe(200)
    await expect
      .poll(async () => (await newest()).canary)
      .toMatchObject({
        state: "returned",
        reason: expect.stringContaining("cannot serve the plan: "),
      })
    expect((await newest()).processes).toContainEqual(
      expect.objectContaining({ error: expect.stringContaining("ONLY_HERE") }),
    )
  })

  it("is given up where nobody judges it, and ends when another plan comes", async () => {
    expect((await begin(newPlan)).status).toBe(200)
    await served(some)
    // The only process that judges has ended.
    await runtime.close()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query("update sallyport.plan_canaries set watched_at = now() - interval '1 minute'")
    await served((count) => count === 0)
    // It judges again, and the canary goes on.
    runtime = await start(url, ports, { env: env(ports.gateway), graceMs: 100 })
    await served(some)
    expect(await runtime.apply(plan({ hello: 'respond 200 { body text "third" }' }), author)).toMatchObject({
      kind: "done",
    })
    await expect.poll(() => other.serial()).toBe(2)
    expect((await newest()).canary).toMatchObject({
      state: "superseded",
      reason: "serial 2 was applied for all callers",
    })
    await client.end()
  })
})
