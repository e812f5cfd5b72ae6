import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { DiscoveryNote, FoundTarget } from "../../runtime/discovery/discovery.ts"
import { serviceSource } from "../../runtime/discovery/dns-sources.ts"
import { HostNames } from "../../runtime/http/names/host-names.ts"
import { NameQuestions } from "../../runtime/http/names/name-questions.ts"
import type { Backend } from "../../runtime/plan/resources.ts"
import { type DnsServer, startDnsServer } from "../support/dns-server.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

const closers: (() => unknown)[] = []
let dns: DnsServer
const notes: DiscoveryNote[] = []

beforeEach(async () => {
  dns = await startDnsServer("options timeout:1 attempts:1")
  notes.length = 0
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await dns.stop()
})

/** Servers at these loopback addresses, on one port unless they have their own, that answer with their address and the Host they got. */
async function startServers(hosts: readonly string[], samePort = true): Promise<Map<string, Server>> {
  const servers = new Map<string, Server>()
  let port = 0
  for (const host of hosts) {
    const server = createServer((request, response) => {
      if (request.url === "/hold") response.write("begun")
      else response.end(`${host} ${request.headers.host}`)
    })
    await new Promise<void>((resolve) => server.listen(port, host, resolve))
    if (samePort) port = portOf(server)
    servers.set(host, server)
    closers.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
  }
  return servers
}

const portOf = (server: Server | undefined) => (server?.address() as AddressInfo | undefined)?.port ?? 0

const backendOf = (url: string, by: "dns" | "srv", more: Partial<Backend> = {}): Backend => ({
  ...{ connectMs: 2_000, totalMs: null, tls: { insecure: false } },
  targets: [{ url, weight: 1 }],
  discovery: { by },
  ...more,
})

const routes = [{ method: "*", path: "/{rest*}" }]

async function serve(backend: Backend): Promise<Running> {
  const running = await startGateway(
    { backends: { main: backend }, routes },
    {
      names: new HostNames(new NameQuestions(dns.paths, "linux")),
      onDiscovery: (note) => notes.push(note),
    },
  )
  closers.push(() => running.close())
  return running
}

async function ask({ url }: Running, path = "/x"): Promise<string> {
  const answer = await fetch(url + path)
  return `${answer.status} ${await answer.text()}`
}

async function askOften(running: Running, times: number): Promise<string[]> {
  const answers: string[] = []
  for (let each = 0; each < times; each += 1) answers.push(await ask(running))
  return answers.sort()
}

const origins = (running: Running) =>
  (running.gateway.state().backends["main"] ?? []).map(({ origin }) => origin).sort()

