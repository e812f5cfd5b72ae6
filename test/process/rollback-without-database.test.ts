import { readFileSync, statSync } from "node:fs"
import { expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import {
  applyGreetings,
  filesOf,
  hasEnded,
  historyOf,
  journalEntries,
  journalOf,
  outageWorld,
  ownState,
  rollBackAlone,
  startIn,
} from "./outage-world.ts"
import { call, control } from "./project.ts"

describePostgres("a rollback without the database", () => {
  test("serves an earlier plan at once with its stores, is in the journal first, and becomes the newest plan", async () => {
    const at = await outageWorld()
    const { ports, server } = at
    const runtime = await startIn(at)
    await applyGreetings(at, runtime, "one", "two", "three")
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    expect(await rollBackAlone(ports, 1, 3)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("the database answers: use `sallyport rollback 1`") },
    })
    await server.shutDown()
    const kept = await control(ports, "GET", "/v1/kept-plans")
    expect(kept.body).toMatchObject({
      running: { serial: 3 },
      plans: [{ serial: 3 }, { serial: 2 }, { serial: 1, who: "test" }],
    })
    expect(await rollBackAlone(ports, 1, 2)).toMatchObject({ status: 412 })
    expect(await rollBackAlone(ports, 9, 3)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("it keeps 3, 2, 1") },
    })
    expect(await rollBackAlone(ports, 3, 3)).toMatchObject({ status: 409 })
    expect(await rollBackAlone(ports, 2, 3, "three is broken")).toMatchObject({
      status: 200,
      body: { base: { serial: 3 }, to: { serial: 2 }, message: "three is broken" },
    })
    expect(await call(ports, "/hello")).toBe("two")
    const said = await ownState(ports)
    expect(said).toMatchObject({ state: "degraded", serial: 2 })
    expect(said.reasons.join()).toContain(
      "plan 2 is served instead of plan 3: rolled back without the database by test",
    )
    // It has its stores, so it stays ready.
    expect((await control(ports, "GET", "/readyz")).status).toBe(200)
    expect(statSync(journalOf(at)).mode & 0o777).toBe(0o600)
    const [first = "", ...rest] = readFileSync(journalOf(at), "utf8").trimEnd().split("\n")
    expect(first).toContain("requested")
    expect(rest.join()).toContain("rolled-back")
    await hasEnded(at)
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 4 })
    expect((await historyOf(ports))[0]).toMatchObject({ serial: 4, who: "test", message: "three is broken" })
    expect(await call(ports, "/hello")).toBe("two")
    expect(filesOf(at, ".journal")).toEqual([])
    const events = (await journalEntries(ports)).map(({ event }) => event)
    expect(events.slice(-3)).toEqual(["rolled-back", "ended", "taken"])
    const rows = await journalEntries(ports)
    const asked = rows.findLast(({ event }) => event === "requested")
    expect(rows.findLast(({ event }) => event === "ended")).toMatchObject({ of: asked?.["seq"], status: 200 })
  })
})
