import { createServer } from "node:net"
import { afterEach, expect, test } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A plan that was applied elsewhere, and somebody who has the gateway's port. */
async function withTakenPort() {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = await freePorts()
  const elsewhere = await start(url, ports)
  await elsewhere.apply(planOf(ports), author)
  await elsewhere.close()
  const taker = createServer()
  await new Promise<void>((resolve) => taker.listen(ports.gateway, "127.0.0.1", resolve))
  const free = () => new Promise((resolve) => taker.close(resolve))
  stops.push(free)
  const runtime = await start(url, ports)
  stops.push(() => runtime.close())
  await expect.poll(async () => readiness(ports)).toContain("the port is in use")
  return { runtime, ports, free }
}

const readiness = async (ports: Ports) => JSON.stringify((await control(ports, "GET", "/readyz")).body)

describePostgres("a plan that this process could not serve", () => {
  test("is served as soon as what kept it from that is over, and was told once", async () => {
    const { runtime, ports, free } = await withTakenPort()
    // The first try again fails as well.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await free()
    await expect.poll(() => readiness(ports)).toBe('{"ready":true,"reasons":[]}')
    expect(await call(ports, "/hello")).toBe("hello")
    expect(
      runtime.lines.filter((line) => line.includes("the newest plan cannot be served here")),
    ).toHaveLength(1)
  })

  test("is not told of any more when a newer one was applied here", async () => {
    const { runtime, ports } = await withTakenPort()
    const others = await freePorts()
    const next = planOf({ ...ports, gateway: others.gateway }, "elsewhere")
    expect((await runtime.apply(next, author)).kind).toBe("done")
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect((await control(ports, "GET", "/v1/status")).body["processes"]).toMatchObject([
      { serial: 2, error: null },
    ])
    expect(await call({ ...ports, gateway: others.gateway }, "/hello")).toBe("elsewhere")
  })

  test("because another listener of the process has the port: it says so, and the way it names works", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    const applied = (next: Ports) => runtime.apply(planOf(next), author)
    await applied(ports)
    const exchanged = { ...ports, gateway: ports.authz, authz: ports.gateway }
    const { gateway: spare } = await freePorts()
    for (const next of [exchanged, { ...exchanged, authz: spare }, { ...ports, gateway: ports.control }]) {
      const reason = "another listener of this one (gateway, engine or control)"
      expect(JSON.stringify(await applied(next))).toContain(reason)
      expect(await call(ports, "/hello")).toBe("hello")
    }
    for (const next of [{ ...ports, authz: spare }, { ...exchanged, authz: spare }, exchanged])
      expect((await applied(next)).kind).toBe("done")
    expect(await call(exchanged, "/hello")).toBe("hello")
  })
})
