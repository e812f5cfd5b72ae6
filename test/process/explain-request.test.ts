import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, expect, it, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { RefusalAnswer } from "../../runtime/control/api.ts"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type {
  ExplainedStep,
  RequestExplanation,
  RequestQuestion,
} from "../../runtime/gateway/explain/request-explanation.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { folderWith, run } from "../cli/run.ts"
import { compile } from "../compile.ts"
import { createDatabase, createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, keyOf, type Ports, planOf, start, token } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

let asked = 0
const backend = createServer((_request, response) => {
  asked += 1
  response.end("here")
})
beforeAll(() => new Promise<void>((done) => backend.listen(0, "127.0.0.1", done)))
afterAll(() => new Promise((done) => backend.close(done)))

const more = () => `
backend real { url "http://127.0.0.1:${(backend.address() as AddressInfo).port}/base" }
api limited {
  path "/limited"
  auth subscription
  limit 3 per 1m by subscription
  GET "/{id}" { require viewer of "order:\${path.id}" for "user:\${subscription.name}" in acme; backend real }
  GET "/fixed" { respond 200 { body text "fixed" } }
  POST "/{id}" { inbound { when (request.header("x-no") == "1") { respond 409 } else { header set "x-seen" "yes" } }; backend real }
}
api used {
  path "/used"
  auth subscription
  quota 10 calls per 30d by subscription
  cors { origins "https://app.example"; methods GET }
  GET "/" { respond 200 { body text "used" } }
}
subscription dora { api used; key dora_key }
secret dora_key = env(DORA_KEY)
api rest { path "/"; auth none; GET "/{rest*}" { respond 404 } }`

async function running(): Promise<Ports> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = await freePorts()
  const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob"), DORA_KEY: keyOf("dora") }
  const runtime = await start(url, ports, { env })
  stops.push(() => runtime.close())
  const applied = await runtime.apply(planOf(ports, "hello", more()), author)
  expect(applied).toMatchObject({ kind: "done" })
  return ports
}

const explain = async (ports: Ports, question: object) => {
  const { status, body } = await control(ports, "POST", "/v1/explain-request", question)
  expect(status).toBe(200)
  return body as unknown as RequestExplanation
}

function stepsOf(explained: RequestExplanation): ExplainedStep[] {
  const all = (step: ExplainedStep): ExplainedStep[] => [
    step,
    ...step.inside.flatMap((each) => each.steps.flatMap(all)),
  ]
  return explained.sections.flatMap(({ steps }) => steps.flatMap(all))
}

