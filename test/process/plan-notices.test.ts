import { createServer } from "node:net"
import { afterEach, expect, test } from "vitest"
import { PlanKeeper } from "../../runtime/control/plan-keeper.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const quiet = createLog({ stream: { write: () => undefined } })

async function migrated(): Promise<string> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  return url
}

/** A process that would find a new plan by its polls after an hour. */
async function keeperAt(url: string): Promise<PlanKeeper> {
  const database = openPostgres(url)
  stops.push(() => database.close())
  const prepared = { activate: async () => undefined, discard: async () => undefined }
  const keeper = new PlanKeeper({
    ...{ database, log: quiet, pollMs: 3_600_000 },
    servable: { prepare: async () => prepared },
  })
  stops.push(() => keeper.close())
  await keeper.start()
  return keeper
}

describePostgres("a plan that another process applied", () => {
  test("is served by all others at its notice, without a poll", async () => {
    const url = await migrated()
    const keepers = await Promise.all(Array.from({ length: 5 }, () => keeperAt(url)))
    const ports = await freePorts()
    const [first, ...others] = keepers
    // Nothing says when the other connections listen, so apply until the notice is heard by all; later ones then have to be heard too.
    let serial = 0
    const applyNext = async () => {
      const base = serial === 0 ? null : { serial }
      const outcome = await first?.apply(planOf(ports, `greeting ${++serial}`), base, author)
      expect(outcome?.kind).toBe("done")
    }
    await expect
      .poll(async () => {
        await applyNext()
        return others.every((keeper) => (keeper.serial ?? 0) > 0)
      })
      .toBe(true)
    for (let times = 0; times < 5; times++) await applyNext()
    await expect.poll(() => others.map((keeper) => keeper.serial)).toEqual(others.map(() => serial))
  })

  test("names its serial in `status` where it is refused, until it can be served", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const taker = createServer()
    await new Promise<void>((resolve) => taker.listen(ports.authz, "127.0.0.1", resolve))
    const free = () => new Promise((resolve) => taker.close(resolve))
    stops.push(free)
    const gateway = await start(url, ports, {}, ["gateway", "control"])
    stops.push(() => gateway.close())
    const engine = await start(url, { ...ports, control: (await freePorts()).control }, {}, ["authz"])
    stops.push(() => engine.close())
    expect((await gateway.apply(planOf(ports), author)).kind).toBe("done")
    const reported = async () => {
      const { body } = await control(ports, "GET", "/v1/status")
      return (body["processes"] as { roles: string[]; serial: unknown; refusedSerial: unknown }[])
        .map(({ roles, serial, refusedSerial }) => [roles.join(), serial, refusedSerial])
        .sort()
    }
    await expect.poll(reported).toEqual([
      ["authz", null, 1],
      ["gateway,control", 1, null],
    ])
    await free()
    await expect.poll(reported).toEqual([
      ["authz", 1, null],
      ["gateway,control", 1, null],
    ])
  })
})
