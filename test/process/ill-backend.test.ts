import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, expect, it } from "vitest"
import type { StatusAnswer } from "../../runtime/control/api.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function target() {
  const state = { status: 200, url: "" }
  const server = createServer((_, response) => response.writeHead(state.status).end("well"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  stops.push(() => new Promise((resolve) => server.close(resolve)))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

describePostgres("a backend", () => {
  it("none of whose targets may be asked makes the process degraded, and not less ready; one that is well is enough", async () => {
    const targets = [await target(), await target()] as const
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    const more = `
backend both {
  ${targets.map((each) => `target "${each.url}"`).join("\n  ")}
  breaker 1 failures in 1m open 1s { status 500 }
}
api both { path "/both"; auth none; backend both; GET "/" }`
    expect(await runtime.apply(planOf(ports, "hello", more), author)).toMatchObject({ kind: "done" })
    const seen = async () => {
      const { traffic, warnings } = (await control(ports, "GET", "/v1/status"))
        .body as unknown as StatusAnswer
      const page = (await control(ports, "GET", "/metrics")).body["text"] as string
      return {
        breakers: traffic?.backends["both"]?.map(({ breaker }) => breaker),
        responses: traffic?.durations["both"]?.reduce((sum, count) => sum + count, 0),
        warnings,
        isDegraded: page.includes('sallyport_state{state="degraded"} 1\n'),
      }
    }
    targets[0].status = 500
    // Targets stand in the plan in the order of their URLs.
    expect([await call(ports, "/both"), await call(ports, "/both")].sort()).toEqual(["500", "well"])
    const one = await seen()
    expect({ ...one, breakers: one.breakers?.toSorted() }).toEqual({
      ...{ breakers: ["closed", "open"], responses: 2, warnings: [], isDegraded: false },
    })
    targets[1].status = 500
    expect([await call(ports, "/both"), await call(ports, "/both")]).toEqual(["500", "503"])
    const warning = "no target of backend `both` is healthy (its requests get 503)"
    expect(await seen()).toEqual({
      ...{ breakers: ["open", "open"], responses: 3, warnings: [warning], isDegraded: true },
    })
    expect((await control(ports, "GET", "/readyz")).status).toBe(200)
    const question = { method: "GET", target: "/both", host: "gw" }
    const explained = await control(ports, "POST", "/v1/explain-request", question)
    expect(explained.body["verdict"]).toMatchObject({
      ...{ status: 503, problem: "backend-unavailable", by: { kind: "forward" } },
      cause: "no target of backend `both` is healthy",
    })
    for (const each of targets) each.status = 200
    await expect.poll(() => call(ports, "/both")).toBe("well")
    expect(await seen()).toMatchObject({ warnings: [], isDegraded: false })
  })

  it("that one process cannot call is in the status that another process shows", async () => {
    const ill = await target()
    ill.status = 500
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const gateway = await start(url, { ...ports, control: (await freePorts()).control }, {}, ["gateway"])
    stops.push(() => gateway.close())
    const operator = await start(url, ports, {}, ["authz", "control"])
    stops.push(() => operator.close())
    const more = `
backend ill { target "${ill.url}"; breaker 1 failures in 1m open 1h { status 500 } }
api ill { path "/ill"; auth none; backend ill; GET "/" }`
    expect(await operator.apply(planOf(ports, "hello", more), author)).toMatchObject({ kind: "done" })
    await expect.poll(() => call(ports, "/ill").catch(() => "")).toBe("500")
    expect(await call(ports, "/ill")).toBe("503")
    // A process reports at once when its plan changes; its breakers stay.
    expect(await operator.apply(planOf(ports, "hello again", more), author)).toMatchObject({ kind: "done" })
    const seen = async () => {
      const { processes } = (await control(ports, "GET", "/v1/status")).body as unknown as StatusAnswer
      return processes.map(({ roles, state, reasons }) => [roles.join(), state, reasons]).sort()
    }
    await expect.poll(seen).toEqual([
      ["authz,control", "active", []],
      ["gateway", "degraded", ["no target of backend `ill` is healthy (its requests get 503)"]],
    ])
  })
})