describePostgres("explain request, of a running process", () => {
  it("tells the route and those that lost, limits without counting, the proof, and who would answer", async () => {
    const ports = await running()
    const ann = { method: "GET", target: "/limited/1", key: keyOf("ann") }
    // The subscription of the project covers another API.
    const uncovered = await explain(ports, ann)
    expect(uncovered.verdict).toMatchObject({ status: 401, by: { kind: "validate-key" } })

    const before = asked
    for (let times = 0; times < 5; times += 1) {
      const denied = await explain(ports, { ...ann, key: undefined, claims: { sub: "cleo" } })
      expect(denied).toMatchObject({
        live: true,
        route: { key: "GET /limited/{id}", api: "limited", parameters: { id: "1" } },
        verdict: { kind: "answered", status: 403, problem: "forbidden", by: { kind: "require" } },
      })
      const steps = stepsOf(denied)
      for (const { place } of steps) expect(place).toMatch(/^gateway\.conf:\d+$/)
      const limit = steps.find(({ step }) => step.kind === "rate-limit")
      expect(limit).toMatchObject({ state: "passed", limit: { callsMax: 3, remaining: 3 } })
      const proof = steps.find(({ step }) => step.kind === "require")?.proof
      expect(proof).toMatchObject({ allowed: false, user: "user:cleo", object: "order:1" })
      expect(proof?.text).toMatch(/^denied: user:cleo does not have viewer on order:1/)
      expect(denied.lost).toMatchObject([
        { route: "GET /{rest*}", loss: "less-specific" },
        { route: "POST /limited/{id}", loss: "method" },
      ])
    }
    expect(asked).toBe(before)
    await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/write`, {
      method: "POST",
      body: JSON.stringify({
        writes: { tuple_keys: [{ user: "user:cleo", relation: "viewer", object: "order:1" }] },
      }),
    })
    const allowed = await explain(ports, { ...ann, key: undefined, claims: { sub: "cleo" } })
    expect(allowed.verdict).toMatchObject({
      ...{ kind: "forwarded", backend: "real", method: "GET", path: "/base/1", assuming: [] },
      targets: [{ health: "unknown", breaker: "none", outstanding: 0 }],
    })
    expect(asked).toBe(before)
  })

  it("runs the branch that is taken, and answers what the gateway answers by itself", async () => {
    const ports = await running()
    const claims = { sub: "ann" }
    const no = await explain(ports, {
      method: "POST",
      target: "/limited/1",
      claims: { sub: "x" },
      headers: [["x-no", "1"]],
    })
    expect(no.verdict).toMatchObject({ status: 409, by: { kind: "respond" } })
    const states = stepsOf(no).map(({ step, state }) => `${step.kind} ${state}`)
    expect(states).toContain("respond answered")
    expect(states).toContain("set-header not-reached")
    expect((await explain(ports, { method: "GET", target: "/hello", claims })).verdict).toMatchObject({
      status: 200,
    })
    expect((await explain(ports, { method: "DELETE", target: "/limited/1" })).verdict).toMatchObject({
      status: 405,
    })
    expect((await explain(ports, { method: "GET", target: "/LIMITED/fixed" })).why).toContain("case")
    expect((await explain(ports, { method: "GET", target: "/a/../b" })).verdict).toMatchObject({
      status: 400,
    })
  })

  it("looks at quotas without using them up, and lets `cors` answer preflights", async () => {
    const ports = await running()
    const used = async () => {
      const explained = await explain(ports, { method: "GET", target: "/used", key: keyOf("dora") })
      expect(explained.verdict).toMatchObject({ status: 200, by: { kind: "respond" } })
      return stepsOf(explained).find(({ step }) => step.kind === "quota")?.quota
    }
    expect(await used()).toMatchObject({ key: "subscription:dora", callsMax: 10, calls: 0, bytes: 0 })
    const headers = { "x-api-key": keyOf("dora") }
    expect((await fetch(`http://127.0.0.1:${ports.gateway}/used`, { headers })).status).toBe(200)
    expect(await used()).toMatchObject({ calls: 1 })
    expect(await used()).toMatchObject({ calls: 1 })
    const asks = (origin: string) =>
      explain(ports, {
        ...{ method: "OPTIONS", target: "/used" },
        headers: [
          ["Origin", origin],
          ["Access-Control-Request-Method", "GET"],
        ],
      })
    const preflight = await asks("https://app.example")
    expect(preflight.route?.key).toBe("GET /used")
    expect(preflight.verdict).toMatchObject({ kind: "answered", by: { kind: "cors" } })
    const real = await fetch(`http://127.0.0.1:${ports.gateway}/used`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "GET" },
    })
    expect(preflight.verdict).toMatchObject({ status: real.status })
  })

  it("remembers refusals by their id, and proves them", async () => {
    const ports = await running()
    const refused = await fetch(`http://127.0.0.1:${ports.gateway}/order/7`, {
      headers: { "x-api-key": keyOf("ann") },
    })
    const { request_id: id } = (await refused.json()) as { request_id: string }
    const answer = (await control(ports, "GET", `/v1/refusals/${id}`)).body as unknown as RefusalAnswer
    expect(answer).toMatchObject({
      refusal: {
        ...{ id, status: 403, problem: "forbidden", route: "GET /order/{id}", subscription: "ann" },
        answeredBy: { kind: "require" },
        decision: { user: "user:ann", object: "order:7", allowed: false },
      },
      proof: { atRefusal: true, allowed: false },
    })
    expect(answer.refusal.answeredBy?.place).toMatch(/^gateway\.conf:\d+$/)
    expect(JSON.stringify(answer)).not.toContain(keyOf("ann"))
    expect(await control(ports, "GET", "/v1/refusals/nothing")).toMatchObject({ status: 404 })
    expect((await control(ports, "GET", `/v1/refusals/${id}`, undefined, "Bearer x")).status).toBe(401)

    const env = { SALLYPORT_CONTROL_TOKEN: token }
    const url = `http://127.0.0.1:${ports.control}`
    const shown = await run({ cwd: "/", env }, "explain", "request", "--id", id, "--url", url)
    expect(shown.out).toContain("403 forbidden, by require (gateway.conf:")
    expect(shown.out).toContain("denied: user:ann does not have viewer on order:7")
    const live = await run(
      { cwd: "/", env },
      "explain",
      "request",
      "GET",
      "/order/7",
      "--as",
      "ann",
      "--url",
      url,
    )
    expect(live.out).toContain("route GET /order/{id} (gateway.conf:")
    expect(live.out).toMatch(/STOP require viewer of .* \(gateway\.conf:\d+\)/)
    expect(live.out).toMatch(/The response is 403 forbidden, from require \(gateway\.conf:\d+\)/)
  })

  it("refuses what is not a question, and says where no gateway is", async () => {
    const ports = await running()
    for (const wrong of [
      {},
      { method: "GET", target: "no-slash" },
      { method: "GE T", target: "/" },
      { method: "GET", target: "/", ip: "somewhere" },
      { method: "GET", target: "/", body: "?" },
      { method: "GET", target: "/", more: 1 },
    ])
      expect(await control(ports, "POST", "/v1/explain-request", wrong)).toMatchObject({ status: 400 })
    const question = { method: "GET", target: "/" }
    expect(await control(ports, "POST", "/v1/explain-request", question, "Bearer x")).toMatchObject({
      status: 401,
    })
    const { url, drop } = await createDatabase()
    stops.push(drop)
    const other = await freePorts()
    const operator = await start(url, other, {}, ["control"])
    stops.push(() => operator.close())
    expect(await control(other, "POST", "/v1/explain-request", question)).toMatchObject({
      ...{ status: 503, body: { type: "urn:sallyport:control:no-gateway" } },
    })
  })
})

