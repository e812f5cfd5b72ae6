import { afterEach, expect, it } from "vitest"
import { CheckError } from "../../runtime/check/ports.ts"
import type { RelationChange } from "../../runtime/policies/ports.ts"
import { RelationChanges } from "../../runtime/process/relation-changes.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { startGateway, startUpstream } from "../gateway/harness.ts"
import type { StepDraft } from "../gateway/plan-builder.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, keyOf, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

function kept(now?: () => number) {
  const lines: Record<string, unknown>[] = []
  const log = createLog({ level: "error", stream: { write: (line) => void lines.push(JSON.parse(line)) } })
  const metrics = new Metrics()
  return { lines, metrics, changes: new RelationChanges(metrics, log, now) }
}

const failed: RelationChange = {
  requestId: "r",
  store: "acme",
  statement: "grant",
  tuple: { user: "user:ann", relation: "owner", object: "order:1" },
  failure: "away",
}

/** A gateway whose routes write and delete a tuple of what the answer names; the store does not take `order:away`. */
async function granting(changes: RelationChanges) {
  const upstream = await startUpstream((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ id: new URL(request.url ?? "", "http://x").searchParams.get("id") }))
  })
  const id = { expression: { lang: "cel", text: "string(response.body.id)", type: "string" } } as const
  const step = (action: "write" | "delete"): StepDraft => ({
    ...{ kind: "grant", action, store: "acme", relation: "owner" },
    ...{ user: "user:ann", object: { text: ["order:", id] } },
  })
  const authorizer = {
    ...authorizerOf(() => ({ allowed: false, revision: 0 })),
    change: async (_store: string, _action: string, { object }: { object: string }) => {
      if (object === "order:away") throw new CheckError("unavailable", "the database is away")
    },
  }
  const running = await startGateway(
    {
      backends: { b: upstream.url },
      stores: ["acme"],
      routes: [
        { path: "/grant", backend: "b", outbound: [step("write")] },
        { path: "/revoke", backend: "b", outbound: [step("delete")] },
      ],
    },
    { observer: changes, authorizerOf: () => authorizer },
  )
  stops.push(
    () => upstream.close(),
    () => running.close(),
  )
  return running
}

it("grants and revokes are counted; those that fail are told with their tuple and the request's id", async () => {
  const { lines, metrics, changes } = kept()
  const running = await granting(changes)
  const ask = async (path: string) => {
    const answer = await fetch(running.url + path)
    await answer.text()
    return [answer.status, answer.headers.get("x-request-id")]
  }
  expect((await ask("/grant?id=1"))[0]).toBe(200)
  expect((await ask("/revoke?id=1"))[0]).toBe(200)
  expect(changes.error).toBeUndefined()
  const [status, requestId] = await ask("/revoke?id=away")
  expect(status).toBe(502)
  expect((await ask("/grant?id=a:b"))[0]).toBe(502)
  expect(lines).toMatchObject([
    {
      ...{
        msg: "a relation could not be changed",
        request_id: requestId,
        store: "acme",
        statement: "revoke",
      },
      ...{ tuple: { user: "user:ann", relation: "owner", object: "order:away" }, level: "error" },
      cause: "the database is away",
    },
    { statement: "grant", cause: expect.stringMatching(/^the user or the object of the tuple is unknown: /) },
  ])
  expect(lines[1]).not.toHaveProperty("tuple")
  const page = metrics.render()
  for (const [statement, outcome, count] of [
    ["grant", "done", 1],
    ["revoke", "done", 1],
    ["revoke", "failed", 1],
    ["grant", "failed", 1],
  ])
    expect(page).toContain(
      `sallyport_relation_changes_total{store="acme",statement="${statement}",outcome="${outcome}"} ${count}\n`,
    )
  expect(changes.error).toMatch(
    /^2 changes of relations failed within the last 15 minutes, most recently grant in /,
  )
})

it("a failure is a reason for a quarter of an hour, whatever succeeds meanwhile", () => {
  let now = 0
  const { changes } = kept(() => now)
  changes.changed(failed)
  changes.changed({ ...failed, failure: undefined })
  now = 15 * 60_000
  expect(changes.error).toBe(
    "a change of relations failed within the last 15 minutes, most recently grant of `user:ann owner order:1` in store `acme`: away",
  )
  now += 1
  expect(changes.error).toBeUndefined()
  changes.changed(failed)
  expect(changes.error).toMatch(/^a change of relations/)
})

it("a flood of failures costs few lines; the next one says how many were left out", () => {
  let now = 0
  const { changes, lines, metrics } = kept(() => now)
  for (let left = 25; left > 0; left -= 1) changes.changed(failed)
  expect(lines).toHaveLength(10)
  now = 60_000
  changes.changed(failed)
  expect(lines.at(-1)).toMatchObject({ skipped: 15 })
  expect(metrics.render()).toContain('outcome="failed"} 26\n')
})

describePostgres("a process that cannot grant", () => {
  it("says so in its status and on its metrics page; what it could grant is there", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const upstream = await startUpstream((request, response) => {
      request.resume()
      response.writeHead(201, { "content-type": "application/json" })
      response.end(request.url === "/named" ? '{"id":"7"}' : "{}")
    })
    const ports = await freePorts()
    const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob"), EVE_KEY: "eve-key-0123456789" }
    const runtime = await start(url, ports, { env })
    stops.push(
      () => upstream.close(),
      () => runtime.close(),
    )
    const more = `
subscription eve { api things; key eve_key }
secret eve_key = env(EVE_KEY)
api things {
  path "/things"
  auth subscription
  backend "${upstream.url}"
  POST "/named" { grant viewer of "order:\${response.body.id}" to "user:eve" in acme }
  POST "/unnamed" { grant viewer of "order:\${response.body.id}" to "user:eve" in acme }
}`
    await runtime.apply(planOf(ports, "hello", more), author)
    const post = async (path: string) => {
      const headers = { "x-api-key": env.EVE_KEY }
      const answer = await fetch(`http://127.0.0.1:${ports.gateway}/things${path}`, {
        method: "POST",
        headers,
      })
      await answer.text()
      return answer.status
    }
    const processes = async () =>
      (await control(ports, "GET", "/v1/status")).body["processes"] as { state: string; reasons: string[] }[]
    expect(await post("/named")).toBe(201)
    expect(await post("/unnamed")).toBe(502)
    await expect
      .poll(async () => (await processes())[0])
      .toMatchObject({
        state: "degraded",
        reasons: [
          expect.stringMatching(
            /^a change of relations failed .*, most recently grant in store `acme`: the user or the object of the tuple is unknown/,
          ),
        ],
      })
    const page = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    for (const outcome of ["done", "failed"])
      expect(page).toContain(
        `sallyport_relation_changes_total{store="acme",statement="grant",outcome="${outcome}"} 1\n`,
      )
  })
})
