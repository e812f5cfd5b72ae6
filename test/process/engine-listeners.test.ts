import { Agent, get } from "node:http"
import { connect, createServer } from "node:net"
import { afterEach, expect, it } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { EngineAccess } from "../../runtime/process/engine-access.ts"
import { EngineListeners } from "../../runtime/process/engine-listeners.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { openTestDatabase } from "../store/databases.ts"
import { freePorts, planOfEngine } from "./project.ts"

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function make(environment: Record<string, string>): Promise<EngineListeners> {
  const database = await openTestDatabase()
  stops.push(() => database.close())
  const engine = new Engine(createTupleSource(database))
  stops.push(() => engine.close())
  const access = new EngineAccess({ createVerifier, environment, folder: ".", onReload: () => undefined })
  const listeners = new EngineListeners({ database, engine }, access, () => undefined)
  stops.push(() => listeners.close(0))
  return listeners
}

const ask = async (port: number, key?: string) => {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return (await fetch(`http://127.0.0.1:${port}/stores`, { headers })).status
}

it("what is opened for a plan serves only while it is the running one, by its own callers", async () => {
  const listeners = await make({ KEY: "the-key-of-somebody" })
  const before = await freePorts()
  const after = await freePorts()
  const open = await listeners.prepare(planOfEngine(before, "", "auth none"))
  expect(await ask(before.authz)).toBe(503)
  open.activate()
  expect(await ask(before.authz)).toBe(200)
  // The plan before lets everybody in: not on the address of the next one.
  const asking = await listeners.prepare(
    planOfEngine(after, "secret k = env(KEY)", "auth key k { manage stores }"),
  )
  expect([await ask(before.authz), await ask(after.authz)]).toEqual([200, 503])
  asking.activate()
  expect([await ask(after.authz), await ask(after.authz, "the-key-of-somebody")]).toEqual([401, 200])
  // Who still has a connection there is refused, once.
  const refusals = new Set<unknown>()
  await expect
    .poll(async () => {
      const asked = await ask(before.authz).catch(() => "no connection")
      refusals.add(asked)
      return asked
    })
    .toBe("no connection")
  expect(refusals.has(200)).toBe(false)
  const door = listeners.door()
  expect(door?.url).toBe(`http://127.0.0.1:${after.authz}`)
  expect(await ask(after.authz, door?.authorization.slice(7))).toBe(200)
})

it("an address that takes the place of the one before serves its connections all the time", async () => {
  const listeners = await make({})
  const ports = await freePorts()
  const at = (host: string) => {
    const plan = planOfEngine(ports, "", "auth none")
    const listen = [{ host, port: ports.authz }]
    return { ...plan, plan: { ...plan.plan, authz: { ...plan.plan.authz, listen } } } as typeof plan
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  stops.push(() => agent.destroy())
  const asked = (host: string, kept?: Agent) =>
    new Promise<unknown>((resolve) => {
      get({ host, port: ports.authz, path: "/stores", agent: kept ?? false }, (answer) =>
        answer.resume().on("end", () => resolve(answer.statusCode)),
      ).on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
    })
  const all = async () => [
    await asked("127.0.0.1"),
    await asked("127.0.0.1", agent),
    await asked("127.0.0.2"),
  ]
  const moves = [
    ["127.0.0.1", "0.0.0.0"],
    ["0.0.0.0", "::"],
    ["::", "127.0.0.1"],
  ] as const
  ;(await listeners.prepare(at("127.0.0.1"))).activate()
  const narrow = [200, 200, "ECONNREFUSED"]
  expect(await all()).toEqual(narrow)
  for (const [from, to] of moves) {
    const before = from === "127.0.0.1" ? narrow : [200, 200, 200]
    const discarded = await listeners.prepare(at(to))
    // The plan before let callers in at its own address alone.
    const meanwhile = to === "127.0.0.1" ? narrow : from === "127.0.0.1" ? [200, 200, 503] : [200, 200, 200]
    expect([from, to, await all()]).toEqual([from, to, meanwhile])
    await discarded.discard()
    expect([from, to, await all()]).toEqual([from, to, before])
    ;(await listeners.prepare(at(to))).activate()
    expect([from, to, await all()]).toEqual([from, to, to === "127.0.0.1" ? narrow : [200, 200, 200]])
  }
  const other = createServer().listen(ports.authz, "127.0.0.3")
  stops.push(() => other.close())
  await new Promise((resolve) => other.once("listening", resolve))
  await expect(listeners.prepare(at("0.0.0.0"))).rejects.toThrow("the port is in use")
  expect(await all()).toEqual(narrow)
})

it("connections of one address are limited and counted, also behind a PROXY header", async () => {
  const listeners = await make({})
  const ports = await freePorts()
  const plan = planOfEngine(ports, "", "auth none; limits { connections-per-address 1 }")
  const listen = plan.plan.authz?.listen.map((each) => ({ ...each, proxies: ["127.0.0.0/8"] }))
  const behind = { ...plan, plan: { ...plan.plan, authz: { ...plan.plan.authz, listen } } } as typeof plan
  ;(await listeners.prepare(behind)).activate()
  const opened = (header: string) => {
    const socket = connect(ports.authz, "127.0.0.1")
    stops.push(() => socket.destroy())
    socket.on("error", () => undefined)
    socket.write(`${header}GET /stores HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
    return new Promise<string>((resolve) => {
      socket.once("data", (bytes) => resolve(bytes.toString("latin1").slice(0, 12)))
      socket.once("close", () => resolve("closed"))
    })
  }
  const from = (address: string) => `PROXY TCP4 ${address} 203.0.113.1 8080 443\r\n`
  expect(await opened(from("192.0.2.7"))).toBe("HTTP/1.1 200")
  expect(await opened(from("192.0.2.7"))).toBe("closed")
  expect(await opened(from("192.0.2.8"))).toBe("HTTP/1.1 200")
  expect(await opened("")).toBe("closed")
  expect([...listeners.connectionsRefused]).toEqual([
    ["too-many", 1],
    ["proxy-header", 1],
  ])
})

it("a plan that is discarded leaves callers and addresses as they were", async () => {
  const listeners = await make({ KEY: "the-key-of-somebody", OTHER: "the-key-of-another" })
  const ports = await freePorts()
  const other = await freePorts()
  const plan = (name: string, at: typeof ports) =>
    planOfEngine(at, `secret k = env(${name})`, "auth key k { manage stores }")
  ;(await listeners.prepare(plan("KEY", ports))).activate()
  await (await listeners.prepare(plan("OTHER", other))).discard()
  expect(await ask(ports.authz, "the-key-of-somebody")).toBe(200)
  expect(await ask(ports.authz, "the-key-of-another")).toBe(401)
  await expect(ask(other.authz, "the-key-of-another")).rejects.toThrow()
  await expect(listeners.prepare(plan("NOT_SET", other))).rejects.toThrow("NOT_SET is not set")
  expect(await ask(ports.authz, "the-key-of-somebody")).toBe(200)
})