const sample = `
gateway test { listen 127.0.0.1:1 }
value base = env(NOT_SET)
secret main_key = env(KEY_NOT_SET)
issuer main { discovery "https://issuer.invalid"; audience "x" }
subscription ann { api keyed; key main_key }
backend orders { url "\${base}/o" }
authz { store acme { model "acme.fga" } }
api orders {
  path "/orders"
  auth jwt main { claim scope has "orders.read" }
  GET "/{id}" { limit 5 per 1m by jwt.sub; require viewer of "order:\${path.id}" for "user:\${jwt.sub}" in acme; backend orders }
}
api keyed { path "/keyed"; auth subscription; host "keyed.example"; GET "/" { backend orders } }
`

function planOfText(text: string): Plan {
  const model = "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n"
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", model],
  ])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined)
    throw new Error(diagnostics.map(({ detail, code }) => `${code} ${detail}`).join("\n"))
  return plan
}

const offline = (question: Partial<RequestQuestion>, text = sample) =>
  explainOffline(
    planOfText(text),
    {
      method: "GET",
      target: "/",
      host: "localhost",
      ip: "127.0.0.1",
      headers: [],
      body: undefined,
      ...question,
    },
    { environment: {}, folder: process.cwd() },
  )

test("by the text alone nothing is asked, and what is not known is said", async () => {
  const token = `${btoa('{"alg":"RS256"}')}.${btoa('{"sub":"ann","scope":"orders.read"}')}.x`
  const explained = await offline({ target: "/orders/1", token })
  expect(explained.live).toBe(false)
  expect(explained.trouble).toEqual(["the environment variable NOT_SET is not set here"])
  expect(explained.verdict).toMatchObject({ kind: "forwarded", backend: "orders" })
  expect(explained.verdict?.assuming).toHaveLength(3)
  expect(explained.verdict?.assuming[0]).toMatch(
    /^`validate-jwt` \(gateway\.conf:\d+\) continues: the token is accepted/,
  )
  const require_ = stepsOf(explained).find(({ step }) => step.kind === "require")
  expect(require_?.proof).toEqual({ store: "acme", user: "user:ann", relation: "viewer", object: "order:1" })
  expect((await offline({ target: "/orders/1" })).verdict).toMatchObject({
    status: 401,
    by: { kind: "validate-jwt" },
  })
})

