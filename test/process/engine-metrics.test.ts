import { expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, type Ports, planOfEngine, start } from "./project.ts"

/** The samples of the metrics page whose name begins with `sallyport_engine_`, without the values of times and sizes. */
async function samples(ports: Ports): Promise<Map<string, number>> {
  const { text } = (await control(ports, "GET", "/metrics")).body as { readonly text: string }
  const lines = [...text.matchAll(/^sallyport_engine_(\S+(?: \S+)*?) (\S+)$/gm)]
  return new Map(lines.map(([, series = "", value]) => [series, Number(value)]))
}

async function ask(ports: Ports, path: string, body?: unknown, method = "POST"): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${ports.authz}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { "content-type": "application/json" },
  })
  await response.text()
  return response.status
}

const keyOf = (user: string, object = "order:1") => ({ user: `user:${user}`, relation: "viewer", object })
const checkOf = (user: string) => ({ tuple_key: keyOf(user) })
const conditioned =
  "define viewer: [user, user with small]\\ncondition small(x: int) {\\n  x < 10\\n}\\n".replaceAll(
    "\\n",
    "\n",
  )

/** Asks in each way: five checks, one in each of several other ways, and some requests that fail. */
async function askEach(ports: Ports): Promise<void> {
  const writes = [keyOf("ann"), { ...keyOf("bob", "order:2"), condition: { name: "small" } }]
  expect(await ask(ports, "/stores/acme/write", { writes: { tuple_keys: writes } })).toBe(200)
  for (const user of ["ann", "ann", "carl"]) await ask(ports, "/stores/acme/check", checkOf(user))
  expect(await ask(ports, "/stores/acme/check", { tuple_key: keyOf("bob", "order:2") })).toBe(400)
  expect(await ask(ports, "/stores/acme/check", { tuple_key: { user: "x" } })).toBe(400)
  const checks = ["ann", "carl", "bob"].map((user, at) => ({
    tuple_key: keyOf(user, user === "bob" ? "order:2" : "order:1"),
    correlation_id: String(at),
  }))
  expect(await ask(ports, "/stores/acme/batch-check", { checks })).toBe(200)
  expect(await ask(ports, "/stores/acme/batch-check", { checks: [...checks, ...checks] })).toBe(400)
  const list = { user: "user:ann", relation: "viewer", type: "order" }
  expect(await ask(ports, "/stores/acme/list-objects", list)).toBe(200)
  expect(await ask(ports, "/stores/nowhere/check", checkOf("ann"))).toBe(404)
  expect(await ask(ports, "/stores/01ARZ3NDEKTSV4RRFFQ69G5FAV/check", checkOf("ann"))).toBe(404)
  expect(await ask(ports, "/nowhere", {})).toBe(404)
  expect(await ask(ports, "/stores", { name: "own" })).toBe(201)
  expect(await call(ports, "/order/1", "ann")).toBe("seen")
  expect(await call(ports, "/order/1", "bob")).toBe("403")
  const evaluation = {
    subject: { type: "user", id: "ann" },
    action: { name: "viewer" },
    resource: { type: "order", id: "1" },
  }
  expect(await ask(ports, "/access/v1/evaluation", evaluation)).toBe(200)
}

