import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, test } from "vitest"
import type { RefusalAnswer, StatusAnswer } from "../../runtime/control/api.ts"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type { ExplainedStep, RequestExplanation } from "../../runtime/gateway/explain/request-explanation.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { run } from "../cli/run.ts"
import { compiled } from "../diff/compiled.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { until } from "../support/until.ts"
import { author, control, freePorts, keyOf, planOf, start, token } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

let asked = 0
beforeEach(() => {
  asked = 0
})
/** Says no, and why. */
const point = createServer((request, response) => {
  asked += 1
  request.resume()
  response.end(JSON.stringify({ decision: false, context: { reason_admin: { en: "rule seven" } } }))
})
beforeAll(() => new Promise<void>((done) => point.listen(0, "127.0.0.1", done)))
afterAll(() => new Promise((done) => point.close(done)))

const statements = (url: string) => `
secret pdp_key = env(PDP_KEY)
pdp corp { url "${url}"; authenticate bearer pdp_key }
api decided {
  path "/decided"
  auth subscription
  GET "/{id}" { require read of "order:\${path.id}" for "user:\${subscription.name}" by corp; respond 200 }
}
api chosen {
  path "/chosen"
  auth subscription
  GET "/{id}" {
    require any {
      read of "order:\${path.id}" for "user:\${subscription.name}" by corp
      write of "order:\${path.id}" for "user:\${subscription.name}" by corp
    }
    respond 200
  }
}
subscription dora { api *; key dora_key }
secret dora_key = env(DORA_KEY)
`

function stepsOf(explained: RequestExplanation): ExplainedStep[] {
  const all = (step: ExplainedStep): ExplainedStep[] => [
    step,
    ...step.inside.flatMap((each) => each.steps.flatMap(all)),
  ]
  return explained.sections.flatMap(({ steps }) => steps.flatMap(all))
}

const key = { "x-api-key": keyOf("dora") }

/** A process before an empty database, and where it is. */
async function running(url: string, replace: (text: string) => string = (text) => text) {
  const database = await createMigratedDatabase()
  stops.push(database.drop)
  const ports = await freePorts()
  const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob"), DORA_KEY: keyOf("dora"), PDP_KEY: "k" }
  const lines: string[] = []
  const accessLog = createLog({ stream: { write: (line) => void lines.push(line) } })
  const runtime = await start(database.url, ports, { env, accessLog })
  stops.push(() => runtime.close())
  const text = replace(statements(url.replace("ENGINE", `http://127.0.0.1:${ports.authz}`)))
  expect(await runtime.apply(planOf(ports, "hello", text), author)).toMatchObject({ kind: "done" })
  return { ports, lines }
}

