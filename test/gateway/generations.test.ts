import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { Agent, get as httpGet } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import { freePort } from "../support/free-port.ts"
import { reduced } from "../support/random-run.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway, startRawUpstream, startUpstream, type Upstream } from "./harness.ts"
import { type PlanDraft, planOf, type RouteDraft, type StepDraft } from "./plan-builder.ts"

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function upstreamOf(...answer: Parameters<typeof startUpstream>): Promise<Upstream> {
  const upstream = await startUpstream(...answer)
  closers.push(() => upstream.close())
  return upstream
}

async function gatewayOf(...args: Parameters<typeof startGateway>): Promise<Running> {
  const running = await startGateway(...args)
  closers.push(() => running.close())
  return running
}

const mark = (message: "request" | "response", value: string): StepDraft => ({
  kind: "set-header",
  message,
  action: "set",
  name: "x-plan",
  values: [value],
})

test("applying plans under load fails no request, mixes nothing and keeps the connections to the backend", async () => {
  const backendSockets = new Set<unknown>()
  const upstream = await upstreamOf((request, response, seen) => {
    backendSockets.add(request.socket)
    const body = String(seen.headers["x-plan"])
    setTimeout(() => response.end(body), Math.random() * 4)
  })
  const draftOf = (name: string, port: number): PlanDraft => ({
    port,
    backends: { main: upstream.url },
    routes: [{ path: "/{rest*}", inbound: [mark("request", name)], outbound: [mark("response", name)] }],
  })
  const running = await gatewayOf(draftOf("a", await freePort()))
  const agent = new Agent({ keepAlive: true, maxSockets: 12 })
  let stop = false
  const outcomes = new Map<string, number>()
  const client = async (keepAlive: boolean) => {
    while (!stop) {
      const outcome = await ask(`${running.url}/x`, keepAlive ? agent : undefined)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  const answers = () => [...outcomes.values()].reduce((sum, count) => sum + count, 0)
  const clients = [
    ...Array.from({ length: 12 }, () => client(true)),
    ...Array.from({ length: 4 }, () => client(false)),
  ]
  for (let round = 0; round < reduced(12, 30); round += 1) {
    await running.gateway.apply(planOf(draftOf(round % 2 === 0 ? "b" : "a", running.port)))
    const before = answers()
    await until(() => answers() > before + 20)
  }
  stop = true
  await Promise.all(clients)
  agent.destroy()
  expect([...outcomes.keys()].toSorted()).toEqual(["a a", "b b"])
  expect(Math.min(...outcomes.values())).toBeGreaterThan(20)
  expect(backendSockets.size).toBeLessThanOrEqual(24)
  expect(running.gateway.state()).toMatchObject({ generations: 1, running: 0 })
})

/** `header body` of the answer, or the error's code. */
function ask(url: string, agent: Agent | undefined): Promise<string> {
  return new Promise((resolve) => {
    const request = httpGet(url, { agent: agent ?? false }, (response) => {
      let body = ""
      response.on("data", (chunk) => {
        body += chunk
      })
      response.on("end", () => resolve(`${response.headers["x-plan"]} ${body}`))
      response.on("error", (error) => resolve(String(error)))
    })
    request.on("error", (error) => resolve(String(error)))
  })
}

test("counters go on counting, equal steps are carried over, the same plan is not a change", async () => {
  const upstream = await upstreamOf()
  const limit: StepDraft = {
    kind: "rate-limit",
    counter: "c",
    callsMax: 3,
    periodSeconds: 60,
    keys: [{ by: "ip" }],
  }
  const draft = (extra: RouteDraft[]): Omit<PlanDraft, "port"> => ({
    backends: { main: upstream.url },
    values: { edge: { from: { env: "EDGE", default: "one" } } },
    routes: [
      {
        path: "/a",
        inbound: [
          limit,
          mark("request", "x"),
          {
            kind: "set-header",
            message: "request",
            action: "set",
            name: "x-edge",
            values: [{ text: [{ value: "edge" }] }],
          },
        ],
      },
      ...extra,
    ],
  })
  const environment: Record<string, string> = {}
  const running = await gatewayOf(draft([]), { environment })
  const status = async () => (await fetch(`${running.url}/a`)).status
  expect([await status(), await status()]).toEqual([200, 200])
  const second = await running.gateway.apply(planOf({ ...draft([{ path: "/b" }]), port: running.port }))
  expect(second).toMatchObject({ changed: true, steps: { total: 4, reused: 4 } })
  expect([await status(), await status()]).toEqual([200, 429])
  const same = await running.gateway.apply(planOf({ ...draft([{ path: "/b" }]), port: running.port }))
  expect(same.changed).toBe(false)
  environment["EDGE"] = "two"
  const third = await running.gateway.apply(planOf({ ...draft([{ path: "/c" }]), port: running.port }))
  expect(third.steps).toEqual({ total: 4, reused: 3 })
})

test("a request that began under a plan ends under it", async () => {
  const waiting: (() => void)[] = []
  const upstream = await upstreamOf((_request, response) => {
    waiting.push(() => response.end("done"))
  })
  const other = await upstreamOf()
  const route = (name: string): RouteDraft[] => [{ path: "/a", outbound: [mark("response", name)] }]
  const running = await gatewayOf({ backends: { main: upstream.url }, routes: route("old") })
  const early = fetch(`${running.url}/a`)
  await until(() => waiting.length === 1)
  await running.gateway.apply(
    planOf({ port: running.port, backends: { main: other.url }, routes: route("new") }),
  )
  expect((await fetch(`${running.url}/a`)).headers.get("x-plan")).toBe("new")
  expect(running.gateway.state().generations).toBe(2)
  waiting[0]?.()
  const answer = await early
  expect([answer.headers.get("x-plan"), await answer.text()]).toEqual(["old", "done"])
  await until(() => running.gateway.state().generations === 1)
})

const route: RouteDraft[] = [{ path: "/a" }]

/** Plans that can't be served, and what the error says. */
const unservable: [string, Omit<PlanDraft, "port">, string[]][] = [
  [
    "unset variables are named at once",
    {
      routes: route,
      backends: { main: "http://127.0.0.1:1" },
      values: { one: { from: { env: "ONE" } }, two: { from: { env: "TWO", default: "" } } },
      secrets: { three: { env: "THREE" }, four: { file: "no/such/file" } },
      origins: { "secrets.three": "gateway.conf:3", "values.one": "gateway.conf:1" },
    },
    [
      "gateway.conf:3: the environment variable THREE is not set; set it for this process",
      "the file `no/such/file` cannot be read: there is no such file; create it or correct the path, which is relative to the working directory of the process",
      "gateway.conf:1: the environment variable ONE is not set; set it for this process",
    ],
  ],
  [
    "a URL that is none",
    { routes: route, backends: { main: "orders" }, origins: { "backends.main": "gateway.conf:7" } },
    ["gateway.conf:7: backend `main`: `orders` is not a URL"],
  ],
  [
    "a URL of another scheme",
    { routes: route, backends: { main: "ftp://x" } },
    ["is neither http nor https"],
  ],
  [
    "a URL with credentials",
    { routes: route, backends: { main: "http://u:p@x" } },
    ["must not contain credentials"],
  ],
  [
    "a trust that is no CIDR",
    { routes: route, backends: { main: "http://127.0.0.1:1" }, trust: ["ten"] },
    ["`ten` is not an IP address or CIDR range"],
  ],
  [
    "two keys alike",
    {
      routes: route,
      backends: { main: "http://127.0.0.1:1" },
      secrets: { a: { env: "A", default: "x" } },
      subscriptions: { s: { scope: { api: "main" }, key: "a" }, t: { scope: { api: "main" }, key: "a" } },
    },
    ["have the same key"],
  ],
  [
    "an empty secret",
    { routes: route, backends: { main: "http://127.0.0.1:1" }, secrets: { a: { env: "A", default: "" } } },
    ["the secret `a` is empty; set it in environment variable A"],
  ],
  [
    "a route without a canonical form",
    {
      routes: [{ path: "/a//b" }],
      backends: { main: "http://127.0.0.1:1" },
      origins: { "routes.GET /a//b": "gateway.conf:9" },
    },
    ["gateway.conf:9: GET /a//b: the route's path `/a//b` has no canonical form"],
  ],
  [
    "a header value with a line break",
    {
      routes: [{ path: "/a", inbound: [mark("request", "a\nb")] }],
      backends: { main: "http://127.0.0.1:1" },
    },
    ["has a line break"],
  ],
  [
    "a certificate that is none",
    {
      routes: route,
      backends: {
        main: {
          targets: [{ url: "https://127.0.0.1:1", weight: 1 }],
          connectMs: 1,
          totalMs: null,
          tls: { insecure: false, ca: { file: "package.json" } },
        },
      },
    },
    ["`package.json` cannot be used: it contains no PEM certificate; one starts with `-----BEGIN"],
  ],
  [
    "an expression that is none",
    {
      routes: [{ path: "/a", inbound: [{ kind: "when", test: "1 +", matched: [] }] }],
      backends: { main: "http://127.0.0.1:1" },
    },
    ["GET /a: "],
  ],
]

test.each(unservable)("%s: refused, and the old plan serves on", async (_name, draft, texts) => {
  const upstream = await upstreamOf()
  const running = await gatewayOf({ backends: { main: upstream.url }, routes: route })
  const before = running.gateway.state()
  const error = await running.gateway
    .apply(planOf({ ...draft, port: running.port }))
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(LoadError)
  for (const text of texts) expect((error as LoadError).message).toContain(text)
  expect(running.gateway.state()).toEqual(before)
  expect((await fetch(`${running.url}/a`)).status).toBe(200)
})

test("a port in use: refused with place and remedy, nothing is left open", async () => {
  const upstream = await upstreamOf()
  const running = await gatewayOf({ backends: { main: upstream.url }, routes: route })
  const plan = planOf({
    port: upstream.port,
    backends: { main: upstream.url },
    routes: route,
    origins: { gateway: "gateway.conf:2" },
  })
  await expect(running.gateway.apply(plan)).rejects.toThrow(
    `gateway.conf:2: cannot listen on 127.0.0.1:${upstream.port}: the port is in use`,
  )
  expect(running.gateway.addresses()).toEqual([`127.0.0.1:${running.port}`])
  expect((await fetch(`${running.url}/a`)).status).toBe(200)
})

test("a changed address: the new listener opens first, the old one ends with its requests", async () => {
  const waiting: (() => void)[] = []
  const upstream = await upstreamOf((_request, response) => {
    response.writeHead(200).write("half")
    waiting.push(() => response.end(" done"))
  })
  const running = await gatewayOf({ backends: { main: upstream.url }, routes: route })
  const download = await fetch(`${running.url}/a`)
  const port = await freePort()
  await running.gateway.apply(planOf({ port, host: "::1", backends: { main: upstream.url }, routes: route }))
  expect(running.gateway.addresses()).toEqual([`[::1]:${port}`])
  await expect(fetch(`${running.url}/a`)).rejects.toThrow()
  const other = fetch(`http://[::1]:${port}/a`)
  await until(() => waiting.length === 2)
  for (const end of waiting) end()
  expect([await download.text(), await (await other).text()]).toEqual(["half done", "half done"])
})

test("a secret's file is read again when it changes; a file that is gone changes nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-secret-"))
  closers.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "key"), "first\n")
  const upstream = await upstreamOf()
  const reloads: (LoadError | undefined)[] = []
  const running = await gatewayOf(
    {
      backends: { main: upstream.url },
      secrets: { key: { file: "key" } },
      subscriptions: { s: { scope: { api: "main" }, key: "key" } },
      routes: [
        {
          path: "/a",
          inbound: [
            { kind: "validate-key", api: "main", header: "x-key", query: null, status: 401, forward: false },
          ],
        },
      ],
    },
    { folder, filesEveryMs: 20, onReload: (error) => reloads.push(error) },
  )
  const status = async (key: string) =>
    (await fetch(`${running.url}/a`, { headers: { "x-key": key } })).status
  expect([await status("first"), await status("second")]).toEqual([200, 401])
  await pause(60)
  // At once: while a file is written, it is there without its text, which is another change.
  writeFileSync(join(folder, "next"), "second!\n")
  renameSync(join(folder, "next"), join(folder, "key"))
  await until(() => reloads.length === 1)
  expect([await status("first"), await status("second!")]).toEqual([401, 200])
  rmSync(join(folder, "key"))
  await until(() => reloads.length === 2)
  expect(reloads[1]?.message).toContain("the file `key` cannot be read: there is no such file; create it")
  expect(await status("second!")).toBe(200)
})

