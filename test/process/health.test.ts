import { afterEach, expect, it } from "vitest"
import { startHealth } from "../../runtime/control/server.ts"
import { migrateDatabase } from "../../runtime/main.ts"
import type { ProcessRole } from "../../runtime/process/settings.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createDatabase, describePostgres } from "../postgres.ts"
import { breachesOf, promtool } from "../support/metrics-page.ts"
import { call, control, freePorts, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const sets: readonly (readonly ProcessRole[])[] = [["gateway"], ["authz"], ["gateway", "authz"], ["control"]]

it("a process that is starting says so, whether or not it will be ready", async () => {
  let isStarted = false
  const listen = { host: "127.0.0.1", port: 0 }
  const health = await startHealth(
    { listen, log: createLog({ level: "silent" }) },
    {
      started: () => isStarted,
      readiness: async () => ({ reasons: ["no plan"], warnings: [] }),
      metrics: async () => [],
    },
  )
  stops.push(() => health.close())
  const statuses = () =>
    Promise.all(
      ["/healthz", "/startupz", "/readyz"].map(async (path) => (await fetch(health.url + path)).status),
    )
  expect(await statuses()).toEqual([200, 503, 503])
  isStarted = true
  expect(await statuses()).toEqual([200, 200, 503])
})

describePostgres("a process", () => {
  it.each(sets.map((roles) => [roles]))("with the roles %j tells its health and metrics", async (roles) => {
    const { url, drop } = await createDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const listen = { host: "127.0.0.1", port: ports.control }
    const operates = roles.includes("control")
    const more = operates ? {} : { control: { listen } }
    const runtime = await start(url, ports, more, roles)
    stops.push(() => runtime.close())
    const ask = (path: string) => control(ports, "GET", path, undefined, "")

    expect(await ask("/healthz")).toMatchObject({ status: 200, body: { status: "ok" } })
    // The start is over, although it found no schema: an orchestrator that restarted the process would change nothing.
    expect(await ask("/startupz")).toMatchObject({ status: 200, body: { started: true } })
    expect(await ask("/readyz")).toMatchObject({
      status: 503,
      body: { reasons: [expect.stringContaining("sallyport migrate")] },
    })
    await migrateDatabase({ database: { url }, log: createLog({ level: "silent" }) })
    const operator = operates ? runtime : await start(url, await freePorts(), {}, ["control"])
    if (!operates) stops.push(() => operator.close())
    await operator.apply(planOf(ports), { who: "test", commit: null, message: null })
    await expect.poll(async () => (await ask("/readyz")).status).toBe(200)
    const { text } = (await ask("/metrics")).body as { readonly text: string }
    expect(text).toContain("process_")
    expect(breachesOf(text)).toEqual([])
    expect(promtool(["check", "metrics"], text)?.output ?? "").toBe("")
    expect((await ask("/healthz?x=1")).status).toBe(200)

    // What operators ask is not there: neither the answer of a process without a plan (404), nor one that a token would change.
    for (const path of ["/v1/plan", "/v1/status", "/authz/stores", "/nowhere", "/healthz/x"])
      expect(await ask(path), path).toMatchObject(
        operates ? { status: 401 } : { status: 503, body: { type: "urn:sallyport:control:no-control" } },
      )
    if (roles.includes("gateway")) expect(await call(ports, "/hello")).toBe("hello")
  })

  it("without the role control that finds its address taken says for what it wanted it", async () => {
    const { url, drop } = await createDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const first = await start(url, ports, {}, ["control"])
    stops.push(() => first.close())
    await expect(start(url, ports, {}, ["gateway"])).rejects.toMatchObject({
      name: "StartError",
      message: `cannot listen on 127.0.0.1:${ports.control} for health and metrics: the port is in use`,
      help: expect.stringContaining("SALLYPORT_CONTROL_LISTEN"),
    })
  })
})
