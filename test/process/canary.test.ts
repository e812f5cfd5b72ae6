import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import type { CanaryAnswer, StatusAnswer } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { folderWith, run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { author, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

describePostgres("a canary of one process", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  let cwd: string
  const text = (answer: string) => `
gateway test { listen 127.0.0.1:${ports.gateway}; trust none }
api hello { path "/hello"; auth none; GET "/" { respond ${answer} } }
`
  const write = (answer: string) => writeFileSync(join(cwd, "gateway.conf"), text(answer))
  const sallyport = (...words: string[]) =>
    run(
      {
        cwd,
        env: {
          SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
          SALLYPORT_CONTROL_TOKEN: token,
          SALLYPORT_WHO: "ann",
        },
      },
      ...words,
    )
  /** The statuses that 40 callers get. */
  const statuses = async () => {
    const found = []
    for (let at = 0; at < 40; at += 1) {
      const headers = { authorization: `Bearer caller-${at}` }
      found.push((await fetch(`http://127.0.0.1:${ports.gateway}/hello`, { headers })).status)
    }
    return new Set(found)
  }
  const newest = async () => (await control(ports, "GET", "/v1/canary")).body as unknown as CanaryAnswer

  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports, { graceMs: 100 })
  })
  beforeEach(() => {
    cwd = folderWith({ "gateway.conf": text("200") })
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
  })

  it("begins with `apply --canary`, is shown, and is cancelled", async () => {
    expect(await sallyport("apply", "--yes")).toMatchObject({ code: 0 })
    write("201")
    const begun = await sallyport(
      "apply",
      "--yes",
      "--canary",
      "40%",
      "--for",
      "1h",
      "--return-when",
      "latency off",
    )
    expect(begun).toMatchObject({
      code: 0,
      out: expect.stringContaining("\nA canary serves 40 % of the callers beside serial 1 until "),
    })
    expect(begun.out).toContain(
      "It returns at: errors +1%, denials +1%, after 50 requests of the new plan.\n",
    )
    expect(await statuses()).toEqual(new Set([200, 201]))
    await expect.poll(async () => (await sallyport("canary", "status")).out).toMatch(/^new {3,}[1-9]/m)
    const shown = (await sallyport("canary", "status")).out
    expect(shown).toMatch(/^A canary serves 40 % .* it began .* by ann\.$/m)
    expect(shown).toContain("Now: the new plan served ")
    expect((await sallyport("status")).out).toContain("A canary serves 40 % of the callers")
    expect((await sallyport("history")).out).toMatch(/serial 1 +ann +40 % +[0-9a-f]{12} +running/)
    expect(await sallyport("apply", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("a canary of ann runs over serial 1 since "),
    })
    const cancelled = await sallyport("canary", "cancel", "--yes", "--message", "no need")
    expect(cancelled).toMatchObject({ code: 0, out: expect.stringContaining("Serial 1 serves all callers.") })
    await expect.poll(statuses).toEqual(new Set([200]))
    expect((await sallyport("history")).out).toMatch(/ cancelled \S+ \S+ by ann: no need/)
    expect(await sallyport("canary", "promote", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no canary runs"),
    })
  })

  it("is promoted by hand, and by its time: `apply --wait` tells", async () => {
    write("202")
    expect(await sallyport("apply", "--yes", "--canary", "40%")).toMatchObject({ code: 0 })
    const promoted = await sallyport("canary", "promote", "--yes", "--wait", "1m")
    expect(promoted).toMatchObject({ code: 0, out: expect.stringContaining("\nApplied as serial 2.\n") })
    await expect.poll(statuses).toEqual(new Set([202]))
    write("203")
    const words = ["apply", "--yes", "--canary", "1", "--for", "1s", "--min-requests", "0", "--wait", "5m"]
    expect(await sallyport(...words)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/promoted as serial 3 .* by itself: new plan: 0 requests, /),
    })
    await expect.poll(statuses).toEqual(new Set([203]))
    expect((await sallyport("history")).out).toMatch(/^3 +\S+ \S+ +ann/m)
  })

  it("returns by itself when the new plan fails: `apply --wait` exits 3", async () => {
    write("503")
    const traffic = setInterval(() => void statuses(), 300)
    const words = ["apply", "--yes", "--canary", "40%", "--min-requests", "20", "--wait", "5m"]
    const returned = await sallyport(...words)
    clearInterval(traffic)
    expect(returned).toMatchObject({
      code: 3,
      out: expect.stringMatching(/was returned .* by itself: errors: 100 % of the new plan's requests, 0 % /),
    })
    await expect.poll(statuses).toEqual(new Set([203]))
    const status = (await control(ports, "GET", "/v1/status")).body as unknown as StatusAnswer
    expect([status.serial, status.canary]).toEqual([3, null])
  })

  it("is refused where both plans share what changes, and where this process cannot serve it", async () => {
    // The engine's stores are beside the point here: the plan that runs has none.
    const begin = (next: Plan, more = {}, base = 3) =>
      control(ports, "POST", "/v1/canary", { plan: next, base, author, percent: 30, seconds: 600, ...more })
    const refused = async (next: Plan) => {
      const { status, body } = await begin(next)
      return [status, body["detail"]]
    }
    expect(await refused(planOf({ ...ports, gateway: await freePort() }))).toEqual([
      422,
      expect.stringMatching(
        /^the plan changes `listen`, `authz`, a model: the callers of both plans share that/,
      ),
    ])
    const { plan: same } = (await control(ports, "GET", "/v1/plan")).body as unknown as { plan: Plan }
    expect(await refused(same)).toEqual([409, "serial 3 is running and is the same plan"])
    write(
      '200 }\n}\nsecret s = env(NOWHERE)\nsubscription s { api hello; key s }\napi b { path "/b"; auth none; GET "/" { respond 200',
    )
    expect(await sallyport("apply", "--yes", "--canary", "5%", "--allow", "opens")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Plan cannot be provisioned here[\s\S]*NOWHERE/),
    })
    write("204")
    expect(await sallyport("plan", "--out", "next.json")).toMatchObject({ code: 2 })
    const next = readFileSync(join(cwd, "next.json"), "utf8")
    const { plan } = JSON.parse(next) as { plan: Plan }
    expect((await begin(plan, {}, 7)).status).toBe(412)
    expect((await begin(plan, { percent: 100 })).status).toBe(400)
    expect((await begin(plan, { limits: { errorPoints: -1 } })).status).toBe(400)
    expect((await newest()).canary?.state).toBe("returned")
  })
})
