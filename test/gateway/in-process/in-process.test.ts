import { afterAll, beforeAll, expect, test } from "vitest"
import { compileAndTest } from "../../../compiler/compile.ts"
import { MemoryFiles } from "../../../compiler/core/files.ts"
import {
  type InProcessGateway,
  openInProcess,
} from "../../../runtime/gateway/in-process/in-process-gateway.ts"
import type { BackendAnswer, World } from "../../../runtime/gateway/in-process/world.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"

const model = `model
  schema 1.1
type user
type order
  relations
    define owner: [user]
    define viewer: [user] or owner
`

const text = `
gateway acme { listen 127.0.0.1:8000; limits { timeout 30s } }
authz { store acme { model "acme.fga" } }
secret key = env(CI_KEY)
issuer acme { discovery "https://id.example/realms/acme"; audience orders; algorithms ES256; claims { sub string; scope string } }
backend orders { url "http://127.0.0.1:9001/base"; timeout total 5s }
backend shop {
  url "http://127.0.0.1:9002"
  breaker 2 failures in 30s open 10s
}
api orders {
  path "/orders"
  backend orders
  auth jwt acme { claim scope has "orders.read" }
  limit 2 per 1m by jwt.sub
  GET "/{id}" {
    require viewer of "order:\${path.id}" for "user:\${jwt.sub}"
    inbound { header set "X-User" "\${jwt.sub}"; header remove "Authorization" }
  }
  POST "/" { inbound { header set "X-Total" "\${request.body.total}" } }
}
api shop {
  path "/shop"
  backend shop
  auth subscription { header "X-Key" }
  GET "/items"
}
product partner { apis shop; quota 3 calls per 30d by subscription }
subscription ci { product partner; key key }
`

let plan: Plan
let gateway: InProcessGateway

const ok: BackendAnswer = {
  status: 200,
  headers: [["content-type", "application/json"]],
  body: Buffer.from('{"id":1}'),
}

const world = (more: Partial<World> = {}): World => ({
  timeMs: Date.parse("2026-06-01T12:00:00Z"),
  answer: () => ok,
  tuples: { acme: [{ user: "user:ann", relation: "owner", object: "order:1" }] },
  issued: new Map(),
  issuersDown: new Set(),
  ...more,
})

beforeAll(async () => {
  const compiled = await compileAndTest(
    new MemoryFiles([
      ["gateway.conf", text],
      ["acme.fga", model],
    ]),
    "gateway.conf",
  )
  expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toEqual([])
  plan = compiled.plan as Plan
  gateway = await openInProcess(plan, world(), { environment: {}, folder: "." })
})

afterAll(() => gateway.close())

const token = (claims: Record<string, unknown>, isForged = false) =>
  gateway.token({ issuer: "acme", claims: { scope: "orders.read", ...claims }, isForged })

const get = (target: string, sub?: string) =>
  gateway.send({ method: "GET", target, headers: [] }, sub === undefined ? {} : { token: token({ sub }) })

test("runs a request through tokens, limits, relations and the backend", async () => {
  await gateway.restart(world())
  const { response, sent, limits, decisions, steps, finished } = await get("/orders/1", "ann")
  expect(response.status).toBe(200)
  expect(response.body.toString()).toBe('{"id":1}')
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({ backend: "orders", method: "GET", target: "/base/1" })
  const headers = new Map(sent[0]?.headers)
  expect(headers.get("x-user")).toBe("ann")
  expect(headers.has("authorization")).toBe(false)
  expect(limits).toMatchObject([{ is: "limit", key: expect.stringContaining("ann"), callsMax: 2, left: 1 }])
  expect(decisions).toMatchObject([{ store: "acme", user: "user:ann", object: "order:1", allowed: true }])
  expect((await decisions[0]?.explain())?.allowed).toBe(true)
  expect(steps.map(({ kind, outcome }) => `${kind} ${outcome}`)).toContain("require passed")
  expect(finished).toMatchObject({ route: "GET /orders/{id}", backend: "orders", user: "ann" })
})

test.each([
  ["no token", () => get("/orders/1"), 401, "TokenNotPresent"],
  ["another user", () => get("/orders/1", "bob"), 403, undefined],
  ["a forged token", () => send({ token: token({ sub: "ann" }, true) }), 401, "TokenSignatureInvalid"],
  ["an expired token", () => send({ token: token({ sub: "ann", exp: 1 }) }), 401, "TokenExpired"],
  [
    "another audience",
    () => send({ token: token({ sub: "ann", aud: "x" }) }),
    401,
    "TokenAudienceNotAllowed",
  ],
  [
    "a missing scope",
    () => send({ token: token({ sub: "ann", scope: "x" }) }),
    403,
    "TokenClaimValueNotAllowed",
  ],
])("refuses %s", async (_, ask, status, reason) => {
  await gateway.restart(world())
  const { response, finished, sent } = await ask()
  expect(response.status).toBe(status)
  expect(finished.reason).toBe(reason)
  expect(sent).toEqual([])
})

