import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { createSecureServer, type ServerHttp2Stream } from "node:http2"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import type { Backend } from "../../runtime/plan/resources.ts"
import { until } from "../support/until.ts"
import { sendRaw, startUpstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import { askFor, breaker, named, serve, start, statesOf, statusOf } from "./pool.ts"

afterEach(closeAll)

describe("sharing", () => {
  test("targets take turns by weight", async () => {
    const a = await startUpstream(named("a"))
    const b = await startUpstream(named("b"))
    closers.push(
      () => a.close(),
      () => b.close(),
    )
    const targets = [
      { url: a.url, weight: 3 },
      { url: b.url, weight: 1 },
    ]
    const running = await serve({ targets }, [])
    let seen = ""
    for (let at = 0; at < 8; at += 1) seen += (await askFor(running)).body
    expect(seen).toBe("aabaaaba")
  })

  test("the one with the fewest requests under way", async () => {
    const held: ServerResponse[] = []
    const { ask } = await start(
      ["slow", "fast"],
      { balance: "least-outstanding" },
      (name) => (request, response) => {
        request.resume()
        if (name === "slow") held.push(response)
        else response.end(name)
      },
    )
    let waiting: Promise<unknown> | undefined
    while (held.length === 0) {
      const asked = ask()
      await Promise.race([asked, until(() => held.length > 0)])
      waiting = asked
    }
    for (let at = 0; at < 5; at += 1) expect((await ask()).body).toBe("fast")
    for (const response of held) response.end("slow")
    await waiting
  })

  test("equal keys go to the same target, and stay when another goes", async () => {
    const retry = { times: 2, on: ["connect-error" as const], methods: [], budgetPercent: 100 }
    const { ask, upstreams } = await start(["a", "b", "c"], { balance: "hash", retry })
    const of = async (key: string) => (await ask("GET", undefined, { "x-key": key })).body
    const keys = Array.from({ length: 24 }, (_, at) => `k${at}`)
    const before = new Map<string, string>()
    for (const key of keys) before.set(key, await of(key))
    expect(new Set(before.values())).toEqual(new Set(["a", "b", "c"]))
    await upstreams.get("c")?.close()
    for (const key of keys) {
      const now = await of(key)
      if (before.get(key) !== "c") expect(now).toBe(before.get(key))
      else expect(["a", "b"]).toContain(now)
    }
  })
})

describe("breaker", () => {
  test("opens after failures, lets one request through, closes when it succeeds", async () => {
    let status = 503
    const { ask, running, upstreams } = await start(
      ["a"],
      { breaker: { ...breaker, openMs: 500 } },
      statusOf(() => status),
    )
    expect([(await ask()).status, (await ask()).status]).toEqual([503, 503])
    const refused = await ask()
    expect(refused.body).toContain("backend-unavailable")
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(upstreams.get("a")?.requests).toHaveLength(2)
    status = 200
    await until(() => statesOf(running)[0]?.breaker === "half-open")
    expect((await ask()).status).toBe(200)
    expect(statesOf(running)[0]?.breaker).toBe("closed")
  })

  test("a failure in the half-open state opens it again", async () => {
    const { ask, running } = await start(
      ["a"],
      { breaker: { ...breaker, openMs: 300 } },
      statusOf(() => 500),
    )
    await ask()
    await ask()
    await until(() => statesOf(running)[0]?.breaker === "half-open")
    expect((await ask()).status).toBe(500)
    expect((await ask()).body).toContain("backend-unavailable")
  })

  test("an open target is passed over; with too many open, none counts", async () => {
    const failing = statusOf((name) => (name === "good" ? 200 : 500))
    const { ask } = await start(["bad", "good"], { breaker }, failing)
    for (let at = 0; at < 4; at += 1) await ask()
    for (let at = 0; at < 4; at += 1) expect((await ask()).body).toBe("good")
    const none = await start(["bad", "worse"], { breaker: { ...breaker, ejectedMaxPercent: 50 } }, failing)
    for (let at = 0; at < 8; at += 1) expect((await none.ask()).status).toBe(500)
  })

  test("a share of the calls", async () => {
    let calls = 0
    const { ask, running } = await start(["a"], { breaker: { ...breaker, calls: 4, percent: 50 } }, () => {
      return (request, response) => {
        request.resume()
        calls += 1
        response.writeHead(calls % 2 === 0 ? 500 : 200).end()
      }
    })
    for (let at = 0; at < 3; at += 1) await ask()
    expect(statesOf(running)[0]?.breaker).toBe("closed")
    await ask()
    expect(statesOf(running)[0]?.breaker).toBe("open")
  })
})

test("a target that fails its checks gets no requests until it is well again", async () => {
  let well = true
  const health: NonNullable<Backend["health"]> = {
    method: "GET",
    path: "/healthz",
    everyMs: 100,
    timeoutMs: 5_000,
    statuses: [200],
    downAfter: 2,
    upAfter: 1,
  }
  const { ask, running } = await start(["a", "b"], { health }, (name) => (request, response) => {
    request.resume()
    response.writeHead(request.url === "/healthz" && name === "a" && !well ? 500 : 200).end(name)
  })
  await until(() => statesOf(running).every((each) => each.health === "up"))
  well = false
  await until(() => statesOf(running)[0]?.health === "down")
  for (let at = 0; at < 4; at += 1) expect((await ask()).body).toBe("b")
  well = true
  await until(() => statesOf(running)[0]?.health === "up")
  expect(new Set([(await ask()).body, (await ask()).body])).toEqual(new Set(["a", "b"]))
})

describe("times", () => {
  test("until the first byte", async () => {
    const { ask } = await start(["a"], { firstByteMs: 150 }, () => (request) => void request.resume())
    expect((await ask()).status).toBe(504)
  })

  test("in the middle of an answer", async () => {
    const { running } = await start(["a"], { idleMs: 150 }, () => (request, response) => {
      request.resume()
      response.writeHead(200, { "content-length": "10" })
      response.write("half")
    })
    const cut = await sendRaw(running.port, "GET /x HTTP/1.1\r\nHost: gw\r\n\r\n", 3_000)
    expect([cut.status, cut.body, cut.closed]).toEqual([200, "half", true])
  })
})

describe("HTTP/2", () => {
  test("trailers are for clients that take them", async () => {
    const read = (name: string) => readFileSync(new URL(`certificates/${name}`, import.meta.url))
    const asked: unknown[] = []
    const server = createSecureServer({ key: read("server.key"), cert: read("good.pem") })
    server.on("stream", (stream: ServerHttp2Stream, headers) => {
      asked.push(headers["te"])
      stream.respond({ ":status": 200, "content-type": "text/plain" }, { waitForTrailers: true })
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-other": "1" }))
      stream.end("over h2")
    })
    const sessions = new Set<{ destroy(): void }>()
    server.on("session", (session) => sessions.add(session))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => {
      for (const session of sessions) session.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    })
    const { port } = server.address() as AddressInfo
    const running = await serve({ http2: true, tls: { insecure: true } }, [`https://127.0.0.1:${port}`])
    const plain = await sendRaw(running.port, "GET /x HTTP/1.1\r\nHost: gw\r\n\r\n")
    expect(plain.text).toContain("over h2")
    expect(plain.text).not.toContain("grpc-status")
    const trailed = await sendRaw(
      running.port,
      "GET /x HTTP/1.1\r\nHost: gw\r\nTE: trailers\r\nConnection: TE\r\n\r\n",
    )
    expect(trailed.body).toContain("grpc-status: 0")
    expect(asked).toEqual([undefined, "trailers"])
  })

  test("a server without it gets one request at a time on a connection", async () => {
    let most = 0
    const server = createServer((_request, response) => setTimeout(() => response.end("h1"), 5))
    server.on("connection", (socket) => {
      let open = 0
      socket.on("data", () => {
        open += 1
        most = Math.max(most, open)
      })
      const { write } = socket
      socket.write = ((...args: Parameters<typeof write>) => {
        open = 0
        return write.apply(socket, args)
      }) as typeof write
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => new Promise((resolve) => server.close(() => resolve())))
    const { port } = server.address() as AddressInfo
    const running = await serve({ http2: true }, [`http://127.0.0.1:${port}`])
    const answers = await Promise.all(Array.from({ length: 8 }, () => askFor(running)))
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 8 }, () => "h1"))
    expect(most).toBe(1)
  })
})