describePostgres("a decision point, of a running process", () => {
  it("is not asked by `explain request`; what it said of a refused request is kept with it, and logged", async () => {
    const { ports, lines } = await running(`http://127.0.0.1:${(point.address() as AddressInfo).port}`)

    const question = { method: "GET", target: "/decided/1", key: keyOf("dora") }
    const explained = (await control(ports, "POST", "/v1/explain-request", question))
      .body as unknown as RequestExplanation
    expect(explained.verdict).toMatchObject({
      ...{ kind: "answered", status: 200 },
      assuming: [
        expect.stringMatching(
          /^`require` \(gateway\.conf:\d+\) continues: decision point `corp` is not called/,
        ),
      ],
    })
    expect(stepsOf(explained).find(({ step }) => step.kind === "require")).toMatchObject({
      state: "unknown",
      proof: { pdp: "corp", user: "user:dora", relation: "read", object: "order:1" },
    })
    expect(asked).toBe(0)

    const refused = await fetch(`http://127.0.0.1:${ports.gateway}/decided/1`, { headers: key })
    const text = await refused.text()
    expect([refused.status, text.includes("seven"), asked]).toEqual([403, false, 1])
    const { request_id: id } = JSON.parse(text) as { request_id: string }
    const answer = (await control(ports, "GET", `/v1/refusals/${id}`)).body as unknown as RefusalAnswer
    expect(answer).toMatchObject({
      refusal: {
        ...{ id, status: 403, problem: "forbidden", route: "GET /decided/{id}" },
        decision: { pdp: "corp", user: "user:dora", object: "order:1", allowed: false, reason: "rule seven" },
      },
    })
    expect(answer.proof).toBeUndefined()
    const place = { cwd: "/", env: { SALLYPORT_CONTROL_TOKEN: token } }
    const address = ["--url", `http://127.0.0.1:${ports.control}`]
    const shown = await run(place, "explain", "request", "--id", id, ...address)
    expect(shown.out).toContain(
      "asked: user:dora read order:1 by decision point corp\n  it says: rule seven\n",
    )
    const live = await run(place, "explain", "request", "GET", "/chosen/1", "--as", "dora", ...address)
    expect(live.out).toContain("asks decision point corp: user:dora read order:1?")
    expect(live.out).toContain("  if `require` (gateway.conf:")
    expect(asked).toBe(1)

    const both = await fetch(`http://127.0.0.1:${ports.gateway}/chosen/1`, { headers: key })
    // Its answer is no list.
    expect([both.status, asked]).toEqual([503, 2])
    const line = () => lines.map((each) => JSON.parse(each)).find(({ request_id }) => request_id === id)
    await until(() => line() !== undefined)
    expect(line().decision).toEqual({
      ...{ pdp: "corp", user: "user:dora", relation: "read", object: "order:1" },
      ...{ allowed: false, reason: "rule seven" },
    })
  })

  it("is in status, state and metrics as the targets of backends are, with what it was asked", async () => {
    let isIll = false
    const ill = createServer((request, response) => {
      request.resume()
      response.writeHead(isIll ? 503 : 200).end(JSON.stringify({ decision: true }))
    })
    await new Promise<void>((done) => ill.listen(0, "127.0.0.1", done))
    stops.push(() => new Promise((done) => ill.close(done)))
    const url = `http://127.0.0.1:${(ill.address() as AddressInfo).port}`
    const { ports } = await running(url, (text) =>
      text.replace("authenticate", "breaker 2 failures in 10m open 10m; authenticate"),
    )
    const get = async () =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/decided/1`, { headers: key })).status
    const page = async () => (await control(ports, "GET", "/metrics")).body["text"] as string
    const pointNow = async () => {
      const { traffic, warnings } = (await control(ports, "GET", "/v1/status"))
        .body as unknown as StatusAnswer
      return { point: traffic?.decisionPoints, warnings }
    }
    expect(await pointNow()).toEqual({
      point: { corp: { origin: url, health: "unknown", breaker: "closed", outstanding: 0 } },
      warnings: [],
    })
    expect(await get()).toBe(200)
    expect((await pointNow()).point).toMatchObject({ corp: { health: "up", breaker: "closed" } })
    isIll = true
    expect([await get(), await get(), await get()]).toEqual([503, 503, 503])
    const warning = "decision point corp: it responds with 503 (requests that need it get 503)"
    expect(await pointNow()).toEqual({
      point: { corp: { origin: url, health: "down", breaker: "open", outstanding: 0 } },
      warnings: [warning],
    })
    const text = await page()
    for (const line of [
      'sallyport_pdp_breaker{pdp="corp"} 2',
      'sallyport_pdp_up{pdp="corp"} 0',
      'sallyport_pdp_outstanding{pdp="corp"} 0',
      'sallyport_pdp_decisions_total{pdp="corp",decision="allowed",from="asked"} 1',
      'sallyport_pdp_decisions_total{pdp="corp",decision="none",from="asked"} 3',
      'sallyport_pdp_request_duration_seconds_count{pdp="corp",outcome="answered"} 1',
      'sallyport_pdp_request_duration_seconds_count{pdp="corp",outcome="failed"} 2',
      'sallyport_state{state="degraded"} 1',
    ])
      expect(text.split("\n")).toContain(line)
    const shown = await run(
      {
        cwd: "/",
        env: {
          SALLYPORT_CONTROL_TOKEN: token,
          SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
        },
      },
      "status",
    )
    expect(shown.err).toBe("")
    expect(shown.out).toMatch(new RegExp(`corp +${url} +down +open +0\n`))
    expect(shown.out).toContain(`warning: ${warning}\n`)
  })

  it("may be the engine of another Sallyport", async () => {
    const { ports } = await running("ENGINE/stores/acme", (text) =>
      text.replaceAll(/\b(read|write) of/g, "viewer of"),
    )
    const engine = `http://127.0.0.1:${ports.authz}/stores/acme`
    const get = async (path: string) =>
      (await fetch(`http://127.0.0.1:${ports.gateway}${path}`, { headers: key })).status
    expect([await get("/decided/1"), await get("/chosen/1")]).toEqual([403, 403])
    const written = await fetch(`${engine}/write`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        writes: { tuple_keys: [{ user: "user:dora", relation: "viewer", object: "order:1" }] },
      }),
    })
    expect(written.status).toBe(200)
    expect([await get("/decided/1"), await get("/chosen/1"), await get("/decided/2")]).toEqual([
      200, 200, 403,
    ])
  })
})

test("by the text alone, what would be asked is shown", async () => {
  const plan = compiled({
    "gateway.conf": `gateway g { listen 127.0.0.1:1 }\n${statements("https://pdp.example")}`,
  })
  const question = {
    ...{ method: "GET", target: "/decided/7", host: "localhost", ip: "127.0.0.1" },
    ...{ headers: [], body: undefined, claims: { sub: "dora" } },
  }
  const explained = await explainOffline(plan, question, {
    environment: { PDP_KEY: "k", DORA_KEY: keyOf("dora") },
    folder: process.cwd(),
  })
  expect(explained).toMatchObject({ trouble: [], verdict: { kind: "answered", status: 200 } })
  expect(stepsOf(explained).find(({ step }) => step.kind === "require")).toMatchObject({
    state: "unknown",
    proof: { pdp: "corp", user: "user:dora", object: "order:7" },
  })
})
