import type { ServerResponse } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import type { TargetState } from "../../runtime/gateway/backends/target.ts"
import type { Backend } from "../../runtime/plan/resources.ts"
import { until } from "../support/until.ts"
import { type Running, sendRaw, startGateway, startRawUpstream, startUpstream } from "./harness.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const breaker: NonNullable<Backend["breaker"]> = {
  calls: 2,
  windowMs: 60_000,
  openMs: 300,
  statuses: [503],
  ejectedMaxPercent: 100,
}

async function serve(backend: Partial<Backend>, url: string, timeoutMs?: number): Promise<Running> {
  const settled = { connectMs: 2_000, totalMs: null, tls: { insecure: false } }
  const running = await startGateway({
    backends: { main: { ...settled, targets: [{ url, weight: 1 }], ...backend } },
    routes: [{ method: "*", path: "/{rest*}", ...(timeoutMs === undefined ? {} : { timeoutMs }) }],
  })
  closers.push(() => running.close())
  return running
}

function stateOf(running: Running): TargetState | undefined {
  return running.gateway.state().backends["main"]?.[0]
}

async function ask(running: Running, path = "/x", method = "GET"): Promise<number> {
  const answer = await fetch(`${running.url}${path}`, { method, ...(method === "POST" ? { body: "x" } : {}) })
  await answer.text()
  return answer.status
}

/** An upstream that answers when it is told to. */
async function startPatient(): Promise<{ url: string; waiting: ServerResponse[] }> {
  const waiting: ServerResponse[] = []
  const upstream = await startUpstream((request, response) => {
    request.resume()
    waiting.push(response)
  })
  closers.push(() => upstream.close())
  return { url: upstream.url, waiting }
}

describe("breaker", () => {
  test("a trial whose connection had been closed while it was idle is followed by another one", async () => {
    // 503 to the first request of a connection, and an end instead of an answer to the next.
    const upstream = await startRawUpstream((socket) => {
      let requests = 0
      socket.on("data", () => {
        requests += 1
        if (requests === 1) socket.write("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
        else socket.destroy()
      })
    })
    closers.push(() => upstream.close())
    const running = await serve({ breaker }, upstream.url)
    expect(await Promise.all([ask(running), ask(running)])).toEqual([503, 503])
    const before = upstream.connections()
    await until(() => stateOf(running)?.breaker === "half-open")
    // There may be two of them, and then a new one.
    for (let at = 0; at < 3; at += 1) await ask(running, "/x", "POST")
    expect(upstream.connections()).toBeGreaterThan(before)
  })

  test("no answer in the time of the backend, or of the route, is a failure", async () => {
    const { url, waiting } = await startPatient()
    const openMs = 60_000
    for (const running of [
      await serve({ breaker: { ...breaker, openMs }, totalMs: 50 }, url),
      await serve({ breaker: { ...breaker, openMs } }, url, 50),
    ]) {
      expect(stateOf(running)?.breaker).toBe("closed")
      // On a busy machine a request may find no connection within 50 ms. It says nothing about the target, so it is no failure.
      const enough = waiting.length + 2
      do expect(await ask(running)).toBe(504)
      while (waiting.length < enough && stateOf(running)?.breaker === "closed")
      expect(stateOf(running)?.breaker).toBe("open")
    }
  })

  test("a client that leaves is not a failure, and neither is one whose body does not come", async () => {
    const { url, waiting } = await startPatient()
    const running = await serve({ breaker }, url, 200)
    for (let at = 0; at < 3; at += 1) {
      const leaving = new AbortController()
      const asked = fetch(`${running.url}/x`, { signal: leaving.signal }).catch(() => undefined)
      await until(() => waiting.length > at)
      leaving.abort()
      await asked
    }
    const head = "POST /x HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\n"
    for (let at = 0; at < 2; at += 1) expect((await sendRaw(running.port, head)).status).toBe(408)
    await until(() => stateOf(running)?.outstanding === 0)
    expect(stateOf(running)?.breaker).toBe("closed")
  })

  test("requests from before it opened decide nothing", async () => {
    const { url, waiting } = await startPatient()
    const running = await serve({ breaker }, url)
    const old = [ask(running), ask(running), ask(running), ask(running)]
    await until(() => waiting.length === 4)
    for (const response of waiting.splice(0, 2)) response.writeHead(503).end()
    await until(() => stateOf(running)?.breaker === "half-open")
    const trial = ask(running)
    await until(() => waiting.length === 3)
    const [well, ill] = waiting.splice(0, 2)
    well?.writeHead(200).end()
    ill?.writeHead(503).end()
    expect((await Promise.all(old)).sort()).toEqual([200, 503, 503, 503])
    expect(stateOf(running)?.breaker).toBe("half-open")
    expect(await ask(running)).toBe(503)
    waiting[0]?.writeHead(200).end()
    expect(await trial).toBe(200)
    expect(stateOf(running)?.breaker).toBe("closed")
  })
})

test("a target whose connections are all at work is asked whether it is well, and is", async () => {
  let checks = 0
  const held: ServerResponse[] = []
  const upstream = await startUpstream((request, response) => {
    request.resume()
    if (request.url !== "/healthz") {
      held.push(response)
      return
    }
    checks += 1
    response.end()
  })
  closers.push(() => upstream.close())
  const health = {
    ...{ method: "GET" as const, path: "/healthz", everyMs: 100, timeoutMs: 5_000, statuses: [200] },
    ...{ downAfter: 1, upAfter: 1 },
  }
  const running = await serve({ health }, upstream.url)
  const answers = Array.from({ length: 260 }, () => ask(running))
  await until(() => held.length === 256)
  const before = checks
  await until(() => checks > before + 2)
  expect(stateOf(running)?.health).toBe("up")
  const ending = setInterval(() => {
    for (const response of held.splice(0)) response.end()
  }, 10)
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
  clearInterval(ending)
})
