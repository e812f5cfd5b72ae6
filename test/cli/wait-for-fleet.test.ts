import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { PlanRecord, ProcessStatus } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { type FakeControl, fakeControl, type Seen } from "./fake-control.ts"
import { folderWith, run, small } from "./run.ts"

const record = (plan: Plan): PlanRecord => ({
  ...{ serial: 8, stamp: "stamp", digest: plan.digest, at: "2026-01-02T03:04:05.678Z", who: "ann" },
  ...{ commit: null, message: null },
})

const at = (host: string, more: Partial<ProcessStatus>): ProcessStatus => ({
  ...{ id: host, host, pid: 1, roles: ["gateway"], version: "0.1.0" },
  ...{ startedAt: "2026-01-02T03:00:00.000Z", seenAt: "2026-01-02T03:04:04.000Z" },
  ...{ serial: 7, error: null, state: "active", reasons: [], subscriptions: null, refusedSerial: null },
  ...more,
})

/** A control API that applies a plan as serial 8 and lists these processes: each round once, and the last one from then on. */
function withFleet(...rounds: readonly (readonly ProcessStatus[])[]): Promise<FakeControl> {
  let round = 0
  return fakeControl({
    "PUT /v1/plan": ({ body }: Seen) => ({
      json: { applied: true, record: record((body as { plan: Plan }).plan) },
    }),
    "GET /v1/status": () => {
      const processes = rounds[Math.min(round++, rounds.length - 1)]
      return { json: { serial: 8, processes, warnings: [], traffic: null } }
    },
  })
}

async function apply(control: FakeControl, words: readonly string[], answers?: readonly string[]) {
  const cwd = folderWith({ "gateway.conf": small })
  const world = { cwd, env: control.env, ...(answers === undefined ? {} : { answers }) }
  const outcome = await run(world, "apply", ...words)
  const asked = control.seen.filter(({ path }) => path === "/v1/status").length
  return { ...outcome, asked }
}

describe("apply waits for the processes", () => {
  test("until all serve the plan", async () => {
    const behind = [at("one", { serial: 8 }), at("two", {})]
    const control = await withFleet(behind, behind, [at("one", { serial: 8 }), at("two", { serial: 9 })])
    const { code, out, asked } = await apply(control, ["--yes", "--wait", "30s"])
    expect([code, asked]).toEqual([0, 3])
    expect(out).toMatch(/Applied as serial 8\.\nAll 2 processes serve it\.\n$/)
  })

  test("and ends at once when one refuses it, with the reason", async () => {
    const error = "plan 8: 0.0.0.0:8000: the port is in use"
    const control = await withFleet([at("one", { serial: 8 }), at("two", { error, refusedSerial: 8 })])
    const { code, out, err, asked } = await apply(control, ["--yes", "--wait", "30s"])
    expect([code, asked]).toEqual([4, 1])
    expect(out).toContain(`1 of 2 processes serve it. The others:
PROCESS  ROLES    SERVES    REASON
two:1    gateway  serial 7  ${error}
`)
    expect(err).toContain("They keep what they serve and try again.")
  })

  test("goes on waiting when the refused plan was another one, up to the limit", async () => {
    const control = await withFleet([
      at("one", { serial: 8 }),
      at("two", { serial: null, error: "plan 7: no", refusedSerial: 7 }),
      at("three", {}),
      at("four", { state: "draining" }),
    ])
    const { code, out, asked } = await apply(control, ["--yes", "--wait", "400ms"])
    expect(code).toBe(4)
    expect(asked).toBeGreaterThan(1)
    expect(out).toContain("1 of 4 processes serve it.")
    expect(out).toMatch(/two:1 +gateway +none +plan 7: no\n/)
    expect(out).toMatch(
      /three:1 +gateway +serial 7 +no report that it took the plan; its last report is from 2026-01-02T03:04:04/,
    )
    expect(out).toMatch(/four:1 +gateway +serial 7 +it is ending\n/)
  })

  test.each([
    ["on a terminal", [], ["yes"], 1],
    ["not in a pipe", ["--yes"], undefined, 0],
    ["not with --no-wait", ["--no-wait"], ["yes"], 0],
    ["not for 0s", ["--wait", "0s"], ["yes"], 0],
  ] as const)("%s", async (_, words, answers, times) => {
    const control = await withFleet([at("one", { serial: 8 })])
    expect(await apply(control, words, answers)).toMatchObject({ code: 0, asked: times })
  })

  test("says that the plan is applied when the processes cannot be asked", async () => {
    const control = await withFleet([])
    control.answers["GET /v1/status"] = { status: 503, json: { title: "Service unavailable" } }
    const { code, err } = await apply(control, ["--yes", "--wait", "30s"])
    expect(code).toBe(4)
    expect(err).toContain("the plan is applied, but which processes serve it is unknown: ")
  })

  test("refuses a wait that is not a duration, before anything is sent", async () => {
    const control = await withFleet([])
    const { code, err } = await apply(control, ["--yes", "--wait", "30"])
    expect([code, control.seen.length]).toEqual([1, 0])
    expect(err).toContain("--wait 30 is not a duration")
  })
})

test("rollback waits too", async () => {
  const plan = compile(new MemoryFiles([["gateway.conf", small]]), "gateway.conf").plan as Plan
  const next = compile(new MemoryFiles([["gateway.conf", small.replace("10 per", "20 per")]]), "gateway.conf")
    .plan as Plan
  const control = await fakeControl({
    "GET /v1/plans/6": { json: { record: { ...record(plan), serial: 6 }, plan } },
    "GET /v1/plan": { json: { record: { ...record(next), serial: 7 }, plan: next } },
    "POST /v1/rollback": { json: { applied: true, record: record(plan) } },
    "GET /v1/status": {
      json: {
        serial: 8,
        processes: [at("one", { refusedSerial: 8, error: "no" })],
        warnings: [],
        traffic: null,
      },
    },
  })
  const cwd = folderWith({})
  expect((await run({ cwd, env: control.env }, "rollback", "6", "--yes", "--wait", "1s")).code).toBe(4)
  expect((await run({ cwd, env: control.env }, "rollback", "6", "--yes")).code).toBe(0)
})
