import { afterEach, expect, test } from "vitest"
import { countRequest, noCounts } from "../../runtime/canary/counts.ts"
import { CanaryJudge } from "../../runtime/control/canary-judge.ts"
import type { ChangeEvent } from "../../runtime/control/ports.ts"
import { appendAudit, readAudit } from "../../runtime/store/audit-log.ts"
import { beginCanary, newestCanary, reportCanary, type StoredCanary } from "../../runtime/store/canaries.ts"
import type { Database } from "../../runtime/store/database.ts"
import { newId } from "../../runtime/store/ids.ts"
import { currentPlan, insertPlan } from "../../runtime/store/plans.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { planOf } from "./project.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const quiet = createLog({ stream: { write: () => undefined } })
const plan = (greeting: string) => planOf({ gateway: 1, authz: 2, control: 3 }, greeting)
const minutes = 60_000

/** A database with a plan and a canary of ten minutes over it, and the clock of the processes. */
async function world() {
  const { url, drop } = await createMigratedDatabase()
  closers.push(drop)
  const database = openPostgres(url)
  closers.push(() => database.close())
  await insertPlan(database, { plan: plan("old"), base: null, appliedBy: "ann" })
  const { serial = 0, stamp = "" } = (await currentPlan(database)) ?? {}
  const canary = (await beginCanary(database, {
    ...{ id: newId(), base: { serial, stamp }, plan: plan("new"), percent: 5, seconds: 600, limits: "{}" },
    ...{ appliedBy: "eve", gitCommit: "abc Greet", message: "try it", provenance: undefined },
  })) as StoredCanary
  return { database, canary, clock: { atMs: canary.startedAt.getTime() } }
}

function judgeIn(
  { database, clock }: { readonly database: Database; readonly clock: { readonly atMs: number } },
  id: string,
  append: (content: object) => Promise<number> = async (content) =>
    (await appendAudit(database, content as Record<string, unknown>)).seq,
) {
  const events: ChangeEvent["type"][] = []
  const judge = new CanaryJudge({
    ...{ database, log: quiet, process: { id, name: `host:${id}` }, audit: { append } },
    notify: ({ type }) => events.push(type),
    onEnded: () => undefined,
    recordOf: async () => undefined,
    now: () => clock.atMs,
  })
  return { events, look: async () => judge.look(await newestCanary(database)) }
}

const states = async (database: Database) => {
  const { state, reason, serial } = (await newestCanary(database)) as StoredCanary
  return { state, reason, serial }
}

/** A process has served so many requests with each plan, of which `failed` of the new plan failed. */
async function report(database: Database, { id }: StoredCanary, process: string, failed = 0, error = "") {
  const counts = noCounts()
  for (let at = 0; at < 400; at += 1) countRequest(counts.old, "ok", 5)
  for (let at = 0; at < 40; at += 1) countRequest(counts.new, at < failed ? "failed" : "ok", 5)
  await reportCanary(database, id, {
    process,
    name: `host:${process}`,
    counts: JSON.stringify(counts),
    error,
  })
}

describePostgres("the judge of canaries", () => {
  test("promotes after the time, with the author that began it, and not before", async () => {
    const here = await world()
    const { database, canary, clock } = here
    const judge = judgeIn(here, "one")
    await report(database, canary, "a")
    await report(database, canary, "b")
    clock.atMs += 10 * minutes - 1
    await judge.look()
    expect((await states(database)).state).toBe("running")
    clock.atMs += 1
    await judge.look()
    expect(await states(database)).toEqual({
      ...{ state: "promoted", serial: 2 },
      reason:
        "new plan: 80 requests, 0 % errors, 0 % denials; old plan: 800 requests, 0 % errors, 0 % denials",
    })
    const promoted = await currentPlan(database)
    expect(promoted).toMatchObject({ serial: 2, appliedBy: "eve", gitCommit: "abc Greet", message: "try it" })
    expect(promoted?.digest).toBe(canary.digest)
    expect(judge.events).toEqual(["canary.ended"])
    // A later look, of this process or another one, changes nothing.
    await judge.look()
    await judgeIn(here, "two").look()
    expect((await currentPlan(database))?.serial).toBe(2)
  })

  test("adds what the processes have counted: none alone has enough", async () => {
    const here = await world()
    const judge = judgeIn(here, "one")
    await report(here.database, here.canary, "a", 20)
    await judge.look()
    expect((await states(here.database)).state).toBe("running")
    await report(here.database, here.canary, "b", 20)
    await judge.look()
    expect(await states(here.database)).toMatchObject({
      state: "returned",
      reason: expect.stringMatching(/^errors: 50 % of the new plan's requests, 0 % of the old plan's/),
    })
    expect((await currentPlan(here.database))?.serial).toBe(1)
  })

  test("is one process at a time; another one takes over ten seconds after the last look", async () => {
    const here = await world()
    const [one, two] = [judgeIn(here, "one"), judgeIn(here, "two")]
    await one.look()
    await report(here.database, here.canary, "a", 40, "the port is in use")
    await two.look()
    expect((await states(here.database)).state).toBe("running")
    await here.database.query({
      name: "",
      text: "update sallyport.plan_canaries set held_until = now() - interval '1 second'",
    })
    await two.look()
    expect(await states(here.database)).toMatchObject({
      state: "returned",
      reason: "host:a cannot serve the plan: the port is in use",
    })
    const { rows } = await readAudit(here.database, { after: 0, from: null, to: null, limit: 10 })
    expect(rows.map(({ entry }) => JSON.parse(entry))).toMatchObject([
      { action: "plan.canary", event: "decided", who: { kind: "process", name: "host:two" } },
    ])
  })

  test("changes nothing without a row of the audit log", async () => {
    const here = await world()
    const judge = judgeIn(here, "one", async () => {
      throw new Error("the audit log cannot be written")
    })
    await report(here.database, here.canary, "a", 40)
    await report(here.database, here.canary, "b", 40)
    await expect(judge.look()).rejects.toThrow("the audit log cannot be written")
    expect((await states(here.database)).state).toBe("running")
    await judgeIn(here, "one").look()
    expect((await states(here.database)).state).toBe("returned")
  })

  test("returns a canary whose stored plan cannot be read, with one row for each decision", async () => {
    const here = await world()
    const { database, canary, clock } = here
    const judge = judgeIn(here, "one")
    await report(database, canary, "a")
    await report(database, canary, "b")
    await database.query({ name: "", text: "update sallyport.plan_canaries set plan = '{}'" })
    clock.atMs += 10 * minutes
    for (let round = 0; round < 3; round += 1) await judge.look()
    expect(await states(database)).toMatchObject({
      state: "returned",
      reason: expect.stringMatching(/^the plan cannot be promoted: /),
    })
    expect((await currentPlan(database))?.serial).toBe(1)
    const { rows } = await readAudit(database, { after: 0, from: null, to: null, limit: 10 })
    expect(rows.map(({ entry }) => JSON.parse(entry).details.state)).toEqual(["promoted", "returned"])
  })

  test("gives up a canary whose base is no longer the newest plan, as after a restore", async () => {
    const here = await world()
    await here.database.query({ name: "", text: "update sallyport.plans set stamp = 'another'" })
    await judgeIn(here, "one").look()
    expect(await states(here.database)).toMatchObject({ state: "superseded", serial: undefined })
  })
})
