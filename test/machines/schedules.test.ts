import { afterAll, beforeAll, expect, test } from "vitest"
import { describePgbouncer } from "../support/pgbouncer.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { Client } from "./client.ts"
import { Fleet } from "./fleet.ts"
import { failuresOf, runSchedule } from "./schedule.ts"

/** In two schedules nearly everything happens once. `npm test` has one: starting the machines takes most of its time. */
const perSchedule = 6
const schedules = scaled(2, 0.5)
/** A schedule takes about 23 s on two idle cores: the 200 of `npm run test:long` need more than the usual limit. */
const limitMs = 900_000 + schedules * 120_000

describePgbouncer("random failures beneath three processes, with a standby, a pooler and Redis", () => {
  const client = new Client()
  let fleet: Fleet
  beforeAll(async () => {
    fleet = await Fleet.start(client, { redisWaitMs: 5_000 })
  })
  afterAll(async () => {
    await fleet?.stop()
    await client.close()
  })

  test("every answer, token, stream and limit is right", { timeout: limitMs }, async (context) => {
    let answers = 0
    for (let at = 0; at < schedules; at++) {
      const seed = firstSeed + at
      const names = failuresOf(at, perSchedule, firstSeed)
      const result = await runSchedule(fleet, client, seed, names).catch((error: unknown) => {
        throw new Error(`seed ${seed}, ${names.join(", ")}`, { cause: error })
      })
      expect(result.wrong.slice(0, 10), `seed ${seed}: ${names.join(", ")}`).toEqual([])
      answers += result.answers
    }
    tellAsked(context, { "schedules of failures over machines": schedules, "judged answers": answers })
  })
})