describe("targets by DNS", () => {
  test("each address is a target, with the name as Host", async () => {
    const servers = await startServers(["127.0.0.2", "127.0.0.3"])
    const port = portOf(servers.get("127.0.0.2"))
    dns.set("orders.test", { a: ["127.0.0.2", "127.0.0.3"] })
    const running = await serve(backendOf(`http://orders.test:${port}`, "dns"))
    // The plan has waited for the first answer.
    expect(await askOften(running, 4)).toEqual([
      `200 127.0.0.2 orders.test:${port}`,
      `200 127.0.0.2 orders.test:${port}`,
      `200 127.0.0.3 orders.test:${port}`,
      `200 127.0.0.3 orders.test:${port}`,
    ])
    expect(origins(running)).toEqual([`http://127.0.0.2:${port}`, `http://127.0.0.3:${port}`])
  })

  test("addresses come and go by their time to live; running requests end, and the others keep their state", async () => {
    const servers = await startServers(["127.0.0.2", "127.0.0.3"])
    const port = portOf(servers.get("127.0.0.2"))
    dns.set("orders.test", { a: ["127.0.0.2"] })
    const breaker = { calls: 1, windowMs: 60_000, openMs: 60_000, statuses: [500], ejectedMaxPercent: 100 }
    const running = await serve(backendOf(`http://orders.test:${port}`, "dns", { breaker }))
    const held = await fetch(`${running.url}/hold`)
    const reader = held.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("begun")
    dns.set("orders.test", { a: ["127.0.0.3"] })
    await expect.poll(() => origins(running)).toEqual([`http://127.0.0.3:${port}`])
    expect(await ask(running)).toBe(`200 127.0.0.3 orders.test:${port}`)
    const kept = running.gateway.state().backends["main"]
    dns.set("orders.test", { a: ["127.0.0.2", "127.0.0.3"] })
    await expect.poll(() => origins(running)).toHaveLength(2)
    expect(running.gateway.state().backends["main"]).toContainEqual(kept?.[0])
    expect(notes).toContainEqual({
      kind: "changed",
      source: `orders.test:${port}`,
      added: [`127.0.0.3:${port}`],
      removed: [`127.0.0.2:${port}`],
    })
    // The request to the target that was gone for a while still runs.
    let ended = false
    void reader?.read().then(() => {
      ended = true
    })
    await ask(running)
    expect(ended).toBe(false)
    await reader?.cancel()
  })

  test("empty and failed answers keep the last targets, and are told", async () => {
    const servers = await startServers(["127.0.0.2"])
    const port = portOf(servers.get("127.0.0.2"))
    dns.set("orders.test", { a: ["127.0.0.2"] })
    const running = await serve(backendOf(`http://orders.test:${port}`, "dns"))
    dns.set("orders.test", { code: "SERVFAIL" })
    const source = `orders.test:${port}`
    await expect
      .poll(() => running.gateway.state().discoveries["main"])
      .toMatchObject({ targets: 1, failure: expect.stringMatching(/the name server fails/) })
    dns.set("orders.test", undefined)
    await expect
      .poll(() => running.gateway.state().discoveries["main"]?.failure)
      .toBe("the name `orders.test` is unknown or has no address")
    expect(await ask(running)).toBe(`200 127.0.0.2 orders.test:${port}`)
    dns.set("orders.test", { a: ["127.0.0.2"] })
    await expect.poll(() => notes.at(-1)).toEqual({ kind: "recovered", source })
    expect(notes.filter(({ kind }) => kind === "failed")).toHaveLength(2)
  })

  test("a backend whose targets were never found answers 503 and says why", async () => {
    const running = await serve(backendOf("http://orders.test", "dns"))
    expect(await ask(running)).toMatch(/^503 .*backend-unavailable/)
    const [finished] = running.log
    expect(finished?.cause).toBe(
      "no target of backend `main` is known: the name `orders.test` is unknown or has no address",
    )
    expect(running.gateway.state().backendsAway).toHaveProperty("main", finished?.cause)
    const servers = await startServers(["127.0.0.2"])
    const port = portOf(servers.get("127.0.0.2"))
    const plan = planOf({
      backends: { main: backendOf(`http://orders.test:${port}`, "dns") },
      routes,
      port: running.port,
    })
    dns.set("orders.test", { a: ["127.0.0.2"] })
    await running.gateway.apply(plan)
    expect(await ask(running)).toBe(`200 127.0.0.2 orders.test:${port}`)
  })

  test("a new plan keeps what was found", async () => {
    const servers = await startServers(["127.0.0.2"])
    const port = portOf(servers.get("127.0.0.2"))
    dns.set("orders.test", { a: ["127.0.0.2"], ttl: 3600 })
    const url = `http://orders.test:${port}`
    const running = await serve(backendOf(url, "dns"))
    dns.set("orders.test", undefined)
    const backends = { main: backendOf(url, "dns", { totalMs: 5_000 }) }
    await running.gateway.apply(planOf({ backends, routes, port: running.port }))
    expect(await ask(running)).toBe(`200 127.0.0.2 orders.test:${port}`)
    expect(dns.asked).toHaveLength(2)
  })

  test("health checks follow the targets", async () => {
    const servers = await startServers(["127.0.0.2"])
    const port = portOf(servers.get("127.0.0.2"))
    dns.set("orders.test", { a: ["127.0.0.2"] })
    const running = await serve(
      backendOf(`http://orders.test:${port}`, "dns", {
        health: {
          ...{ method: "GET", path: "/healthz", everyMs: 100, timeoutMs: 2_000, statuses: [200] },
          ...{ downAfter: 1, upAfter: 1 },
        },
      }),
    )
    // Nothing listens at the second address.
    dns.set("orders.test", { a: ["127.0.0.2", "127.0.0.9"] })
    await expect
      .poll(() =>
        running.gateway
          .state()
          .backends["main"]?.map(({ health }) => health)
          .sort(),
      )
      .toEqual(["down", "up"])
    expect(await askOften(running, 4)).toEqual(Array(4).fill(`200 127.0.0.2 orders.test:${port}`))
  })
})

