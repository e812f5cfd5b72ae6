import { expect, test } from "vitest"
import type { CanaryAnswer } from "../../runtime/control/api.ts"
import { describePostgres } from "../postgres.ts"
import { machine, workersOf } from "./machine.ts"

const callers = Array.from({ length: 40 }, (_, at) => `caller-${at}`)

describePostgres("a canary of serve --workers 2", () => {
  const here = machine()
  const text = (answer: string) => `
gateway shop { listen 127.0.0.1:${here.ports[0]}; trust none }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${answer}" } } }
`
  /** Which plan serves each caller, on connections of their own, which the system gives to any worker. */
  const sides = () =>
    Promise.all(
      callers.map(async (caller) => {
        const headers = { authorization: `Bearer ${caller}`, connection: "close" }
        return (await here.gateway("/status", { headers })).text()
      }),
    )
  const status = async () =>
    JSON.parse((await here.sallyport("canary", "status", "--json")).out) as CanaryAnswer

  test("is served by all workers, by one that replaces another too, and becomes the plan of all", async () => {
    here.write(text("old"))
    const serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
    expect(await here.sallyport("apply", "--yes", "--wait", "60s")).toMatchObject({ code: 0 })
    here.write(text("new"))
    expect(await here.sallyport("apply", "--yes", "--canary", "50%", "--for", "1h")).toMatchObject({
      code: 0,
    })
    const first = await sides()
    expect(new Set(first)).toEqual(new Set(["old", "new"]))
    for (let round = 0; round < 3; round += 1) expect(await sides()).toEqual(first)
    await expect.poll(async () => (await status()).canary?.counts?.new.requests ?? 0).toBeGreaterThan(40)
    expect((await status()).processes.map(({ error }) => error)).toEqual([null, null])
    const [worker = 0] = await workersOf(here, 2)
    process.kill(worker, "SIGKILL")
    // The replacement reports as a third process.
    await expect.poll(async () => (await status()).processes.length).toBe(3)
    await expect.poll(sides).toEqual(first)
    expect(await here.metric('sallyport_canary_requests_total{plan="new",outcome="ok"}')).toBeGreaterThan(20)
    expect(await here.sallyport("canary", "promote", "--yes", "--wait", "60s")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Applied as serial 2."),
    })
    expect(new Set(await sides())).toEqual(new Set(["new"]))
    expect(await serving.stop()).toBe(0)
  })
})