const send = (credentials: { token: string }) =>
  gateway.send({ method: "GET", target: "/orders/1", headers: [] }, credentials)

test("counts by a clock that only the test moves", async () => {
  await gateway.restart(world())
  const statuses = async () => (await get("/orders/1", "ann")).response.status
  expect([await statuses(), await statuses(), await statuses()]).toEqual([200, 200, 429])
  await gateway.advance(61_000)
  expect(await statuses()).toBe(200)
  await gateway.restart(world())
  expect(await statuses()).toBe(200)
})

test("a slow backend and a silent one end by their timeouts, at once", async () => {
  await gateway.restart(world({ answer: () => ({ ...ok, delayMs: 4_000 }) }))
  const slow = await get("/orders/1", "ann")
  expect(slow.response.status).toBe(200)
  expect(slow.finished.durationMs).toBe(4_000)
  await gateway.restart(world({ answer: () => ({ failure: "silent" }) }))
  const silent = await get("/orders/1", "ann")
  expect(silent.response.status).toBe(504)
  expect(silent.finished.durationMs).toBe(5_000)
  await gateway.restart(world({ answer: () => ({ failure: "refused" }) }))
  expect((await get("/orders/1", "ann")).response.status).toBe(502)
})

test("the next world knows nothing of breakers, quotas and unavailable issuers", async () => {
  const shop = (key = gateway.keyOf("ci")) =>
    gateway.send({ method: "GET", target: "/shop/items", headers: [] }, { key })
  await gateway.restart(world({ answer: () => ({ failure: "reset" }) }))
  const failed = [(await shop()).response.status, (await shop()).response.status]
  expect(failed).toEqual([502, 502])
  expect((await shop()).response.status).toBe(503)
  await gateway.restart(world({ issuersDown: new Set(["acme"]) }))
  expect((await get("/orders/1", "ann")).response.status).toBe(503)
  expect((await shop("wrong")).response.status).toBe(401)
  const passed = await shop()
  expect(passed.response.status).toBe(200)
  expect(passed.limits).toMatchObject([{ is: "quota", callsMax: 3, left: 2 }])
  expect(new Map(passed.sent[0]?.headers).has("x-key")).toBe(false)
  await gateway.restart(world())
  expect((await get("/orders/1", "ann")).response.status).toBe(200)
})

test("reads bodies, and refuses bad requests as the listener's pipeline does", async () => {
  await gateway.restart(world())
  const post = (body: string, headers: [string, string][] = [["content-type", "application/json"]]) =>
    gateway.send(
      { method: "POST", target: "/orders/", headers, body: Buffer.from(body) },
      { token: token({ sub: "ann" }) },
    )
  const { response, sent } = await post('{"total": 7}')
  expect(response.status).toBe(200)
  expect(sent[0]?.body.toString()).toBe('{"total": 7}')
  expect(new Map(sent[0]?.headers).get("x-total")).toBe("7")
  expect((await post("{")).response.status).toBe(400)
  expect((await gateway.send({ method: "GET", target: "/orders/../1", headers: [] })).response.status).toBe(
    400,
  )
  expect((await gateway.send({ method: "GET", target: "/no", headers: [] })).response.status).toBe(404)
})

test("a step can be weakened while the plan stays", async () => {
  const weak = await openInProcess(plan, world(), {
    environment: {},
    folder: ".",
    alternatives: (step) => (step.kind === "require" ? [undefined] : []),
  })
  const bob = { token: token({ sub: "bob" }) }
  const ask = async () =>
    (await weak.send({ method: "GET", target: "/orders/1", headers: [] }, bob)).response.status
  expect(await ask()).toBe(403)
  const [id] = Object.entries(plan.plan.steps).find(([, { kind }]) => kind === "require") ?? [""]
  weak.weakening = { step: id, routes: new Set(["GET /orders/{id}"]), alternative: 0 }
  await weak.restart(world())
  expect(await ask()).toBe(200)
  weak.weakening = undefined
  await weak.restart(world())
  expect(await ask()).toBe(403)
  weak.close()
})
