import { execFileSync } from "node:child_process"
import { afterEach, expect, it } from "vitest"
import { migrateDatabase } from "../../runtime/main.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createDatabase, createMigratedDatabase, describePostgres } from "../postgres.ts"
import { promptlyMs } from "../support/busy.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, call, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const quiet = createLog({ stream: { write: () => undefined } })

async function database(migrated = true): Promise<string> {
  const { url, drop } = await (migrated ? createMigratedDatabase() : createDatabase())
  stops.push(drop)
  return url
}

async function running(
  url: string,
  ports: Ports,
  more: Parameters<typeof start>[2] = {},
): ReturnType<typeof start> {
  const runtime = await start(url, ports, more)
  stops.push(() => runtime.close())
  return runtime
}

const put = (ports: Ports, plan: unknown, base: number | null) =>
  control(ports, "PUT", "/v1/plan", { plan, base, author })
const write = (ports: Ports, user: string, object: string) =>
  fetch(`http://127.0.0.1:${ports.authz}/stores/acme/write`, {
    method: "POST",
    body: JSON.stringify({ writes: { tuple_keys: [{ user, relation: "viewer", object }] } }),
  })

describePostgres("a process", () => {
  it("serves what is applied, the next plan after that, and the last one after a restart", async () => {
    const url = await database()
    const ports = await freePorts()
    const first = await start(url, ports)
    expect(await first.notReady()).toEqual(["no plan was applied yet; run `sallyport apply`"])
    expect((await control(ports, "GET", "/v1/plan")).status).toBe(404)
    expect(await put(ports, planOf(ports, "one"), null)).toMatchObject({
      status: 200,
      body: { applied: true, record: { serial: 1, who: "test" } },
    })
    expect(await call(ports, "/hello")).toBe("one")
    expect(await put(ports, planOf(ports, "two"), 1)).toMatchObject({
      status: 200,
      body: { applied: true, record: { serial: 2 } },
    })
    expect(await call(ports, "/hello")).toBe("two")
    expect(await put(ports, planOf(ports, "two"), 2)).toMatchObject({
      status: 200,
      body: { applied: false, record: { serial: 2 } },
    })
    expect(await first.notReady()).toEqual([])
    await first.close()
    await running(url, ports)
    expect(await call(ports, "/hello")).toBe("two")
  })

  it("answers `require` from tuples written a moment ago, and by the model of the plan", async () => {
    const ports = await freePorts()
    const runtime = await running(await database(), ports)
    await runtime.apply(planOf(ports), author)
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    expect((await write(ports, "user:ann", "order:1")).status).toBe(200)
    expect(await call(ports, "/order/1", "ann")).toBe("seen")
    expect(await call(ports, "/order/1", "bob")).toBe("403")
    await runtime.apply(planOf(ports, "x", "", "define blocked: [user]\n    define viewer: blocked"), author)
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    await runtime.apply(planOf(ports, "y"), author)
    expect(await call(ports, "/order/1", "ann")).toBe("seen")
  })

  it("lets exactly one of two applies with the same base win, and touches nothing for a stale one", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    await put(ports, planOf(ports, "base"), null)
    const both = await Promise.all(
      ["left", "right"].map((greeting) => put(ports, planOf(ports, greeting), 1)),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const stale = both.find(({ status }) => status === 412)
    expect(stale?.body).toMatchObject({ type: "urn:sallyport:control:plan-stale", current: { serial: 2 } })
    const winner = await call(ports, "/hello")
    expect(await put(ports, planOf(ports, "late"), 1)).toMatchObject({ status: 412 })
    expect(await put(ports, planOf(ports, "late"), null)).toMatchObject({ status: 412 })
    expect(await call(ports, "/hello")).toBe(winner)
    expect((await control(ports, "GET", "/v1/plans")).body["plans"]).toHaveLength(2)
  })

  it("names all unset variables at once and serves the old plan on", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    await put(ports, planOf(ports, "old"), null)
    const more = `value one = env(NOT_SET_ONE)\nvalue two = env(NOT_SET_TWO)\napi x { path "/x"; auth none; GET "/" { respond 200 { body text "\${one}\${two}" } } }`
    const refused = await put(ports, planOf(ports, "new", more), 1)
    expect(refused).toMatchObject({ status: 422, body: { type: "urn:sallyport:control:plan-refused" } })
    const problems = refused.body["problems"] as { message: string; origin: string }[]
    expect(problems.map(({ message }) => message)).toEqual([
      "the environment variable NOT_SET_ONE is not set; set it for this process",
      "the environment variable NOT_SET_TWO is not set; set it for this process",
    ])
    expect(problems[0]?.origin).toMatch(/^gateway\.conf:\d+$/)
    expect(await call(ports, "/hello")).toBe("old")
    expect((await control(ports, "GET", "/v1/plan")).body).toMatchObject({ record: { serial: 1 } })
  })

  it("refuses a port that is taken and serves the old plan on", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    await put(ports, planOf(ports, "old"), null)
    for (const taken of [
      { ...ports, gateway: ports.control },
      { ...ports, authz: ports.control },
    ]) {
      const refused = await put(ports, planOf(taken, "new"), 1)
      expect(refused).toMatchObject({ status: 422 })
      expect(JSON.stringify(refused.body)).toContain("the port is in use")
    }
    expect(await call(ports, "/hello")).toBe("old")
  })

  it("moves to other ports with the plan, and closes the old ones", async () => {
    const ports = await freePorts()
    const other = { ...(await freePorts()), control: ports.control }
    await running(await database(), ports)
    await put(ports, planOf(ports, "old"), null)
    await put(ports, planOf(other, "new"), 1)
    expect(await call(other, "/hello")).toBe("new")
    expect((await write(other, "user:ann", "order:9")).status).toBe(200)
    await expect(fetch(`http://127.0.0.1:${ports.authz}/healthz`)).rejects.toThrow()
  })

  it("follows what another process applies, and lists both", async () => {
    const url = await database()
    const ports = await freePorts()
    await running(url, ports)
    const operator = { ...ports, control: (await freePorts()).control }
    const second = await start(url, operator, {}, ["control"])
    stops.push(() => second.close())
    await put(operator, planOf(ports, "from the other"), null)
    await expect.poll(() => call(ports, "/hello").catch(() => "")).toBe("from the other")
    await expect
      .poll(async () =>
        ((await control(operator, "GET", "/v1/status")).body["processes"] as { serial: number }[]).map(
          ({ serial }) => serial,
        ),
      )
      .toEqual([1, 1])
  })

  it("rolls back to an earlier plan as a new serial", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    await put(ports, planOf(ports, "one"), null)
    await put(ports, planOf(ports, "two"), 1)
    expect(await control(ports, "POST", "/v1/rollback", { serial: 1, base: 2, author })).toMatchObject({
      status: 200,
      body: { record: { serial: 3 } },
    })
    expect(await call(ports, "/hello")).toBe("one")
    expect(await control(ports, "POST", "/v1/rollback", { serial: 9, base: 3, author })).toMatchObject({
      status: 404,
    })
    expect(await control(ports, "POST", "/v1/rollback", { serial: 2, base: 2, author })).toMatchObject({
      status: 412,
    })
  })
})

