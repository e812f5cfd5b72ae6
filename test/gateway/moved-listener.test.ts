import { once } from "node:events"
import { Agent, get } from "node:http"
import { createServer, type Server } from "node:net"
import { Worker } from "node:worker_threads"
import { afterEach, describe, expect, test } from "vitest"
import { freePort } from "../support/free-port.ts"
import { reduced } from "../support/random-run.ts"
import { type Running, startGateway, startUpstream } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

// The addresses of a listener change on a running gateway, where the system does not let the next one be opened beside the one before.

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Plan = ReturnType<typeof planOf>

async function running(): Promise<Running & { planAt(hosts: readonly string[], port?: number): Plan }> {
  const upstream = await startUpstream((_request, response) => response.end("done"))
  closers.push(() => upstream.close())
  const draft = { backends: { main: upstream.url }, routes: [{ path: "/a" }] }
  const gateway = await startGateway(draft)
  closers.push(() => gateway.close())
  const planAt = (hosts: readonly string[], port = gateway.port) => {
    const plan = structuredClone(planOf({ ...draft, port }))
    const listen = hosts.map((host) => ({ host, port }))
    const { gateway: block } = plan.plan
    return {
      ...plan,
      digest: `${hosts}:${port}`,
      plan: { ...plan.plan, gateway: { ...block, listen } },
    } as Plan
  }
  return { ...gateway, planAt }
}