describePostgres("metrics of the engine", () => {
  it("count requests by method, store and outcome, decisions, and the work on them", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const runtime = await start(url, ports)
    await runtime.apply(
      planOfEngine(ports, "", "max-staleness none; limits { batch-checks 3 }", conditioned),
      author,
    )
    await askEach(ports)

    const page = await samples(ports)
    const of = (method: string, outcome: string, store = "acme") =>
      page.get(`requests_total{method="${method}",store="${store}",outcome="${outcome}"}`)
    expect(of("Check", "allowed")).toBe(2)
    expect(of("Check", "denied")).toBe(1)
    expect(of("Check", "undecided")).toBe(1)
    expect(of("Check", "invalid")).toBe(1)
    expect(of("BatchCheck", "ok")).toBe(1)
    expect(of("BatchCheck", "invalid")).toBe(1)
    expect(of("ListObjects", "ok")).toBe(1)
    expect(of("Write", "ok")).toBe(1)
    expect(of("Evaluation", "allowed")).toBe(1)
    expect(of("Require", "allowed")).toBe(1)
    expect(of("Require", "denied")).toBe(1)
    // Names that clients make up are no labels.
    expect(of("Check", "invalid", "other")).toBe(2)
    expect(of("CreateStore", "ok", "")).toBe(1)
    expect(of("none", "invalid", "")).toBe(1)
    expect([...page.keys()].join("\n")).not.toMatch(/nowhere|01ARZ3/)

    const decisions = (decision: string) => page.get(`decisions_total{store="acme",decision="${decision}"}`)
    expect([decisions("allowed"), decisions("denied"), decisions("undecided")]).toEqual([5, 3, 2])
    expect(page.get('request_duration_seconds_count{method="Check",store="acme"}')).toBe(5)
    expect(page.get('request_duration_seconds_bucket{method="Check",store="acme",le="+Inf"}')).toBe(5)
    expect(page.get('questions_total{store="acme"}')).toBeGreaterThanOrEqual(9)
    expect(page.get('steps_total{store="acme"}')).toBeGreaterThan(9)
    expect(page.get('condition_failures_total{store="acme",reason="missing"}')).toBeGreaterThanOrEqual(2)
    expect(page.get('condition_failures_total{store="acme",reason="error"}')).toBe(0)
    expect(page.get('tuples{store="acme"}')).toBe(2)
    expect(page.get('revision{store="acme"}')).toBe(1)
    expect(page.get('revisions_behind{store="acme"}')).toBe(0)
    expect(page.get('store_bytes{store="acme"}')).toBeGreaterThan(0)
    expect(page.get('staleness_seconds{store="acme"}')).toBeGreaterThanOrEqual(0)
    expect(page.get('stores{state="whole"}')).toBe(1)
    expect(page.get("memory_limit_bytes")).toBe(536_870_912)
    expect((await control(ports, "GET", "/v1/status")).body).toMatchObject({
      engine: { stores: [{ store: "acme", form: "whole", tuples: 2, revision: 1, behind: 0 }] },
    })
    await runtime.close()
    await drop()
  })

  it("count refusals, limits, cut lists, streams and watches", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const runtime = await start(url, ports, {
      env: { ANN_KEY: "key-of-ann", BOB_KEY: "key-of-bob", APP_KEY: "key-of-app" },
    })
    const statements =
      "max-staleness none; auth key app_key { read acme; write acme }; limits { depth 1; list-objects 1 }"
    const relations = "define viewer: [user, order#viewer]"
    await runtime.apply(planOfEngine(ports, "secret app_key = env(APP_KEY)", statements, relations), author)
    const headers = { authorization: "Bearer key-of-app", "content-type": "application/json" }
    const send = async (path: string, body?: object, more: object = headers) => {
      const response = await fetch(`http://127.0.0.1:${ports.authz}${path}`, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { ...more },
      })
      await response.text()
      return response.status
    }
    const nested = (from: number, to: number) => ({
      user: `order:${to}#viewer`,
      relation: "viewer",
      object: `order:${from}`,
    })
    const tuple_keys = [
      nested(1, 2),
      nested(2, 3),
      nested(3, 4),
      keyOf("ann", "order:4"),
      keyOf("ann", "order:5"),
    ]
    expect(await send("/stores/acme/write", { writes: { tuple_keys } })).toBe(200)
    expect(await send("/stores/acme/check", checkOf("ann"))).toBe(400)
    expect(await send("/stores/acme/check", checkOf("ann"), {})).toBe(401)
    expect(await send("/stores", { name: "x" })).toBe(403)
    expect(await send("/healthz", undefined, { origin: "https://evil.example" })).toBe(403)
    const list = { user: "user:ann", relation: "viewer", type: "order" }
    expect(await send("/stores/acme/streamed-list-objects", list)).toBe(200)
    const watching = await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/watch?wait=0s`, { headers })
    expect(watching.status).toBe(200)
    await watching.text()

    await expect
      .poll(async () => [...(await samples(ports)).keys()])
      .toContain('requests_total{method="StreamedListObjects",store="acme",outcome="truncated"}')
    const page = await samples(ports)
    const of = (method: string, outcome: string, store = "acme") =>
      page.get(`requests_total{method="${method}",store="${store}",outcome="${outcome}"}`)
    expect(of("Check", "too_complex")).toBe(1)
    expect(of("Check", "refused")).toBe(1)
    expect(of("CreateStore", "refused", "")).toBe(1)
    expect(of("none", "refused", "")).toBe(1)
    expect(of("Watch", "ok")).toBe(1)
    expect(page.get('decisions_total{store="acme",decision="too_complex"}')).toBe(1)
    // How long a client waits for changes is not how long an answer takes.
    expect(page.get('request_duration_seconds_count{method="Watch",store="acme"}')).toBe(0)
    expect(page.get('request_duration_seconds_count{method="StreamedListObjects",store="acme"}')).toBe(1)
    await runtime.close()
    await drop()
  })
})
