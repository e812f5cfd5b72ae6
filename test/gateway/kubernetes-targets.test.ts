import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Discoveries } from "../../runtime/discovery/discoveries.ts"
import type { Discovery } from "../../runtime/discovery/discovery.ts"
import { addressOf, type DiscoveryNote } from "../../runtime/discovery/discovery.ts"
import { hostNames } from "../../runtime/http/names/host-names.ts"
import { Authority } from "../support/certificates.ts"
import { type KubernetesApi, startKubernetesApi } from "../support/kubernetes-api.ts"
import { startGateway } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

const closers: (() => unknown)[] = []
const notes: DiscoveryNote[] = []
let api: KubernetesApi

beforeEach(async () => {
  api = await startKubernetesApi()
  notes.length = 0
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await api.stop()
})

const http = [{ name: "http", port: 8080 }]

function follow(port: string | number | undefined = "http"): Discovery {
  const discoveries = new Discoveries(hostNames, (note) => notes.push(note))
  closers.push(() => discoveries.close())
  const { tokenFile, caFile, url } = api
  return discoveries.take({
    ...{ by: "kubernetes", namespace: "shop", service: "orders", port },
    ...{ server: url, tokenFile, caFile },
  }).discovery
}

const found = (discovery: Discovery) => discovery.targets?.map(addressOf).sort()
const watched = () => expect.poll(() => api.watches()).toBe(1)
const endpoints = (...addresses: string[]) => addresses.map((address) => ({ address }))

describe("following a service", () => {
  test("the list and all later changes of its slices are the targets", async () => {
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.1", "10.0.0.2") })
    api.put("orders-b", { ports: [{ name: "http", port: 9090 }], endpoints: endpoints("10.0.0.3") })
    api.put("other", { service: "other", ports: http, endpoints: endpoints("10.9.9.9") })
    const discovery = follow()
    await discovery.reported
    expect(found(discovery)).toEqual(["10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:9090"])
    await watched()
    // Two pages of the list, and a watch from its version.
    expect(api.requests.map((url) => new URLSearchParams(url).get("continue"))).toEqual([null, "1", null])
    expect(api.requests[2]).toContain("watch=1&allowWatchBookmarks=true&resourceVersion=1003")
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.2", "10.0.0.4") })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.2:8080", "10.0.0.3:9090", "10.0.0.4:8080"])
    api.remove("orders-b")
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.2:8080", "10.0.0.4:8080"])
    api.put("orders-c", { ports: http, endpoints: endpoints("10.0.0.2") })
    api.put("orders-a", { ports: http, endpoints: [] })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.2:8080"])
    api.remove("orders-c")
    await expect.poll(() => found(discovery)).toEqual([])
    expect(discovery.state()).toMatchObject({ source: "shop/orders:http", targets: 0, failure: undefined })
  })

  test("only ready endpoints are targets, or those that serve while all terminate", async () => {
    api.put("orders-a", {
      ports: http,
      endpoints: [
        { address: "10.0.0.1" },
        { address: "10.0.0.2", ready: false },
        { address: "10.0.0.3", ready: false, serving: true, terminating: true },
      ],
    })
    const discovery = follow()
    await discovery.reported
    expect(found(discovery)).toEqual(["10.0.0.1:8080"])
    await watched()
    api.put("orders-a", {
      ports: http,
      endpoints: [
        { address: "10.0.0.2", ready: false },
        { address: "10.0.0.3", ready: false, serving: true, terminating: true },
        { address: "10.0.0.4", ready: false, serving: false, terminating: true },
      ],
    })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.3:8080"])
  })

  test("ports by name, by number, the only one, and unknown ones", async () => {
    const ports = [...http, { name: "metrics", port: 9100 }]
    api.put("orders-a", { ports, endpoints: endpoints("10.0.0.1") })
    const byNumber = follow(9100)
    await byNumber.reported
    expect(found(byNumber)).toEqual(["10.0.0.1:9100"])
    const unknown = follow("grpc")
    await unknown.reported
    expect(unknown.state().failure).toBe(
      "service shop/orders: it has no port grpc; its ports are http (8080), metrics (9100)",
    )
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.1") })
    const only = follow(undefined)
    await only.reported
    expect(found(only)).toEqual(["10.0.0.1:8080"])
  })

  test("with both families, a pod is one target", async () => {
    api.put("orders-6", { addressType: "IPv6", ports: http, endpoints: endpoints("fd00::1") })
    const discovery = follow()
    await discovery.reported
    expect(found(discovery)).toEqual(["[fd00::1]:8080"])
    await watched()
    api.put("orders-4", { ports: http, endpoints: endpoints("10.0.0.1") })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.1:8080"])
  })
})

