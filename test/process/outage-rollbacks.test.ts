import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import {
  applyGreetings,
  endJournalAt,
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
import { author, call, control, keyOf, planOf } from "./project.ts"

const details = async (answer: ReturnType<typeof control>) => {
  const { status, body } = await answer
  return `${status} ${body["detail"]}`
}

/** A process that serves "three" (serial 3), whose database is then unavailable. */
async function inOutage(beside?: Parameters<typeof outageWorld>[0]) {
  const world = await outageWorld(beside)
  const runtime = await startIn(world)
  await applyGreetings(world, runtime, "one", "two", "three")
  await world.server.shutDown()
  return { world, runtime, ports: world.ports, server: world.server }
}

describePostgres("what a process refuses to roll back without the database", () => {
  test.each([
    ["consents", "change { opens needs consent }", "", "has consents, which cannot be checked"],
    ["another model", "", "define viewer: [user]\n    define editor: [user]", "different stores or models"],
  ])("a plan with %s", async (_, more, relations, reason) => {
    const world = await outageWorld()
    const { ports } = world
    const runtime = await startIn(world)
    await applyGreetings(world, runtime, "one")
    const plan = relations === "" ? planOf(ports, "two", more) : planOf(ports, "two", more, relations)
    expect((await runtime.apply(plan, author)).kind).toBe("done")
    await expect.poll(() => filesOf(world, ".plan").length).toBe(2)
    await world.server.shutDown()
    expect(await details(rollBackAlone(ports, 1, 2))).toMatch(
      new RegExp(`^422 .*${reason}.*nothing was changed`),
    )
    expect(await call(ports, "/hello")).toBe("two")
    // The attempt is known later.
    await world.server.restart()
    await expect.poll(async () => (await journalEntries(ports)).map(({ event }) => event)).toContain("ended")
    expect((await journalEntries(ports)).map(({ event, status }) => [event, status])).toEqual([
      ["requested", undefined],
      ["ended", 422],
    ])
    expect(await historyOf(ports)).toHaveLength(2)
  })

  test("a process that keeps no plans, or whose journal cannot be written", async () => {
    const { world, runtime, ports } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    const journal = journalOf(world)
    writeFileSync(journal, readFileSync(journal, "utf8").replace("requested", "requestex"))
    expect(await details(rollBackAlone(ports, 1, 2))).toMatch(
      /^422 nothing was changed.*was altered after row 0/,
    )
    expect(await call(ports, "/hello")).toBe("two")
    await runtime.close()
    await startIn(world, { keepPlan: false })
    expect(await details(control(ports, "GET", "/v1/kept-plans"))).toContain("keeps no plans on disk")
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(503)
  })

  test("a plan while a canary runs", async () => {
    const world = await outageWorld()
    const { ports } = world
    const runtime = await startIn(world)
    await applyGreetings(world, runtime, "one", "two")
    const canary = { plan: planOf(ports, "next"), base: 2, author, percent: 5, seconds: 600 }
    expect((await control(ports, "POST", "/v1/canary", canary)).status).toBe(200)
    // The process has seen it when its round has told the fleet.
    await expect
      .poll(async () => JSON.stringify((await control(ports, "GET", "/v1/canary")).body))
      .toContain("counts")
    await world.server.shutDown()
    await expect
      .poll(() => details(rollBackAlone(ports, 1, 2)))
      .toMatch(/^422 a canary ran when the database last answered/)
    expect((await rollBackAlone(ports, 1, 2, null, true)).status).toBe(200)
    expect(await call(ports, "/hello")).toBe("one")
    // The canary of the fleet still runs, so its base stays the newest plan.
    await world.server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 2 })
    expect((await journalEntries(ports)).at(-1)).toMatchObject({ event: "not-taken" })
    await expect.poll(() => filesOf(world, ".journal")).toEqual([])
  })
})