describePostgres("the control API", () => {
  it("asks for its token, except for health and metrics", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    const paths = ["/v1/plan", "/v1/plans", "/v1/status", "/authz/stores", "/nothing"]
    const wrong = ["Bearer", "Bearer wrong-token-0123456", `Basic ${token}`, `Bearer ${token}x`]
    // Ten wrong credentials of one address are accepted at once, then they are slowed.
    const attempts = [...paths.map((path) => ["", path]), ...wrong.map((each) => [each, "/v1/plan"])]
    for (const [authorization = "", path = ""] of attempts) {
      const refused = await control(ports, "GET", path, undefined, authorization)
      expect([path, refused.status]).toEqual([path, 401])
      expect(refused.headers.get("www-authenticate")).toContain("Bearer")
    }
    for (const path of ["/healthz", "/metrics"])
      expect((await control(ports, "GET", path, undefined, "")).status).toBe(200)
    expect((await control(ports, "GET", "/readyz", undefined, "")).status).toBe(503)
  })

  it("refuses what is not a plan, saying where and why", async () => {
    const ports = await freePorts()
    await running(await database(), ports)
    const plan = planOf(ports)
    const edited = structuredClone(plan) as { plan: { routes: Record<string, { timeoutMs: number }> } }
    ;(edited.plan.routes["GET /hello"] as { timeoutMs: number }).timeoutMs = 1
    const rows: [unknown, number, string][] = [
      ["{", 400, "JSON"],
      [{}, 400, "plan"],
      [{ plan, base: 0, author }, 400, "base"],
      [{ plan, base: null, author: { who: "" } }, 400, "author"],
      [{ plan: "text", base: null, author }, 422, "is not a plan"],
      [{ plan: { ...plan, format: 99 }, base: null, author }, 422, "plan format 99"],
      [{ plan: { ...plan, surprise: 1 }, base: null, author }, 422, "surprise"],
      [{ plan: edited, base: null, author }, 422, "the digest does not match"],
    ]
    for (const [body, status, words] of rows) {
      const refused = await control(ports, "PUT", "/v1/plan", body)
      expect([status, JSON.stringify(refused.body)]).toEqual([refused.status, expect.stringContaining(words)])
      expect(refused.headers.get("content-type")).toBe("application/problem+json; charset=utf-8")
    }
    expect((await control(ports, "GET", "/v1/plan")).status).toBe(404)
    for (const path of ["/v1/plans?limit=0", "/v1/plans?limit=501", "/v1/plans?limit=x"])
      expect((await control(ports, "GET", path)).status).toBe(400)
    for (const path of ["/v1/plans/1", "/v1/plans/x", "/v1/nothing"])
      expect((await control(ports, "GET", path)).status).toBe(404)
  })

  it("carries /authz/* to the engine, when there is one", async () => {
    const ports = await freePorts()
    const runtime = await running(await database(), ports)
    const question = { tuple_key: { user: "user:ann", relation: "viewer", object: "order:1" } }
    expect((await control(ports, "POST", "/authz/stores/acme/check", question)).status).toBe(503)
    await runtime.apply(planOf(ports), author)
    expect(await control(ports, "POST", "/authz/stores/acme/check", question)).toMatchObject({
      status: 200,
      body: { allowed: false },
    })
    expect(await control(ports, "POST", "/authz/stores/acme/check", {})).toMatchObject({
      status: 400,
      body: { code: expect.any(String) },
    })
    expect(await control(ports, "GET", "/authz/stores")).toMatchObject({
      status: 200,
      body: { stores: [{ name: "acme" }] },
    })
  })

  it("shows metrics of what passed", async () => {
    const ports = await freePorts()
    const runtime = await running(await database(), ports)
    await runtime.apply(planOf(ports), author)
    await call(ports, "/hello")
    const { body } = await control(ports, "GET", "/metrics")
    expect(body["text"]).toContain(
      'sallyport_requests_total{api="hello",version="",route="GET /hello",status="2xx"} 1',
    )
    expect(body["text"]).toMatch(/^sallyport_plan_serial 1$/m)
    expect(runtime.lines.filter((line) => line.includes("plan applied; serving it")).join("")).toMatch(
      /"serial":1,"digest":"sha256:.*"who":"test"/,
    )
  })
})

