import { expect, test } from "vitest"
import type { EndedRequest } from "../../runtime/authz/observed.ts"
import type { EngineLogPlan } from "../../runtime/plan/authz.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { EngineLog } from "../../runtime/process/engine-log.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { planOf } from "../gateway/plan-builder.ts"

const request: EndedRequest = {
  ...{ method: "Check", store: "acme", outcome: "denied", durationMs: 12.345 },
  work: { steps: 70, pagesUsed: 4, pagesRead: 1, reads: undefined },
  question: { user: "user:ann", relation: "viewer", object: "doc:1" },
  origin: {
    headers: {
      "x-request-id": "r1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      authorization: "Bearer canary-key",
    },
    caller: { name: "app_key" },
  },
  sent: ["Openfga-Store-Id", "01S", "Openfga-Authorization-Model-Id", "01M", "Sallyport-Revision", "7"],
}

const quiet: EngineLogPlan = {
  requests: false,
  decisions: null,
  users: "types",
  slowMs: null,
  slowSteps: null,
}

/** A plan whose engine logs like this. */
function planWith(log: EngineLogPlan | undefined): Plan {
  const plan = planOf({
    port: 1,
    stores: ["acme"],
    secrets: { audit: { env: "AUDIT" } },
    routes: [
      { path: "/", backend: null, inbound: [{ kind: "respond", status: 204, headers: [], media: null }] },
    ],
  })
  const authz =
    plan.plan.authz === null ? null : { ...plan.plan.authz, ...(log === undefined ? {} : { log }) }
  return { ...plan, plan: { ...plan.plan, authz } }
}

const outside = { environment: { AUDIT: "canary-audit-key" }, folder: "." }

async function logging(log: EngineLogPlan | undefined, now: () => number = () => 0, random?: () => number) {
  const lines: string[] = []
  const stream = createLog({ stream: { write: (line) => void lines.push(line) } })
  const engineLog = new EngineLog(stream, stream, now, random)
  const activate = await engineLog.prepare(planWith(log), outside)
  activate()
  const read = () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>)
  return { engineLog, read }
}

test("without `log`, a request has no line", async () => {
  const { engineLog, read } = await logging(undefined)
  engineLog.ended(request, "acme")
  engineLog.decided("acme", [{ question: { user: "user:ann" }, outcome: "allowed" }], undefined)
  expect(read()).toEqual([])
})

test("a request has a line with model, revision, work and caller, and no credential", async () => {
  const { engineLog, read } = await logging({ ...quiet, requests: true })
  engineLog.ended(request, "acme")
  const [line, ...others] = read()
  expect(others).toEqual([])
  expect(line).toMatchObject({
    ...{ level: "info", msg: "engine request", method: "Check", store: "acme", outcome: "denied", ms: 12.35 },
    ...{
      steps: 70,
      pages_used: 4,
      pages_read: 1,
      model: "01M",
      revision: 7,
      request_id: "r1",
      caller: "app_key",
    },
    trace_id: "0af7651916cd43dd8448eb211c80319c",
  })
  expect(JSON.stringify(line)).not.toMatch(/canary|ann|doc:1/)
})

test("a decision names its user as the plan says", async () => {
  const userOf = async (users: EngineLogPlan["users"], user = "user:ann") => {
    const { engineLog, read } = await logging({ ...quiet, decisions: 100, users })
    engineLog.ended({ ...request, question: { ...request.question, user } }, "acme")
    const [line] = read()
    expect(line).toMatchObject({
      msg: "engine decision",
      decision: "denied",
      relation: "viewer",
      object: "doc:1",
    })
    expect(JSON.stringify(line)).not.toContain("canary")
    return line?.["user"]
  }
  expect(await userOf("types")).toBe("user")
  expect(await userOf("plain")).toBe("user:ann")
  const hashed = await userOf({ secret: "audit" })
  expect(hashed).toMatch(/^user:[\w-]{22}$/)
  expect(await userOf({ secret: "audit" })).toBe(hashed)
  expect(await userOf({ secret: "audit" }, "user:bob")).not.toBe(hashed)
  expect(await userOf({ secret: "audit" }, "group:a#member")).toMatch(/^group:[\w-]{22}#member$/)
})

test("a share of the decisions has a line, and checks of a batch have one each", async () => {
  const draws = [0.05, 0.5, 0.09]
  const { engineLog, read } = await logging({ ...quiet, decisions: 10 }, undefined, () => draws.shift() ?? 1)
  const items = ["doc:1", "doc:2", "doc:3"].map((object) => ({
    question: { object },
    outcome: "allowed" as const,
  }))
  engineLog.decided("acme", items, { requestId: "r2" })
  expect(read().map(({ object, request_id }) => [object, request_id])).toEqual([
    ["doc:1", "r2"],
    ["doc:3", "r2"],
  ])
})

test("lines above the rate are counted", async () => {
  let nowMs = 0
  const { engineLog, read } = await logging({ ...quiet, requests: true }, () => nowMs)
  for (let at = 0; at < 2_010; at += 1) engineLog.ended(request, "acme")
  expect(read()).toHaveLength(2_000)
  nowMs = 1_000
  engineLog.ended(request, "acme")
  expect(read()[0]).toMatchObject({ skipped: 10 })
})

test("a question is slow from the time or the work on that the plan says", async () => {
  const { engineLog, read } = await logging({ ...quiet, slowMs: 10 })
  engineLog.ended(request, "acme")
  expect(read()).toMatchObject([{ level: "warn", msg: "slow question", ms: 12 }])
  const byWork = await logging({ ...quiet, slowSteps: 70 })
  byWork.engineLog.ended({ ...request, durationMs: 0.1 }, "acme")
  expect(byWork.read()).toHaveLength(1)
})

test("a plan whose hash key is missing is refused", async () => {
  const log = new EngineLog(createLog(), createLog())
  const plan = planWith({ ...quiet, decisions: 100, users: { secret: "audit" } })
  await expect(log.prepare(plan, { environment: {}, folder: "." })).rejects.toThrow(/AUDIT/)
})
