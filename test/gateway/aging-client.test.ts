import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Pool } from "undici"
import { afterEach, expect, it, vi } from "vitest"
import { AgingClient } from "../../runtime/gateway/aging-client.ts"

const ageMs = 60_000
const closers: (() => unknown)[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) await close()
})

async function startPool(): Promise<{ readonly ask: () => Promise<number>; readonly clock: () => void }> {
  let connections = 0
  const server = createServer((_request, response) => response.end(String(connections)))
  // Without a hint of the server the pool keeps connections as long as it is told to.
  server.keepAliveTimeout = 0
  server.on("connection", () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const pool = new Pool(`http://127.0.0.1:${port}`, {
    connections: 4,
    clientTtl: ageMs,
    keepAliveTimeout: 10 * ageMs,
    keepAliveMaxTimeout: 10 * ageMs,
    factory: (url, options) => new AgingClient(url, { ...options, ageMs }),
  })
  closers.push(
    () => pool.close(),
    () => new Promise((resolve) => server.close(resolve)),
  )
  return {
    ask: async () => {
      const { body } = await pool.request({ path: "/", method: "GET" })
      const answer = Number(await body.text())
      // A connection is used again in the next turn at the earliest.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      return answer
    },
    clock: () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }),
  }
}

it("keeps a connection that is young", async () => {
  const { ask, clock } = await startPool()
  clock()
  expect(await ask()).toBe(1)
  vi.advanceTimersByTime(ageMs - 1)
  vi.useRealTimers()
  expect(await ask()).toBe(1)
})

it("takes another for one that is old", async () => {
  const { ask, clock } = await startPool()
  clock()
  expect(await ask()).toBe(1)
  vi.advanceTimersByTime(ageMs)
  vi.useRealTimers()
  expect(await ask()).toBe(2)
  expect(await ask()).toBe(2)
})