test("a caller who is only named is assumed to have the required claims, one of whom more is said only those", async () => {
  const named = await offline({ target: "/orders/1", claims: { sub: "ann" } })
  expect(named.verdict).toMatchObject({ kind: "forwarded" })
  expect(named.verdict?.assuming[0]).toContain("assumed to have the required claims")
  expect(stepsOf(named).find(({ step }) => step.kind === "require")?.proof).toMatchObject({
    user: "user:ann",
  })
  const reader = await offline({ target: "/orders/1", claims: { sub: "ann", scope: "orders.read" } })
  expect(reader.verdict).toMatchObject({ kind: "forwarded" })
  expect(reader.verdict?.assuming).toHaveLength(2)
  const writer = await offline({ target: "/orders/1", claims: { sub: "ann", scope: "orders.write" } })
  expect(writer.verdict).toMatchObject({
    status: 403,
    problem: "insufficient-scope",
    by: { kind: "validate-jwt" },
  })
})

const flow = `
gateway test { listen 127.0.0.1:1 }
backend orders { url "http://127.0.0.1:1" }
api orders {
  path "/orders"
  auth none
  GET "/{id}" {
    inbound {
      set kind ("plain")
      send profile { url "http://127.0.0.1:2/" }
      when (var.profile.status == 200) { respond 409 }
      when (var.kind == "plain") { set kind ("seen") }
      retry 3 while (var.kind == "x") every 1s { header set "x-kind" "${"${var.kind}"}" }
    }
    outbound { header remove "server" }
    backend orders
  }
}
`

test("what reaches beyond the request is not run, and what reads it is not told", async () => {
  const explained = await offline({ target: "/orders/1" }, flow)
  const told = stepsOf(explained).map(({ step, state, at }) => `${at} ${step.kind} ${state}`)
  expect(told).toEqual([
    "inbound.0 set-variable passed",
    "inbound.1 send-request unknown",
    "inbound.2 when unknown",
    "inbound.2.matched.0 respond unknown",
    "inbound.3 when passed",
    "inbound.3.matched.0 set-variable passed",
    "inbound.4 retry passed",
    "inbound.4.steps.0 set-header passed",
    "backend.0 forward passed",
    "outbound.0 set-header shown",
  ])
  expect(explained.verdict).toMatchObject({ kind: "forwarded", path: "/1" })
  expect(explained.verdict?.assuming).toHaveLength(2)
  expect(explained.verdict?.assuming[1]).toContain("it reads `profile`")
})

const document = `<policies>
  <inbound>
    <base />
    <check-header name="x-pass" failed-check-httpcode="403" failed-check-error-message="no" ignore-case="true" />
  </inbound>
  <backend><base /></backend>
  <outbound><base /></outbound>
  <on-error><base /></on-error>
</policies>`

test("steps of an XML document have its lines, by the text and by a plan in a file", async () => {
  const conf = `gateway test { listen 127.0.0.1:1 }\napi a { path "/a"; auth none; policy xml "a.xml"; backend "http://127.0.0.1:1"; GET "/" }\n`
  const cwd = folderWith({ "gateway.conf": conf, "a.xml": document })
  const words = ["explain", "request", "GET", "/a"]
  const refused = await run({ cwd }, ...words, "--config", "gateway.conf")
  expect(refused.out).toContain("The response is 403 forbidden, from check-header (a.xml:4)")
  const passed = await run(
    { cwd },
    ...words,
    "--config",
    "gateway.conf",
    "--header",
    "X-Pass: 1",
    "--format",
    "json",
  )
  expect(JSON.parse(passed.out)).toMatchObject({ live: false, verdict: { kind: "forwarded" } })
  expect((await run({ cwd }, ...words, "--plan", "none.json")).err).toContain("none.json does not exist")
  expect((await run({ cwd }, ...words, "--config", "gateway.conf", "--body", "none")).err).toContain(
    "cannot be read",
  )
})
