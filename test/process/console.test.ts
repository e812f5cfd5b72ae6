import { afterAll, beforeAll, expect, it } from "vitest"
import type {
  LoggedRequest,
  RefusalsAnswer,
  RouteAnswer,
  RoutesAnswer,
  TrafficPoint,
} from "../../runtime/control/api.ts"
import type { PlanReview } from "../../runtime/control/ports.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

describePostgres("the console's listener", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  const origin = () => `http://127.0.0.1:${ports.control}`
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(origin() + path, { redirect: "manual", ...init })
  const signIn = (body: unknown, headers: Record<string, string> = { origin: origin() }) =>
    ask("/console/session", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    })
  const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0] ?? ""
  const session = async () => cookieOf(await signIn({ token }))

  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    // The comparison itself has tests of its own; here its result is what counts.
    const reviewPlans: PlanReview = async (before, after) =>
      JSON.stringify(before) === JSON.stringify(after)
        ? []
        : [{ classes: ["opens"], routes: ["GET /hello"], text: "changed" }]
    runtime = await start(database.url, ports, { reviewPlans })
    await runtime.apply(planOf(ports), author)
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
  })

  it("serves its files to everybody, with a policy that runs nothing else", async () => {
    expect((await ask("/console")).headers.get("location")).toBe("/console/")
    const page = await ask("/console/routes/GET%20%2Fa")
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"])
    const policy = page.headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain("unsafe")
    expect(page.headers.get("x-content-type-options")).toBe("nosniff")
    const text = await page.text()
    // Nothing inline, nothing from elsewhere.
    expect(text).not.toMatch(/<script(?![^>]*src="\/console\/)|<style|style=|https?:/)
    const [script = ""] = /\/console\/app-\w+\.js/.exec(text) ?? []
    const asset = await ask(script, { headers: { "accept-encoding": "br" } })
    expect([asset.status, asset.headers.get("content-encoding")]).toEqual([200, "br"])
    expect(asset.headers.get("cache-control")).toContain("immutable")
    expect((await ask("/console/app-none.js")).status).toBe(404)
    expect((await ask("/console/..%2f..%2fpackage.json")).headers.get("content-type")).toContain("html")
  })

  it("serves the playground beside it", async () => {
    expect((await ask("/playground")).headers.get("location")).toBe("/playground/")
    const page = await ask("/playground/")
    expect(page.status).toBe(200)
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';")
    const [examples = ""] = /examples-\w+\.json/.exec(await page.text()) ?? []
    const asset = await ask(`/playground/${examples}`)
    expect([asset.status, asset.headers.get("content-type")]).toEqual([200, "application/json"])
  })

  it("makes a link with a token only: a session that could make one would have no end", async () => {
    const headers = { cookie: await session(), origin: origin() }
    const link = await ask("/v1/console-links", { method: "POST", headers })
    expect(link.status).toBe(403)
    expect(await link.text()).toContain("a link is made with a token")
  })

  it("begins a session only from its own page, with a token that the API accepts", async () => {
    expect((await signIn({ token }, {})).status).toBe(403)
    expect((await signIn({ token }, { origin: "http://evil.example" })).status).toBe(403)
    expect((await signIn({ token: "wrong-token-0123456789" })).status).toBe(401)
    expect((await signIn({ code: "never made" })).status).toBe(401)
    const begun = await signIn({ token })
    expect(begun.status).toBe(204)
    expect(begun.headers.get("set-cookie")).toContain("Secure; HttpOnly; SameSite=Strict")
    const who = await ask("/v1/whoami", { headers: { cookie: cookieOf(begun) } })
    expect(await who.json()).toMatchObject({ kind: "shared", role: "admin" })
  })

  it("changes nothing by a session without the Origin of its page, and ends it by signing out", async () => {
    const cookie = await session()
    const prune = (headers: Record<string, string>) =>
      ask("/v1/prune", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ dryRun: true }),
      })
    expect((await prune({ cookie })).status).toBe(403)
    expect((await prune({ cookie, origin: "null" })).status).toBe(403)
    expect((await prune({ cookie, origin: `http://127.0.0.1:${ports.gateway}` })).status).toBe(403)
    expect((await prune({ cookie, origin: origin() })).status).toBe(200)
    // The header wins, and needs no Origin.
    expect((await prune({ cookie, authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await prune({ cookie, authorization: "Bearer wrong-token-0123456789" })).status).toBe(401)
    const out = await ask("/console/session", { method: "DELETE", headers: { cookie, origin: origin() } })
    expect([out.status, out.headers.get("set-cookie")]).toEqual([200, expect.stringContaining("Max-Age=0")])
    expect(await out.json()).toEqual({ page: null })
    expect((await ask("/v1/whoami", { headers: { cookie } })).status).toBe(401)
  })

  it("gives the operator's own rights, until the token is revoked", async () => {
    const expiresAt = "2100-01-01T00:00:00Z"
    const made = await control(ports, "POST", "/v1/tokens", { name: "vera", role: "viewer", expiresAt })
    const link = await control(ports, "POST", "/v1/console-links", {}, `Bearer ${made.body["secret"]}`)
    const code = String(link.body["path"]).split("#code=")[1]
    const cookie = cookieOf(await signIn({ code }))
    expect((await signIn({ code })).status).toBe(401)
    const headers = { cookie, origin: origin() }
    expect(await (await ask("/v1/whoami", { headers })).json()).toMatchObject({
      name: "vera",
      role: "viewer",
    })
    expect((await ask("/v1/status", { headers })).status).toBe(200)
    expect((await ask("/v1/tokens", { headers })).status).toBe(403)
    await control(ports, "DELETE", "/v1/tokens/vera")
    expect((await ask("/v1/status", { headers })).status).toBe(401)
  })

  it("streams status, traffic and the lines of the log that fit", async () => {
    const headers = { cookie: await session() }
    expect((await ask("/v1/events?topics=none", { headers })).status).toBe(400)
    const query = "topics=status,traffic,log&route=/order&status=401"
    const response = await ask(`/v1/events?${query}`, { headers })
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const events = eventsOf(response)
    expect((await events.next("status"))["serial"]).toBe(1)
    await call(ports, "/hello")
    await call(ports, "/order/1")
    const line = (await events.next("log")) as unknown as LoggedRequest
    expect(line).toMatchObject({ method: "GET", path: "/order/1", route: "GET /order/{id}", status: 401 })
    expect(line.problem).toBe("unauthorized")
    let counted = [0, 0, 0, 0, 0, 0]
    while ((counted[4] ?? 0) < 1 || (counted[2] ?? 0) < 1) {
      const point = (await events.next("traffic")) as unknown as TrafficPoint
      counted = counted.map((count, at) => count + (point.requests[at] ?? 0))
    }
    expect(counted.slice(2)).toEqual([1, 0, 1, 0])
    await events.end()
    const { points, process } = (await (await ask("/v1/traffic", { headers })).json()) as {
      points: TrafficPoint[]
      process: object
    }
    expect(
      points.some(({ refusals }) => Object.keys(refusals).some((name) => name.startsWith("unauthorized"))),
    ).toBe(true)
    expect(process).toMatchObject({ pid: globalThis.process.pid })
  })

  it("shows routes with their steps, places and counts, and the last refusals", async () => {
    await call(ports, "/order/1")
    const all = (await control(ports, "GET", "/v1/routes")).body as unknown as RoutesAnswer
    expect(all).toMatchObject({ serial: 1, total: 2, next: null })
    const first = (await control(ports, "GET", "/v1/routes?limit=1")).body as unknown as RoutesAnswer
    const after = `after=${encodeURIComponent(first.next ?? "")}`
    const second = (await control(ports, "GET", `/v1/routes?limit=1&${after}`))
      .body as unknown as RoutesAnswer
    expect([...first.routes, ...second.routes].map(({ key }) => key)).toEqual([
      "GET /hello",
      "GET /order/{id}",
    ])
    const found = (await control(ports, "GET", "/v1/routes?text=ORDER%20get")).body as unknown as RoutesAnswer
    expect(found.routes[0]?.counts?.requests[4]).toBeGreaterThan(0)
    expect(found.versions).toMatchObject([{ api: "order", version: null, routes: 1 }])
    expect(found.versions[0]?.counts).toEqual(found.routes[0]?.counts)
    const within = (await control(ports, "GET", "/v1/routes?in=order+none.v1"))
      .body as unknown as RoutesAnswer
    expect(within.routes.map(({ key }) => key)).toEqual(["GET /order/{id}"])
    expect(within).toMatchObject({ total: 2, next: null, versions: [{ api: "hello" }, { api: "order" }] })
    expect((await control(ports, "GET", "/v1/routes?in=-")).body).toMatchObject({ total: 2, routes: [] })
    const key = encodeURIComponent("GET /order/{id}")
    const route = (await control(ports, "GET", `/v1/routes/${key}`)).body as unknown as RouteAnswer
    const steps = route.sections.flatMap(({ steps: each }) => each)
    const own = (kind: string) => steps.find(({ step }) => step["kind"] === kind)?.isInherited
    expect([own("validate-key"), own("require"), own("respond")]).toEqual([true, false, false])
    expect(steps.every(({ place }) => place.startsWith("gateway.conf:"))).toBe(true)
    expect((await control(ports, "GET", "/v1/routes/none")).status).toBe(404)
    const { refusals } = (await control(ports, "GET", `/v1/refusals?route=${key}`))
      .body as unknown as RefusalsAnswer
    expect(refusals[0]).toMatchObject({ path: "/order/1", status: 401, route: "GET /order/{id}" })
    expect((await control(ports, "GET", "/v1/refusals?route=none")).body).toEqual({ refusals: [] })
  })

  it("tells what a plan of the history changes", async () => {
    await runtime.apply(planOf(ports, "hi"), author)
    await runtime.apply(planOf(ports), author)
    const changes = async (path: string) => (await control(ports, "GET", `/v1/plans/${path}`)).body
    const change = { classes: ["opens"], routes: ["GET /hello"], text: "changed" }
    expect(await changes("1/changes")).toEqual({ from: null, to: 1, changes: [], cut: false })
    expect(await changes("3/changes")).toEqual({ from: 2, to: 3, changes: [change], cut: false })
    expect(await changes("3/changes?from=1")).toEqual({ from: 1, to: 3, changes: [], cut: false })
    expect(await changes("3/changes?from=1")).toMatchObject({ from: 1, to: 3 })
    const offered = (plan: unknown) => control(ports, "POST", "/v1/plan/changes", { plan })
    const now = { from: 3, to: null, cut: false }
    expect((await offered(planOf(ports))).body).toEqual({ ...now, changes: [] })
    expect((await offered(planOf(ports, "other"))).body).toEqual({ ...now, changes: [change] })
    expect((await offered({})).body).toMatchObject({
      status: 422,
      type: "urn:sallyport:control:plan-invalid",
    })
    for (const path of ["9/changes", "x/changes", "1/changes?from=9"])
      expect(await changes(path), path).toMatchObject({ status: 404 })
  })
})

/** Reads a stream of server-sent events. */
function eventsOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  return {
    /** The content of the next event of a name; others before it are skipped. */
    async next(name: string): Promise<Record<string, unknown>> {
      for (;;) {
        const end = text.indexOf("\n\n")
        if (end === -1) {
          const read = await reader?.read()
          if (read?.value === undefined) throw new Error(`the stream ended without ${name}`)
          text += read.value
          continue
        }
        const event = text.slice(0, end)
        text = text.slice(end + 2)
        if (event.startsWith(`event: ${name}\n`)) return JSON.parse(event.split("\ndata: ")[1] ?? "")
      }
    },
    end: () => reader?.cancel(),
  }
}