describe("a failing API server", () => {
  test("a cut watch continues from the version of its last event, also a bookmark", async () => {
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.1") })
    const discovery = follow()
    await watched()
    api.bookmark()
    // The bookmark has arrived when a later event has.
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.2") })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.2:8080"])
    api.bookmark()
    const before = api.requests.length
    api.cut()
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.3") })
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.3:8080"])
    expect(api.requests.slice(before).every((url) => url.includes("watch=1"))).toBe(true)
  })

  test.each(["event", "status"] as const)("410 as %s leads to a new list", async (as) => {
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.1") })
    api.put("orders-b", { ports: http, endpoints: endpoints("10.0.0.2") })
    const discovery = follow()
    await watched()
    api.refuse(500)
    api.cut()
    await expect.poll(() => discovery.state().failure).toMatch(/status 500: etcdserver: request timed out$/)
    expect(found(discovery)).toEqual(["10.0.0.1:8080", "10.0.0.2:8080"])
    api.remove("orders-b")
    api.expire(as)
    api.refuse(undefined)
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.1:8080"])
    expect(discovery.state().failure).toBeUndefined()
    expect(notes.at(-1)?.kind).toMatch(/^(changed|recovered)$/)
  })

  test("401 and 403 say what to do, and a renewed token is read", async () => {
    api.put("orders-a", { ports: http, endpoints: endpoints("10.0.0.1") })
    api.refuse(403)
    const discovery = follow()
    await discovery.reported
    expect(discovery.state().failure).toMatch(
      /forbids it \(403\): endpointslices\.discovery\.k8s\.io is forbidden: User .*; allow the service account to list and watch `endpointslices`/,
    )
    expect(discovery.targets).toBeUndefined()
    api.refuse(undefined)
    await expect.poll(() => found(discovery)).toEqual(["10.0.0.1:8080"])
    await watched()
    api.renewToken("token-2", false)
    api.cut()
    await expect
      .poll(() => discovery.state().failure)
      .toMatch(/does not accept the token \(401\): Unauthorized; check that .*token holds a valid token/)
    api.renewToken("token-2", true)
    await expect.poll(() => discovery.state().failure).toBeUndefined()
  })

  test("an authority that did not sign, and files that are missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-authority-"))
    closers.push(() => rmSync(folder, { recursive: true }))
    const caFile = join(folder, "other.pem")
    writeFileSync(caFile, new Authority(folder).pem)
    const discoveries = new Discoveries(hostNames)
    closers.push(() => discoveries.close())
    const settings = {
      by: "kubernetes" as const,
      ...{ namespace: "shop", service: "orders", port: "http" },
      ...{ server: api.url, tokenFile: api.tokenFile },
    }
    const { discovery } = discoveries.take({ ...settings, caFile })
    await discovery.reported
    expect(discovery.state().failure).toMatch(/^the API server https:\/\/localhost:\d+ cannot be reached: /)
    const without = discoveries.take({ ...settings, caFile: join(api.caFile, "none") }).discovery
    await without.reported
    expect(without.state().failure).toMatch(
      /^the file with the authorities of the API server, .* cannot be read/,
    )
  })
})

test("a gateway forwards to the endpoints of a service, and says why there are none", async () => {
  const server = createServer((request, response) => response.end(request.headers.host))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const backends = {
    main: {
      ...{ connectMs: 2_000, totalMs: null, tls: { insecure: false } },
      targets: [{ url: "http://orders.shop.svc", weight: 1 }],
      discovery: {
        ...({ by: "kubernetes", namespace: "shop", service: "orders", port: "http" } as const),
        ...{ server: api.url, token: { file: api.tokenFile }, ca: { file: api.caFile } },
      },
    },
  }
  const routes = [{ method: "*", path: "/{rest*}" }]
  const running = await startGateway({ backends, routes })
  closers.push(() => running.close())
  expect((await fetch(running.url)).status).toBe(503)
  expect(running.log[0]?.cause).toBe(
    "no target of backend `main` is known: `shop/orders:http` has no ready target",
  )
  api.put("orders-a", { ports: [{ name: "http", port }], endpoints: endpoints("127.0.0.1") })
  await expect.poll(async () => (await fetch(running.url)).status).toBe(200)
  expect(await (await fetch(running.url)).text()).toBe("orders.shop.svc")
  // The API server is away, and known targets serve on, also after a new plan.
  api.refuse(500)
  api.cut()
  await expect.poll(() => running.gateway.state().discoveries["main"]?.failure).toContain("status 500")
  const changed = { main: { ...backends.main, totalMs: 9_000 } }
  await running.gateway.apply(planOf({ backends: changed, routes, port: running.port }))
  expect((await fetch(running.url)).status).toBe(200)

  // Outside of a cluster it has to be told which one.
  const { server: _, ...inCluster } = backends.main.discovery
  const outside = { main: { ...backends.main, discovery: inCluster } }
  await expect(
    running.gateway.apply(planOf({ backends: outside, routes, port: running.port })),
  ).rejects.toThrow("KUBERNETES_SERVICE_HOST is not set")
  const plain = {
    main: { ...backends.main, discovery: { ...backends.main.discovery, server: "http://localhost:1" } },
  }
  await expect(
    running.gateway.apply(planOf({ backends: plain, routes, port: running.port })),
  ).rejects.toThrow("the token must not be sent to `http://localhost:1`")
})