test("closing: requests in work end with Connection: close, new connections are refused, what takes too long is cut off", async () => {
  const waiting: (() => void)[] = []
  const upstream = await upstreamOf((_request, response) => {
    waiting.push(() => response.end("done"))
  })
  const running = await gatewayOf({ backends: { main: upstream.url }, routes: route })
  const [first, second] = [fetch(`${running.url}/a`), fetch(`${running.url}/a`)]
  const failed = second.then(
    () => "answered",
    () => "cut off",
  )
  await until(() => waiting.length === 2)
  const closed = running.gateway.close(1_500)
  expect(running.gateway.state().draining).toBe(true)
  await pause(50)
  await expect(fetch(`${running.url}/a`)).rejects.toThrow()
  waiting[0]?.()
  const answer = await first
  expect([await answer.text(), answer.headers.get("connection")]).toEqual(["done", "close"])
  await closed
  expect(await failed).toBe("cut off")
  await until(() => running.gateway.state().generations === 0)
})

test("weights spread requests evenly; what a target refuses to take goes to the other", async () => {
  const a = await upstreamOf((_request, response) => response.end("a"))
  const b = await upstreamOf((_request, response) => response.end("b"))
  const gone = await startRawUpstream(() => undefined)
  await gone.close()
  const backend = (targets: { url: string; weight: number }[]) => ({
    targets,
    connectMs: 500,
    totalMs: null,
    tls: { insecure: false },
  })
  const running = await gatewayOf({
    backends: {
      main: backend([
        { url: a.url, weight: 3 },
        { url: b.url, weight: 1 },
      ]),
      half: backend([
        { url: a.url, weight: 1 },
        { url: gone.url, weight: 1 },
      ]),
    },
    routes: [{ path: "/a" }, { path: "/half", backend: "half" }],
  })
  const order: string[] = []
  for (let round = 0; round < 8; round += 1) order.push(await (await fetch(`${running.url}/a`)).text())
  expect(order.join("")).toBe("aabaaaba")
  const statuses: number[] = []
  for (let round = 0; round < 4; round += 1) statuses.push((await fetch(`${running.url}/half`)).status)
  // Every second one could not be brought to the target that is gone, and went to the other.
  expect(statuses).toEqual([200, 200, 200, 200])
  expect(running.log.filter(({ retried }) => retried)).toHaveLength(2)
})
