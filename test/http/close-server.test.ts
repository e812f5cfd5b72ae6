import { Agent, createServer, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { closeServer } from "../../runtime/http/server/listener.ts"
import { promptlyMs } from "../support/busy.ts"

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A server that answers `/` at once and the rest when it is told to, and a client with one connection to it. */
async function pair() {
  const waiting: ServerResponse[] = []
  const server = createServer((asked, response) => {
    if (asked.url === "/") response.end("done")
    else waiting.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  closers.push(
    () => agent.destroy(),
    () => server.closeAllConnections(),
  )
  /** What the answer says of its connection, or the code of the failure. */
  const post = (path = "/") =>
    new Promise<string | undefined>((resolve) => {
      const asking = request({ port, host: "127.0.0.1", path, method: "POST", agent }, (response) => {
        response.resume().on("end", () => resolve(response.headers.connection))
      })
      asking.on("error", (error: NodeJS.ErrnoException) => resolve(error.code)).end("body")
    })
  return { server, post, waiting }
}

test("a request on a kept connection is answered, and told that it was the last", async () => {
  const { server, post } = await pair()
  expect(await post()).toBe("keep-alive")
  const closed = closeServer(server, 5_000)
  await pause(20)
  expect(await post()).toBe("close")
  await closed
  expect(await post()).toBe("ECONNREFUSED")
})

test("with no time to end, idle connections end at once", async () => {
  const { server, post } = await pair()
  expect(await post()).toBe("keep-alive")
  await closeServer(server, 0)
  await pause(20)
  expect(await post()).toBe("ECONNREFUSED")
})

test("what is under way has its time, and is cut off then", async () => {
  const { server, post, waiting } = await pair()
  const slow = post("/slow")
  while (waiting.length === 0) await pause(5)
  const closed = closeServer(server, 5_000)
  await pause(20)
  waiting[0]?.end("at last")
  expect(await slow).toBe("keep-alive")
  await closed
  const other = await pair()
  const cut = other.post("/slow")
  while (other.waiting.length === 0) await pause(5)
  await closeServer(other.server, 100)
  expect(await cut).toBe("ECONNRESET")
})

test("a server nobody is connected to ends at once, and so does one that was closed before", async () => {
  const { server } = await pair()
  const begin = performance.now()
  await closeServer(server, 600_000)
  await closeServer(server, 600_000)
  expect(performance.now() - begin).toBeLessThan(promptlyMs(500))
})