/** What became of a request: its status, or the code of the failure. */
function ask(url: string, agent?: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    get(`${url}/a`, { agent: agent ?? false }, (response) =>
      response.resume().on("end", () => resolve(response.statusCode ?? 0)),
    ).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

async function taken(port: number, host: string): Promise<Server> {
  const server = createServer().listen(port, host)
  await new Promise((resolve) => server.once("listening", resolve))
  closers.push(() => server.close())
  return server
}

const moves: readonly (readonly [from: readonly string[], to: readonly string[]])[] = [
  [["127.0.0.1"], ["0.0.0.0"]],
  [["127.0.0.1"], ["::"]],
  [["0.0.0.0"], ["::"]],
  [["::1"], ["::"]],
  [["127.0.0.1", "127.0.0.2"], ["0.0.0.0"]],
  [["127.0.0.1", "::1"], ["::"]],
  [["127.0.0.1"], ["127.0.0.2"]],
]

describe.each([...moves, ...moves.map(([from, to]) => [to, from] as const)])("from %j to %j", (from, to) => {
  const text = (hosts: readonly string[], port: number) =>
    hosts.map((host) => `${host.includes(":") ? `[${host}]` : host}:${port}`)

  test("the address is changed; kept connections are answered", async () => {
    const { gateway, port, planAt } = await running()
    await gateway.apply(planAt(from))
    expect(gateway.addresses()).toEqual(text(from, port))
    const v6 = from[0] === "::1" || (from[0] === "::" && to[0] === "::1")
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    closers.push(() => agent.destroy())
    const url = `http://${v6 ? "[::1]" : "127.0.0.1"}:${port}`
    const kept = to[0] === "127.0.0.2" || from[0] === "127.0.0.2" ? undefined : agent
    if (from[0] !== "127.0.0.2") expect(await ask(url, kept)).toBe(200)
    await gateway.apply(planAt(to))
    expect(gateway.addresses()).toEqual(text(to, port))
    if (to[0] === "127.0.0.2") expect(await ask(`http://127.0.0.2:${port}`)).toBe(200)
    else expect([await ask(url, kept), await ask(url)]).toEqual([200, 200])
    await gateway.apply(planAt(from))
    expect(gateway.addresses()).toEqual(text(from, port))
  })

  test("a plan that is discarded leaves the address as it was", async () => {
    const { gateway, port, planAt } = await running()
    await gateway.apply(planAt(from))
    const url = text([from[0] as string], port)[0]
    const prepared = await gateway.prepare(planAt(to))
    await prepared.discard()
    expect(gateway.addresses()).toEqual(text(from, port))
    expect(await ask(`http://${(url ?? "").replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")}`)).toBe(
      200,
    )
  })
})

test("before it is activated it serves the connections of the address before, and no others", async () => {
  const { gateway, port, planAt } = await running()
  const asked = async () => [await ask(`http://127.0.0.1:${port}`), await ask(`http://127.0.0.2:${port}`)]
  expect(await asked()).toEqual([200, "ECONNREFUSED"])
  const prepared = await gateway.prepare(planAt(["0.0.0.0"]))
  expect(await asked()).toEqual([200, 503])
  prepared.activate()
  expect(await asked()).toEqual([200, 200])
  // A new address beside it is opened before its plan is there, too.
  const other = await freePort()
  const beside = await gateway.prepare(planAt(["127.0.0.1"], other))
  expect(await ask(`http://127.0.0.1:${other}`)).toBe(503)
  await beside.discard()
})

test("where another process has a part of the address it is refused, and the one before serves on", async () => {
  const { gateway, port, planAt } = await running()
  await taken(port, "127.0.0.3")
  await expect(gateway.prepare(planAt(["0.0.0.0"]))).rejects.toThrow(`cannot listen on 0.0.0.0:${port}`)
  await expect(gateway.prepare(planAt(["0.0.0.0", "127.0.0.3"]))).rejects.toThrow("the port is in use")
  expect(gateway.addresses()).toEqual([`127.0.0.1:${port}`])
  expect(await ask(`http://127.0.0.1:${port}`)).toBe(200)
  // The first address is taken over, the second one cannot be had.
  await expect(gateway.prepare(planAt(["127.0.0.2", "127.0.0.3"]))).rejects.toThrow("127.0.0.3")
  expect([await ask(`http://127.0.0.1:${port}`), await ask(`http://127.0.0.2:${port}`)]).toEqual([
    200,
    "ECONNREFUSED",
  ])
})

/** Clients in a thread of their own, with connections that are kept and with new ones, until they are told to end; then what became of their requests. */
const clients = `
const { Agent, get } = require("node:http")
const { parentPort, workerData: { url, answers } } = require("node:worker_threads")
const counts = {}
let going = true
const ask = (agent) => new Promise((resolve) => {
  get(url, { agent: agent ?? false }, (response) => response.resume().on("end", () => resolve(response.statusCode)))
    .on("error", (error) => resolve(error.code))
})
const keep = async (agent) => {
  while (going) {
    const told = await ask(agent)
    counts[told] = (counts[told] ?? 0) + 1
    Atomics.add(answers, 0, 1)
  }
  agent?.destroy()
}
const all = Array.from({ length: 8 }, () => [keep(new Agent({ keepAlive: true, maxSockets: 1 })), keep()])
parentPort.once("message", async () => {
  going = false
  await Promise.all(all.flat())
  parentPort.postMessage(counts)
})
`

const turns = reduced(4, 40)

test(`while clients come and go the address changes ${turns} times: few new connections are lost`, async () => {
  const { gateway, port, planAt } = await running()
  const answers = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(clients, {
    eval: true,
    workerData: { url: `http://127.0.0.1:${port}/a`, answers },
  })
  closers.push(() => worker.terminate())
  for (let turn = 0; turn < turns; turn++) {
    const before = Atomics.load(answers, 0)
    await expect.poll(() => Atomics.load(answers, 0) - before, { interval: 5 }).toBeGreaterThan(30)
    await gateway.apply(planAt([turn % 2 === 0 ? "0.0.0.0" : "127.0.0.1"]))
  }
  worker.postMessage("end")
  const [counts] = (await once(worker, "message")) as [Record<string, number>]
  const { 200: answered = 0, ...lost } = counts
  expect(answered).toBeGreaterThan(15 * turns)
  // Those that the system took for the socket in the microseconds before it closed, or that came in those after. These clients come again at once.
  expect(Object.values(lost).reduce((sum, count) => sum + count, 0)).toBeLessThan(answered / 2)
})
