import { Agent, get } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway, startUpstream } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function running(
  port?: number,
): Promise<Running & { planAt(port: number): ReturnType<typeof planOf> }> {
  const upstream = await startUpstream((_request, response) => response.end("done"))
  const draft = { backends: { main: upstream.url }, routes: [{ path: "/a" }] }
  const gateway = await startGateway(port === undefined ? draft : { ...draft, port })
  closers.push(
    () => gateway.close(),
    () => upstream.close(),
  )
  return { ...gateway, planAt: (other) => planOf({ ...draft, port: other }) }
}

/** A client that keeps its connections, at most `connections` of them. */
function client(connections: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  closers.push(() => agent.destroy())
  return agent
}

interface Told {
  /** Of the answer; undefined: there was none. */
  readonly connection?: string | undefined
  /** The code of the failure. */
  readonly failed?: string
  readonly reused: boolean
}

function ask(url: string, agent: Agent): Promise<Told> {
  return new Promise((resolve) => {
    const request = get(`${url}/a`, { agent }, (response) => {
      response.resume().on("end", () => {
        resolve({ connection: response.headers.connection, reused: request.reusedSocket })
      })
    })
    request.on("error", (error: NodeJS.ErrnoException) =>
      resolve({ failed: error.code ?? error.message, reused: request.reusedSocket }),
    )
  })
}

test("closing: a request on a kept connection is answered, and told that it was the last one there", async () => {
  const { gateway, url } = await running()
  const agent = client(1)
  expect(await ask(url, agent)).toEqual({ connection: "keep-alive", reused: false })
  const closed = gateway.close(5_000)
  await pause(50)
  expect(await ask(url, agent)).toEqual({ connection: "close", reused: true })
  await closed
  expect(await ask(url, agent)).toEqual({ failed: "ECONNREFUSED", reused: false })
})

test("closing under load fails no request on a kept connection", async () => {
  const { gateway, url } = await running()
  const agent = client(12)
  const told: Told[] = []
  const asking = Array.from({ length: 12 }, async () => {
    while (told.at(-1)?.failed !== "ECONNREFUSED") told.push(await ask(url, agent))
  })
  await until(() => told.length > 200)
  await gateway.close(5_000)
  await Promise.all(asking)
  expect(told.filter(({ reused }) => reused).length).toBeGreaterThan(100)
  expect(told.filter(({ failed, reused }) => failed !== undefined && reused)).toEqual([])
})

test("closing does not wait for clients that keep a connection and ask nothing", async () => {
  const { gateway, url } = await running()
  expect((await ask(url, client(1))).connection).toBe("keep-alive")
  const begin = performance.now()
  await gateway.close(60_000)
  const lastedMs = performance.now() - begin
  expect(lastedMs).toBeGreaterThan(900)
  expect(lastedMs).toBeLessThan(20_000)
})

test("an address that is left: requests on its connections are answered, and are the last", async () => {
  const { gateway, port, url, planAt } = await running(await freePort())
  const agent = client(1)
  await ask(url, agent)
  await gateway.apply(planAt(await freePort()))
  expect(await ask(url, agent)).toEqual({ connection: "close", reused: true })
  expect(await ask(url, agent)).toEqual({ failed: "ECONNREFUSED", reused: false })
  // It can be had again at once, though the old listener may still be ending.
  await gateway.apply(planAt(port))
  expect(await ask(url, agent)).toEqual({ connection: "keep-alive", reused: false })
})
