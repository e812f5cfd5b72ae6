import { afterEach, describe, expect, test } from "vitest"
import type { Backend } from "../../runtime/plan/resources.ts"
import { freePort } from "../support/free-port.ts"
import { sendRaw, startRawUpstream, startUpstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import { askFor, breaker, named, serve, statesOf } from "./pool.ts"

afterEach(closeAll)

const nobody = async () => `http://127.0.0.1:${await freePort()}`

async function withGood(backend: Partial<Backend>, dead: readonly string[]) {
  const good = await startUpstream(named("good"))
  closers.push(() => good.close())
  const running = await serve(backend, [...dead, good.url])
  return { good, running }
}

describe("a target that cannot be reached", () => {
  test("has its request answered by another one, whatever the method and its body: nothing was sent", async () => {
    const { good, running } = await withGood({}, [await nobody(), await nobody()])
    const large = "x".repeat(200_000)
    for (const method of ["GET", "POST", "PATCH", "DELETE", "POST", "GET"]) {
      const body = method === "GET" ? undefined : large
      const answer = await askFor(running, method, body)
      expect([answer.status, answer.body === `good${body ?? ""}`]).toEqual([200, true])
    }
    expect(good.requests).toHaveLength(6)
    expect(running.log.filter(({ retried }) => retried)).not.toHaveLength(0)
  })

  test("costs nothing of the budget of `retry`, nor of its number", async () => {
    const retry = { times: 1, on: [503], methods: [], budgetPercent: 1 }
    const { good, running } = await withGood({ retry }, [await nobody()])
    for (let at = 0; at < 40; at += 1) expect((await askFor(running, "POST", "x")).status).toBe(200)
    expect(good.requests).toHaveLength(40)
  })

  test("counts for its breaker; once that is open, it is not tried any more", async () => {
    const { running } = await withGood({ breaker: { ...breaker, calls: 2 } }, [await nobody()])
    for (let at = 0; at < 8; at += 1) expect((await askFor(running, "POST", "x")).status).toBe(200)
    expect(statesOf(running).map((state) => state.breaker)).toEqual(["open", "closed"])
    expect(running.log.filter(({ retried }) => retried)).toHaveLength(2)
  })

  test("one that does not end its handshake: the next is asked when the time to connect is over", async () => {
    const mute = await startRawUpstream(() => undefined)
    closers.push(() => mute.close())
    const { running } = await withGood({ connectMs: 150 }, [mute.url.replace("http:", "https:")])
    const began = performance.now()
    for (let at = 0; at < 2; at += 1) expect((await askFor(running, "POST", "x")).body).toBe("goodx")
    expect(performance.now() - began).toBeGreaterThan(140)
  })

  test("a WebSocket is asked of the next one too", async () => {
    const { good, running } = await withGood({}, [await nobody()])
    const asked =
      "GET /x HTTP/1.1\r\nHost: gw\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    for (let at = 0; at < 2; at += 1) expect((await sendRaw(running.port, asked)).status).toBe(200)
    expect(good.requests.map(({ headers }) => headers.upgrade)).toEqual(["websocket", "websocket"])
  })

  test("with none that can be reached there is one 502, and every target was tried once", async () => {
    const running = await serve({}, [await nobody(), await nobody(), await nobody()])
    expect((await askFor(running, "POST", "x")).status).toBe(502)
    expect(running.log).toHaveLength(1)
  })

  test("a request that was sent is not given to another one without `retry`", async () => {
    const cut = await startRawUpstream((socket) => socket.once("data", () => socket.destroy()))
    closers.push(() => cut.close())
    const { good, running } = await withGood({}, [cut.url])
    const statuses = [await askFor(running, "POST", "x"), await askFor(running, "POST", "x")].map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([200, 502])
    expect(good.requests).toHaveLength(1)
  })
})
