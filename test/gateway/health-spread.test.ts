import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { HealthChecks } from "../../runtime/gateway/backends/health-checks.ts"
import { Target, type TargetPlace } from "../../runtime/gateway/backends/target.ts"
import type { AnswerReceiver, Connections } from "../../runtime/http/client/connections.ts"
import type { HealthPlan } from "../../runtime/plan/resources.ts"

const everyMs = 10_000
const plan: HealthPlan = {
  ...{ method: "GET", path: "/healthz", timeoutMs: 1_000, statuses: [200] },
  ...{ everyMs, downAfter: 2, upAfter: 2 },
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Runs the checks of one process for some intervals, and returns when each target was asked, in milliseconds. */
async function asked(targets: number, phase: number, intervals: number): Promise<number[][]> {
  const started = Date.now()
  const times: number[][] = Array.from({ length: targets }, () => [])
  const among = times.map((_, index) => {
    const place = { origin: `http://127.0.0.1:${9000 + index}`, basePath: "" } as TargetPlace
    return new Target(place, {} as Target, 1, undefined)
  })
  const connect = (place: { readonly origin: string }) =>
    ({
      dispatch: (_: unknown, receiver: AnswerReceiver) => {
        times[Number(place.origin.slice(-4)) - 9000]?.push(Date.now() - started)
        receiver.onHead(200, [])
        receiver.onComplete([])
      },
      destroy: async () => undefined,
    }) as unknown as Connections
  const checks = new HealthChecks(plan, among, connect, phase)
  await vi.advanceTimersByTimeAsync(everyMs * intervals)
  checks.close()
  return times
}

test("50 processes that got their plan together spread the checks of a target over the interval", async () => {
  const perTenth = new Array<number>(10).fill(0)
  for (let process = 0; process < 50; process += 1) {
    const [times = []] = await asked(1, process / 50, 6)
    const [first = 0, second = 0, third = 0] = times
    expect(first).toBeLessThanOrEqual(everyMs / 2)
    expect(second - first).toBeGreaterThanOrEqual(everyMs / 2)
    expect(second - first).toBeLessThanOrEqual(everyMs)
    expect(third - second).toBe(everyMs)
    const tenth = Math.floor(((third % everyMs) / everyMs) * 10)
    perTenth[tenth] = (perTenth[tenth] ?? 0) + 1
  }
  expect(perTenth).toEqual(new Array(10).fill(5))
})

test("one process spreads the checks of its targets", async () => {
  const times = await asked(4, 0.1, 4)
  const phases = times.map((of) => (of[2] ?? 0) % everyMs).sort((one, other) => one - other)
  expect(phases).toEqual([1_000, 3_500, 6_000, 8_500])
})
