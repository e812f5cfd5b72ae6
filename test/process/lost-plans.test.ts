import { afterEach, expect, test } from "vitest"
import { PlanKeeper, PlanRefused } from "../../runtime/control/plan-keeper.ts"
import type { KeptPlan } from "../../runtime/control/ports.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Database } from "../../runtime/store/database.ts"
import { currentPlan, insertPlan, type PlanIdentity } from "../../runtime/store/plans.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, planOf } from "./project.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const quiet = createLog({ stream: { write: () => undefined } })
const ports = { gateway: 1, authz: 2, control: 3 }
const plan = (greeting: string) => planOf(ports, greeting)

async function empty(): Promise<Database> {
  const { url, drop } = await createMigratedDatabase()
  closers.push(drop)
  const database = openPostgres(url)
  closers.push(() => database.close())
  return database
}

/** Applies plans as other processes do. Answers the last. */
async function applied(database: Database, ...greetings: readonly string[]): Promise<PlanIdentity> {
  for (const greeting of greetings) {
    const base = (await currentPlan(database)) ?? null
    await insertPlan(database, { plan: plan(greeting), base, appliedBy: "other" })
  }
  const { serial = 0, stamp = "" } = (await currentPlan(database)) ?? {}
  return { serial, stamp }
}

/** The database loses its plans from this serial on. */
async function lose(database: Database, from: number): Promise<void> {
  await database.query({ name: "", text: `delete from sallyport.plans where serial >= ${from}` })
}

/** A process that refuses plans which greet with `refuse…`; it looks at the database every `pollMs`. */
async function follower(
  database: Database,
  { pollMs = 20, kept }: { pollMs?: number; kept?: KeptPlan } = {},
) {
  const losses: string[] = []
  const disk = { read: async () => kept ?? "nothing is kept", write: async () => undefined }
  const keeper = new PlanKeeper({
    ...{ database, log: quiet, pollMs, disk },
    servable: {
      async prepare(next: Plan) {
        if (JSON.stringify(next).includes("refuse"))
          throw new PlanRefused([{ path: "", message: "the port is in use" }])
        return { activate: async () => undefined, discard: async () => undefined }
      },
    },
    onHistoryLost: (held, found) => losses.push(`${held.serial} → ${found?.serial ?? "none"}`),
  })
  closers.push(() => keeper.close())
  await keeper.start()
  const serves = () => JSON.stringify(keeper.served).match(/greet-\w+/)?.[0]
  return { keeper, losses, serves }
}

describePostgres("a database that does not have the plan any more that a process serves", () => {
  test("is told where a later plan has come since, also by a process that began with the one on disk", async () => {
    const database = await empty()
    const identity = await applied(database, "greet-one", "greet-two")
    await lose(database, 2)
    await applied(database, "greet-other", "greet-next")
    const kept = { identity, plan: plan("greet-two"), keptAt: new Date() }
    await applied(database, "refuse")
    const { keeper, losses, serves } = await follower(database, { kept })
    expect(serves()).toBe("greet-two")
    await expect.poll(() => losses).toEqual(["2 → 4"])
    await applied(database, "greet-last")
    await expect.poll(serves).toBe("greet-last")
    expect([keeper.serial, losses]).toEqual([5, ["2 → 4"]])
  })

  test("is not told where the plan on disk is an older one of the same history", async () => {
    const database = await empty()
    const identity = await applied(database, "greet-one")
    await applied(database, "greet-two", "refuse")
    const kept = { identity, plan: plan("greet-one"), keptAt: new Date() }
    const { losses, serves } = await follower(database, { kept })
    expect(serves()).toBe("greet-one")
    await applied(database, "greet-last")
    await expect.poll(serves).toBe("greet-last")
    expect(losses).toEqual([])
  })

  test("is told while a newer plan is refused and waits", async () => {
    const database = await empty()
    await applied(database, "greet-one", "greet-two")
    const { keeper, losses, serves } = await follower(database)
    await applied(database, "refuse")
    await expect.poll(() => keeper.error).toContain("the port is in use")
    await lose(database, 2)
    await applied(database, "greet-other", "greet-next", "greet-last")
    await expect.poll(serves).toBe("greet-last")
    // Once, wherever the database stood when it was noticed.
    expect(losses).toEqual([expect.stringMatching(/^2 → /)])
  })

  test.each([
    ["the same serial", ["greet-other"], "2 → 2"],
    ["a later serial", ["greet-other", "greet-next"], "2 → 3"],
    ["an earlier serial", [], "2 → 1"],
  ])("is told by an apply that comes before it was noticed: %s", async (_, others, told) => {
    const database = await empty()
    await applied(database, "greet-one", "greet-two")
    const { keeper, losses, serves } = await follower(database, { pollMs: 2 ** 30 })
    await lose(database, 2)
    const base = await applied(database, ...others)
    expect(await keeper.apply(plan("greet-mine"), base, author)).toMatchObject({ kind: "done" })
    expect([serves(), losses]).toEqual(["greet-mine", [told]])
  })
})

describePostgres("a newest plan that is refused", () => {
  test.each([
    ["cannot be read", "update sallyport.plans set plan = '{' where serial = 2"],
    ["cannot be served here", "select 1"],
  ])(
    "is not a trouble any more when it is gone and the plan served is the newest: it %s",
    async (_, spoil) => {
      const database = await empty()
      await applied(database, "greet-one")
      const { keeper, serves } = await follower(database)
      await applied(database, "refuse")
      await database.query({ name: "", text: spoil })
      await expect.poll(() => keeper.error).not.toBeNull()
      await lose(database, 2)
      await expect.poll(() => keeper.error).toBeNull()
      expect([keeper.serial, serves()]).toEqual([1, "greet-one"])
    },
  )
})
