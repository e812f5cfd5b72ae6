import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { Heartbeat } from "../../runtime/process/heartbeat.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** The first report is held up, as on a connection that is still being opened; others overtake it. */
function slowFirstReport(database: Database): Database {
  let isFirst = true
  return {
    ...database,
    async query(statement, parameters) {
      const holdMs = statement.name === "process-report" && isFirst ? 200 : 0
      if (holdMs > 0) isFirst = false
      await sleep(holdMs)
      return database.query(statement, parameters)
    },
  }
}

async function beating() {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const real = openPostgres(url)
  stops.push(() => real.close())
  const now: { serial: number; state: "active" | "degraded" } = { serial: 1, state: "active" }
  const database = slowFirstReport(real)
  const rest = {
    error: null,
    subscriptions: null,
    refusedSerial: null,
    reasons: [],
  }
  const state = () => ({ ...rest, ...now })
  const heartbeat = new Heartbeat({ database, roles: ["gateway"], version: "1.0.0", state })
  return { heartbeat, now }
}

describePostgres("the heartbeat", () => {
  test("tells of what is, though an older report is held up", async () => {
    const { heartbeat, now } = await beating()
    heartbeat.beat()
    now.serial = 2
    heartbeat.beat()
    await expect.poll(async () => (await heartbeat.fleet())[0]?.serial).toBe(2)
    await sleep(300)
    expect(await heartbeat.fleet()).toMatchObject([{ serial: 2 }])
    await heartbeat.stop()
  })

  test("says since when the process is in its state, and its memory", async () => {
    const { heartbeat, now } = await beating()
    const before = new Date().toISOString()
    const active = heartbeat.own()
    expect(heartbeat.own().stateSince).toBe(active.stateSince)
    expect((active.stateSince ?? "") >= before).toBe(true)
    await sleep(5)
    now.state = "degraded"
    const since = heartbeat.own().stateSince ?? ""
    expect(since > (active.stateSince ?? "")).toBe(true)
    heartbeat.beat()
    await expect
      .poll(async () => (await heartbeat.fleet())[0])
      .toMatchObject({ state: "degraded", stateSince: since })
    expect((await heartbeat.fleet())[0]?.memoryBytes).toBeGreaterThan(10_000_000)
    await heartbeat.stop()
  })

  test("leaves no entry behind, though a report is on its way when it stops", async () => {
    const { heartbeat } = await beating()
    heartbeat.beat()
    await heartbeat.stop()
    heartbeat.beat()
    await sleep(300)
    expect(await heartbeat.fleet()).toEqual([])
  })
})