describePostgres("a database in trouble", () => {
  it("that is not migrated keeps a process from being ready, and lets it be ready as soon as it is", async () => {
    const url = await database(false)
    const ports = await freePorts()
    const runtime = await running(url, ports)
    expect((await runtime.notReady()).join()).toContain("sallyport migrate")
    expect(await control(ports, "GET", "/readyz")).toMatchObject({ status: 503, body: { ready: false } })
    await migrateDatabase({ database: { url }, log: quiet })
    expect((await runtime.apply(planOf(ports), author)).kind).toBe("done")
    expect(await control(ports, "GET", "/readyz")).toMatchObject({ status: 200, body: { ready: true } })
  })

  it("that is mute makes 503 within a second, leaves other routes alone, and is used again when it is back", async () => {
    const server = await startThrowAwayPostgres({ migrated: true })
    stops.push(() => server.stop())
    const url = server.url("postgres")
    const ports = await freePorts()
    const runtime = await running(url, ports)
    await runtime.apply(planOf(ports), author)
    await write(ports, "user:ann", "order:1")
    expect(await call(ports, "/order/1", "ann")).toBe("seen")
    signalAll(server.pid, "SIGSTOP")
    try {
      const asked = performance.now()
      const [plan, written] = await Promise.all([
        control(ports, "GET", "/v1/plan"),
        write(ports, "user:bob", "order:1"),
      ])
      expect([plan.status, written.status]).toEqual([503, 503])
      // The promise is one second; the rest is for a busy machine.
      expect(performance.now() - asked).toBeLessThan(promptlyMs(3_000))
      // `max-staleness` is one second in this plan.
      await expect.poll(() => call(ports, "/order/1", "ann")).toBe("503")
      expect(await call(ports, "/hello")).toBe("hello")
      // The database fails for all processes at once: a load balancer must not take all of them out.
      expect(await control(ports, "GET", "/readyz")).toMatchObject({
        status: 200,
        body: {
          ready: true,
          reasons: [],
          warnings: [expect.stringContaining("the database is unavailable")],
        },
      })
    } finally {
      signalAll(server.pid, "SIGCONT")
    }
    await expect.poll(() => call(ports, "/order/1", "ann")).toBe("seen")
    await expect.poll(async () => (await control(ports, "GET", "/v1/plan")).status).toBe(200)
    await expect
      .poll(async () => JSON.stringify((await control(ports, "GET", "/readyz")).body))
      .toBe('{"ready":true,"reasons":[]}')
  })
})

/** The postmaster and its children: one alone would leave open connections answering. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
  for (const each of [pid, ...children.trim().split(/\s+/).map(Number)]) process.kill(each, signal)
}
