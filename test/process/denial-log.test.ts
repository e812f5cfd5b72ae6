import { afterEach, expect, it, vi } from "vitest"
import type { CheckAnswer } from "../../runtime/check/ports.ts"
import { DenialLog } from "../../runtime/process/denial-log.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, freePorts, keyOf, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describePostgres("a refused request", () => {
  it("is explained in the log under its id", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    await runtime.apply(planOf(ports), author)
    const response = await fetch(`http://127.0.0.1:${ports.gateway}/order/1`, {
      headers: { "x-api-key": keyOf("ann") },
    })
    expect(response.status).toBe(403)
    const { request_id } = (await response.json()) as { request_id: string }
    const refused = () => runtime.lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === "refused")
    await expect.poll(refused).toBeDefined()
    expect(refused()).toMatchObject({
      level: "info",
      request_id,
      decision: { store: "acme", user: "user:ann", relation: "viewer", object: "order:1" },
      revision: 0,
      why: "nearest: write user:ann viewer order:1",
      explanation:
        "denied: user:ann does not have viewer on order:1\n  it would be allowed after any of\n    write user:ann viewer order:1\n",
    })
  })
})

const decision = {
  store: "acme",
  user: "user:a",
  relation: "viewer",
  object: "order:1",
  allowed: false,
  revision: 1,
}
const answer: CheckAnswer = {
  allowed: false,
  revision: 2,
  stamp: "2",
  explanation: {
    version: 1,
    allowed: false,
    user: "user:a",
    relation: "viewer",
    object: "order:1",
    revision: 2,
    misses: [],
    complete: true,
  },
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it("a flood of refusals is explained ten times, then once a second, and the rest is counted", async () => {
  let clock = 0
  let asked = 0
  const lines: Record<string, unknown>[] = []
  const log = createLog({ stream: { write: (line) => void lines.push(JSON.parse(line)) } })
  const ask = async () => {
    asked++
    return answer
  }
  const denials = new DenialLog({ ask, log, now: () => clock })
  for (let at = 0; at < 100; at++) {
    denials.refused(`${at}`, decision)
    // One at a time: the second of a turn is only counted.
    denials.refused(`${at}`, decision)
    await turn()
    await turn()
  }
  expect([asked, lines.length]).toEqual([10, 10])
  expect(lines[1]).toMatchObject({ request_id: "1", why: "no tuple grants it", not_explained: 1 })
  clock += 1_000
  denials.refused("late", decision)
  denials.refused("later", decision)
  await turn()
  await turn()
  expect([asked, lines.length]).toEqual([11, 11])
  expect(lines[10]).toMatchObject({ request_id: "late", not_explained: 181 })
})

it("nothing is asked for a log that would not take it, and what cannot be answered is said to be unknown", async () => {
  const ask = vi.fn(() => {
    throw new Error("the database is away")
  })
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  new DenialLog({ ask, log: createLog({ level: "warn", stream }) }).refused("1", decision)
  await turn()
  expect(ask).not.toHaveBeenCalled()
  new DenialLog({ ask, log: createLog({ stream }) }).refused("2", decision)
  await turn()
  await turn()
  expect(JSON.parse(lines[0] ?? "{}")).toMatchObject({
    request_id: "2",
    why: "unknown: the database is away",
  })
})
