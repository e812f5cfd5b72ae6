import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { machine, workersOf } from "./machine.ts"

describePostgres("an outage of the database below serve --workers 2", () => {
  let server: ThrowAwayPostgres
  const here = machine(async () => {
    server = await startThrowAwayPostgres({ migrated: true })
    return { url: server.url("postgres"), drop: () => server.stop() }
  })
  const text = (answer: string) => `
gateway shop { listen 127.0.0.1:${here.ports[0]}; trust none }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${answer}" } } }
`
  /** What the workers answer, on connections of their own, which the system gives to any of them. */
  const answers = async () => {
    const all = Array.from({ length: 20 }, async () =>
      (await here.gateway("/status", { headers: { connection: "close" } })).text(),
    )
    return [...new Set(await Promise.all(all))]
  }
  const journals = () => {
    const plans = join(here.folder, "spool", "plans")
    const folder = join(plans, readdirSync(plans)[0] ?? "")
    return readdirSync(folder)
      .filter((name) => name.includes(".journal"))
      .map((name) => join(folder, name))
      .sort()
  }
  const rollBack = (...more: string[]) =>
    here.sallyport("rollback", "1", "--without-database", "--yes", ...more)

  test("rolls back all workers, and a restart trusts no journal whose tail was cut", async () => {
    here.write(text("one"))
    const serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
    expect(await here.sallyport("apply", "--yes", "--wait", "60s")).toMatchObject({ code: 0 })
    here.write(text("two"))
    expect(await here.sallyport("apply", "--yes", "--wait", "60s")).toMatchObject({ code: 0 })
    await workersOf(here, 2)
    await server.shutDown()
    expect(await rollBack()).toMatchObject({ code: 0 })
    await expect.poll(answers).toEqual(["one"])
    const [journal = ""] = journals()
    await expect.poll(() => readFileSync(journal, "utf8")).toContain("ended")
    expect(await serving.stop()).toBe(0)

    // The row of the rollback is cut from the journal.
    writeFileSync(journal, `${readFileSync(journal, "utf8").split("\n")[0]}\n`)
    const second = here.serve("--workers", "2")
    await second.printed(/was cut: it has 1 of 3 rows/)
    await expect.poll(() => answers().catch(() => [])).toEqual(["two"])
    // Neither the journal nor a canary is taken for granted without a word of the operator.
    const cut = await rollBack("--despite-canary")
    expect(cut.code).not.toBe(0)
    expect(cut.err).toContain("the journal was cut")
    for (const path of journals()) renameSync(path, `${path}.looked-at`)
    const unknown = await rollBack()
    expect(unknown.code).not.toBe(0)
    expect(unknown.err).toContain("--despite-canary")
    expect(await rollBack("--despite-canary")).toMatchObject({ code: 0 })
    await expect.poll(answers).toEqual(["one"])

    await server.restart()
    await expect
      .poll(async () => (await here.sallyport("history", "--json")).out.includes('"serial": 3'))
      .toBe(true)
    expect(await answers()).toEqual(["one"])
    expect(await second.stop()).toBe(0)
  })
})