describePostgres("a rollback without the database", () => {
  test("outlives a restart, can be made again and undone, and the last one counts", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await runtime.close()
    const { lines, ...second } = await startIn(world)
    expect(await call(ports, "/hello")).toBe("two")
    // A start without the database has no stores.
    expect(await call(ports, "/order/1", "ann")).toBe("503")
    expect((await control(ports, "GET", "/readyz")).status).toBe(503)
    expect((await ownState(ports)).reasons.join()).toContain("plan 2 is served instead of plan 3")
    expect(lines.join()).toContain("rolled back without the database")
    expect((await rollBackAlone(ports, 1, 3)).status).toBe(412)
    // It has not seen the database, so a canary may run.
    expect(await details(rollBackAlone(ports, 3, 2))).toMatch(/^422 .*since its start.*--despite-canary/)
    expect((await rollBackAlone(ports, 3, 2, null, true)).status).toBe(200)
    expect((await rollBackAlone(ports, 1, 3, null, true)).body).toMatchObject({
      base: { serial: 3 },
      to: { serial: 1 },
    })
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 4 })
    expect(await call(ports, "/hello")).toBe("one")
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    expect((await historyOf(ports)).map(({ serial }) => serial)).toEqual([4, 3, 2, 1])
    await second.close()
  })

  test("that was undone adds nothing to the history", async () => {
    const { ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    expect((await rollBackAlone(ports, 3, 2)).status).toBe(200)
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 3 })
    expect(await historyOf(ports)).toHaveLength(3)
    expect((await journalEntries(ports)).at(-1)).toMatchObject({ event: "taken", serial: 3 })
  })

  test("comes before any other change of this process", async () => {
    const { ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await server.restart()
    const put = () => control(ports, "PUT", "/v1/plan", { plan: planOf(ports, "four"), base: 3, author })
    await expect.poll(async () => (await put()).status).toBe(412)
    expect(await historyOf(ports)).toHaveLength(4)
  })

  test("is not taken when another plan is the newest one, and this is in the audit log and in the log", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await runtime.close()
    await server.restart()
    const other = await startIn(await outageWorld(world))
    expect((await other.apply(planOf(ports, "four"), author)).kind).toBe("done")
    await other.close()
    const { lines } = await startIn(world)
    expect(await call(ports, "/hello")).toBe("four")
    const reason = "it replaced plan 3, and plan 4 is the newest one"
    expect((await journalEntries(ports)).at(-1)).toMatchObject({ event: "not-taken", reason })
    expect(lines.join()).toContain(reason)
    expect(filesOf(world, ".journal")).toEqual([])
    expect(await historyOf(ports)).toHaveLength(4)
  })

  test("is not taken while a canary runs that began meanwhile", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await runtime.close()
    await server.restart()
    const beside = await outageWorld(world)
    const other = await startIn({ ...beside, ports: { ...ports, control: beside.ports.control } })
    const canary = { plan: planOf(ports, "next"), base: 3, author, percent: 5, seconds: 600 }
    expect(
      (await control({ ...ports, control: beside.ports.control }, "POST", "/v1/canary", canary)).status,
    ).toBe(200)
    await other.close()
    await startIn(world)
    expect((await journalEntries(ports)).at(-1)).toMatchObject({
      event: "not-taken",
      reason: "a canary of test runs over serial 3",
    })
    expect(await historyOf(ports)).toHaveLength(3)
  })

  test("of two processes becomes one plan", async () => {
    const world = await outageWorld()
    const { ports, server } = world
    const runtime = await startIn(world)
    const beside = await outageWorld(world)
    await startIn(beside, { roles: ["control"] })
    await applyGreetings(world, runtime, "one", "two", "three")
    await expect.poll(() => ownState(beside.ports)).toMatchObject({ serial: 3 })
    await expect.poll(() => filesOf(beside, ".plan").some((name) => name.startsWith("3."))).toBe(true)
    // Notices may have told it only of the last one.
    const kept = await control(beside.ports, "GET", "/v1/kept-plans")
    await server.shutDown()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    const hasTwo = (kept.body["plans"] as { serial: number }[]).some(({ serial }) => serial === 2)
    expect((await rollBackAlone(beside.ports, 2, 3)).status).toBe(hasTwo ? 200 : 404)
    await server.restart()
    for (const each of [ports, beside.ports])
      await expect.poll(() => ownState(each)).toMatchObject({ state: "active", serial: 4 })
    expect(await historyOf(ports)).toHaveLength(4)
    const taken = (await journalEntries(ports)).filter(({ event }) => event === "taken")
    expect(taken.map(({ serial }) => serial)).toEqual(hasTwo ? [4, 4] : [4])
  })
})

describePostgres("a journal whose last rows were cut", () => {
  test("decides nothing after a restart, and nothing more is rolled back until the audit log has it", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await hasEnded(world)
    await runtime.close()
    const [requested = ""] = readFileSync(journalOf(world), "utf8").split("\n")
    writeFileSync(journalOf(world), `${requested}\n`)
    const { lines } = await startIn(world)
    expect(await call(ports, "/hello")).toBe("three")
    expect(lines.join()).toContain("the journal was cut: it has 1 of 3 rows")
    expect(await details(rollBackAlone(ports, 2, 3, null, true))).toMatch(/^(422|503) .*the journal was cut/)
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 3 })
    expect((await journalEntries(ports)).map(({ event }) => event)).toEqual(["requested", "altered"])
    expect(filesOf(world, "altered-")).toHaveLength(2)
  })
})