describe("targets by SRV", () => {
  test("records have ports and weights, and the domain is the Host", async () => {
    const servers = await startServers(["127.0.0.2", "127.0.0.3"], false)
    const [one, two] = [...servers.values()].map(portOf)
    dns.set("_http._tcp.orders.test", {
      srv: [
        { priority: 1, weight: 3, port: one ?? 0, name: "one.test" },
        { priority: 1, weight: 1, port: two ?? 0, name: "two.test" },
      ],
    })
    dns.set("one.test", { a: ["127.0.0.2"] })
    dns.set("two.test", { a: ["127.0.0.3"] })
    const running = await serve(backendOf("http://_http._tcp.orders.test/", "srv"))
    expect(await askOften(running, 4)).toEqual([
      ...Array(3).fill("200 127.0.0.2 orders.test"),
      "200 127.0.0.3 orders.test",
    ])
  })

  test("a new service is found before the addresses of the others expire, and these are asked once", async () => {
    const record = (port: number, name: string) => ({ priority: 1, weight: 1, port, name })
    dns.set("_http._tcp.orders.test", { srv: [record(1, "one.test")] })
    dns.set("one.test", { a: ["127.0.0.2"], ttl: 300 })
    dns.set("two.test", { a: ["127.0.0.3"], ttl: 1 })
    const questions = new NameQuestions(dns.paths, "linux")
    const seen: string[] = []
    const ending = new AbortController()
    closers.push(async () => ending.abort())
    const source = serviceSource(
      { name: "_http._tcp.orders.test" },
      {
        addresses: (name) => questions.addresses(name),
        // Ten seconds, but for a test.
        services: async (name) => ({ ...(await questions.services(name)), ttlMs: 0 }),
      },
    )
    const report = {
      found: (targets: readonly FoundTarget[]) => seen.push(targets.map(({ host }) => host).join()),
      failed: (why: string) => seen.push(why),
    }
    void source(report, ending.signal)
    await until(() => seen.at(-1) === "127.0.0.2")
    dns.set("_http._tcp.orders.test", { srv: [record(1, "one.test"), record(2, "two.test")] })
    await until(() => seen.at(-1) === "127.0.0.2,127.0.0.3")
    // A name server that fails takes no target away whose address was known.
    dns.set("two.test", { code: "SERVFAIL" })
    const asked = dns.asked.filter((question) => question === "A two.test").length
    await until(() => dns.asked.filter((question) => question === "A two.test").length > asked + 1)
    expect(seen.at(-1)).toBe("127.0.0.2,127.0.0.3")
    dns.set("two.test", undefined)
    await until(() => seen.at(-1) === "127.0.0.2")
    expect(dns.asked.filter((question) => question === "A one.test")).toHaveLength(1)
  })

  test("a lower priority is used when no other target is available", async () => {
    const servers = await startServers(["127.0.0.2", "127.0.0.3"], false)
    const [one, two] = [...servers.values()].map(portOf)
    dns.set("_http._tcp.orders.test", {
      srv: [
        { priority: 1, weight: 0, port: one ?? 0, name: "one.test" },
        { priority: 2, weight: 0, port: two ?? 0, name: "two.test" },
      ],
    })
    dns.set("one.test", { a: ["127.0.0.2"] })
    dns.set("two.test", { a: ["127.0.0.3"] })
    const running = await serve(backendOf("http://_http._tcp.orders.test", "srv"))
    expect(await askOften(running, 3)).toEqual(Array(3).fill("200 127.0.0.2 orders.test"))
    // A target that refuses connections is passed over.
    servers.get("127.0.0.2")?.closeAllConnections()
    await new Promise((resolve) => servers.get("127.0.0.2")?.close(resolve))
    expect(await askOften(running, 3)).toEqual(Array(3).fill("200 127.0.0.3 orders.test"))
  })

  test("a service that says it is not available, and a wrong host", async () => {
    dns.set("_http._tcp.orders.test", { srv: [{ priority: 0, weight: 0, port: 0, name: "" }] })
    const running = await serve(backendOf("http://_http._tcp.orders.test", "srv"))
    expect(running.gateway.state().discoveries["main"]).toMatchObject({
      targets: undefined,
      failure: "`_http._tcp.orders.test` has no address",
    })
    const wrong = { main: backendOf("http://orders.test", "srv") }
    await expect(
      running.gateway.apply(planOf({ backends: wrong, routes, port: running.port })),
    ).rejects.toThrow("`targets srv` needs a host like `_http._tcp.orders.internal`")
    const address = { main: backendOf("http://127.0.0.1", "dns") }
    await expect(
      running.gateway.apply(planOf({ backends: address, routes, port: running.port })),
    ).rejects.toThrow("`targets dns` needs a name")
  })
})
