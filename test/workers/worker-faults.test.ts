import { connect } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { eventually, freePorts, type SallyportProcess } from "../e2e/sallyport-process.ts"
import { describePostgres } from "../postgres.ts"
import { isAlive } from "../support/is-alive.ts"
import { machine, workersOf } from "./machine.ts"

describePostgres("workers whose end or pause comes at a bad time", () => {
  const here = machine()
  const configured = (gatewayPort: number, answer: string) => `
gateway shop { listen 127.0.0.1:${gatewayPort}; trust none }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${answer}" } } }`

  async function serving(): Promise<{ parent: SallyportProcess; pids: readonly number[] }> {
    const parent = here.serve("--workers", "2")
    await parent.printed(/"started"/)
    here.write(configured(here.ports[0], "one"))
    await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")
    const pids = await workersOf(here, 2)
    onTestFinished(() => {
      for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL")
    })
    return { parent, pids }
  }

  test("a parent is killed while one worker is paused in an apply: all workers end, and free the ports", async () => {
    const { parent, pids } = await serving()
    const [paused] = pids as [number]
    const [port] = (await freePorts(1)) as [number]
    process.kill(paused, "SIGSTOP")
    // Reports do not wait for it.
    expect((await here.status()).traffic).toMatchObject({ requests: 0 })
    expect(await here.metric(`sallyport_workers{state="wanted"}`)).toBe(2)
    here.write(configured(port, "two"))
    const applied = here.sallyport("apply", "--yes", "--allow", "opens", "--no-wait")
    // The other worker has opened the new address: it has prepared the plan.
    await eventually(async () => ((await opens(port)) ? true : undefined))
    parent.child.kill("SIGKILL")
    process.kill(paused, "SIGCONT")
    // Its output is closed when the last worker has ended.
    await parent.exited
    expect((await applied).code).not.toBe(0)
    // Init collects them a little later.
    await eventually(async () => (pids.some(isAlive) ? undefined : true))
    for (const each of [here.ports[0], port]) expect(await opens(each)).toBe(false)
  })

  test("counters do not go back when a worker is killed while the page is read", async () => {
    const { parent, pids } = await serving()
    for (let call = 0; call < 20; call++)
      await here.gateway("/status", { headers: { connection: "close" } }).then((each) => each.text())
    const series = `sallyport_requests_total{api="status",version="",route="GET /status",status="2xx"}`
    expect(await here.metric(series)).toBe(20)
    const [paused] = pids as [number]
    process.kill(paused, "SIGSTOP")
    // This page waits for the paused worker, and its end comes before its reply.
    const page = here.metric(series)
    await here.status()
    process.kill(paused, "SIGKILL")
    expect(await page).toBe(20)
    expect(await here.metric(series)).toBe(20)
    expect(await parent.stop()).toBe(0)
  })
})

function opens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })
}