describePostgres("a process that is killed during a rollback without the database", () => {
  test("before the row of the rollback: the plan has not changed, the request is known", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await hasEnded(world)
    await runtime.close()
    const [requested = "", rolledBack = ""] = readFileSync(journalOf(world), "utf8").split("\n")
    await endJournalAt(world, 1)
    writeFileSync(journalOf(world), `${requested}\n${rolledBack.slice(0, 100)}`)
    await startIn(world)
    expect(await call(ports, "/hello")).toBe("three")
    expect((await ownState(ports)).reasons.join()).toContain("plan 3 is served from disk")
    // It goes on behind the last whole row.
    expect(await details(rollBackAlone(ports, 9, 3))).toMatch(/^404 /)
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 3 })
    expect((await journalEntries(ports)).map(({ event }) => event)).toEqual([
      "requested",
      "requested",
      "ended",
    ])
    expect(await historyOf(ports)).toHaveLength(3)
  })

  test("after the row of the rollback: the plan is served and taken", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await hasEnded(world)
    await runtime.close()
    await endJournalAt(world, 2)
    await startIn(world)
    expect(await call(ports, "/hello")).toBe("two")
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 4 })
    expect((await journalEntries(ports)).map(({ event }) => event)).toEqual([
      "requested",
      "rolled-back",
      "taken",
    ])
  })

  test("between the commit and the removal of the journal: nothing is taken twice, new rows are", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await hasEnded(world)
    const path = journalOf(world)
    const files = [path, `${path}.head`].map((file) => [file, readFileSync(file)] as const)
    const putBack = () => {
      for (const [file, content] of files) writeFileSync(file, content, { mode: 0o600 })
    }
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 4 })
    const rows = await journalEntries(ports)
    await runtime.close()
    putBack()
    const second = await startIn(world)
    expect(filesOf(world, ".journal")).toEqual([])
    expect(await journalEntries(ports)).toEqual(rows)
    expect(await historyOf(ports)).toHaveLength(4)

    // The database is away again, so the taken journal is still there and gets more rows.
    await server.shutDown()
    putBack()
    expect((await rollBackAlone(ports, 1, 4)).status).toBe(200)
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 5 })
    expect(await call(ports, "/hello")).toBe("one")
    expect((await journalEntries(ports)).slice(rows.length).map(({ event }) => event)).toEqual([
      ...["requested", "rolled-back", "ended", "taken"],
    ])
    await second.close()
  })

  test("a journal that was altered decides nothing, and the audit log says so", async () => {
    const { world, runtime, ports, server } = await inOutage()
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    await hasEnded(world)
    await runtime.close()
    const path = journalOf(world)
    writeFileSync(path, readFileSync(path, "utf8").replace("rolled-back", "rolled-bacc"))
    const { lines } = await startIn(world)
    expect(await call(ports, "/hello")).toBe("three")
    expect(lines.join()).toContain("was altered after row 1")
    await server.restart()
    await expect.poll(() => ownState(ports)).toMatchObject({ state: "active", serial: 3 })
    expect((await journalEntries(ports)).map(({ event }) => event)).toEqual(["requested", "altered"])
    expect(filesOf(world, ".altered-")).toHaveLength(2)
    expect(await historyOf(ports)).toHaveLength(3)
  })

  test("the files have no secrets, and damaged plans are not served", async () => {
    const { world, ports } = await inOutage()
    const texts = () =>
      filesOf(world, "").map(
        (name) => [name, readFileSync(journalOf(world).replace(/[^/]*$/, name), "utf8")] as const,
      )
    expect((await rollBackAlone(ports, 2, 3)).status).toBe(200)
    expect(texts()).toHaveLength(5)
    for (const [name, text] of texts())
      for (const secret of [keyOf("ann"), keyOf("bob"), "test-token"])
        expect(text, name).not.toContain(secret)
    const [name = ""] = filesOf(world, ".plan").filter((each) => each.startsWith("1."))
    appendFileSync(journalOf(world).replace(/[^/]*$/, name), "x")
    expect(await details(rollBackAlone(ports, 1, 2))).toMatch(
      /^422 plan 1, kept on disk, cannot be used.*digest/,
    )
    // The last row is written after its response; the folder goes with the test.
    await expect.poll(() => readFileSync(journalOf(world), "utf8").match(/ended/g)).toHaveLength(2)
  })
})
