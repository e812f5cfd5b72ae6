import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { promptlyMs } from "../support/busy.ts"
import { answerOf, askHttp2, http2Session } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { type Answering, type Running, startGateway, startUpstream } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const patience = { headMs: 300, bodyWindowMs: 200, bodyBytesMin: 100, readerMs: 300 }

async function start(answer?: Answering, own: Partial<typeof patience> = {}): Promise<Running> {
  const upstream = await startUpstream(answer)
  const running = await startGateway(
    { backends: { main: upstream.url }, routes: [{ method: "*", path: "/{rest*}", timeoutMs: null }] },
    { patience: { ...patience, ...own } },
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return running
}

/** Sends a piece every 40 ms; resolves with what came back when the gateway closes. */
function trickle(port: number, first: string, piece: string, pieces: number): Promise<string> {
  return new Promise((resolve) => {
    let received = ""
    const socket = connect(port, "127.0.0.1")
    socket.on("data", (chunk) => {
      received += chunk.toString()
    })
    socket.on("error", () => undefined)
    socket.write(first)
    let sent = 0
    const timer = setInterval(() => {
      sent += 1
      if (sent <= pieces) socket.write(piece)
    }, 40)
    socket.on("close", () => {
      clearInterval(timer)
      resolve(received)
    })
  })
}

test("a head that trickles in is cut off with 408", async () => {
  const { port } = await start()
  expect(await trickle(port, "GET /a HTTP/1.1\r\nHost: gw\r\n", "X-A: 1\r\n", 100)).toMatch(
    /^HTTP\/1\.1 408 .*urn:sallyport:problem:request-timeout/s,
  )
})

test("a connection that sends nothing is closed", async () => {
  const { port } = await start()
  await trickle(port, "", "", 0)
})

test("a body that trickles in is cut off with 408, and the backend is let go", async () => {
  let aborted = false
  const { port, log } = await start((request) => {
    request.on("aborted", () => {
      aborted = true
    })
    request.on("error", () => undefined)
    request.resume()
  })
  const received = await trickle(
    port,
    // Enough at first to be sent on: what only trickles gets no connection.
    `POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n${"x".repeat(70_000)}`,
    "x",
    100,
  )
  expect(received).toMatch(/^HTTP\/1\.1 408 /)
  await until(() => aborted && log.length === 1)
  expect(log[0]).toMatchObject({ status: 408, problem: "request-timeout" })
})

test("a slow but steady body arrives", async () => {
  const { port } = await start()
  const received = await trickle(
    port,
    "POST /a HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nContent-Length: 6000\r\n\r\n",
    // One of five that fall into a window is enough: a busy machine may hold some up.
    "x".repeat(500),
    12,
  )
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
})

test("a body that the backend does not take is waited for", async () => {
  // The client is this process: its head, and what is on its way when the backend goes on, must come in time on a busy machine, too.
  const bodyWindowMs = Math.ceil(promptlyMs(200))
  const { port } = await start(
    (request, response) => {
      request.pause()
      request.on("end", () => response.end("late"))
      setTimeout(() => request.resume(), 4 * bodyWindowMs)
    },
    { headMs: Math.ceil(promptlyMs(300)), bodyWindowMs },
  )
  const answer = await fetch(`http://127.0.0.1:${port}/a`, { method: "POST", body: Buffer.alloc(8_000_000) })
  expect(await answer.text()).toBe("late")
})

test("a reader that takes nothing is cut off, and the backend is let go", async () => {
  let closed = false
  const { port } = await start((_request, response) => {
    response.on("close", () => {
      closed = true
    })
    const more = () => {
      while (!closed && response.write(Buffer.alloc(256 * 1024)));
      if (!closed) response.once("drain", more)
    }
    more()
  })
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  socket.pause()
  socket.write("GET /a HTTP/1.1\r\nHost: gw\r\n\r\n")
  await until(() => closed)
  socket.destroy()
})

test("slow clients take nothing from others", async () => {
  const { port, url } = await start()
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => undefined)
    socket.resume()
    socket.write("POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 100\r\n\r\n")
    return socket
  })
  await pause(50)
  for (let round = 0; round < 20; round += 1) expect((await fetch(`${url}/a`)).status).toBe(200)
  await until(() => sockets.every((socket) => socket.closed))
  for (const socket of sockets) socket.destroy()
})

test("`limits` of the plan say how slow heads and bodies may be; a new plan changes them", async () => {
  const upstream = await startUpstream()
  const draft = {
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/{rest*}", timeoutMs: null }],
    limits: { headMs: 1_000, bodyRate: { bytes: 100, ms: 1_000 } },
  }
  const running = await startGateway(draft)
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  const { port } = running
  const head = "POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n"
  const slow = await Promise.all([
    trickle(port, "GET /a HTTP/1.1\r\nHost: gw\r\n", "X-A: 1\r\n", 1000),
    trickle(port, head, "b", 1000),
  ])
  for (const answer of slow) expect(answer).toMatch(/^HTTP\/1\.1 408 .*request-timeout/s)
  // About 2,500 bytes a second, which the next plan finds too few.
  const faster = { ...draft, port, limits: { bodyRate: { bytes: 50_000, ms: 1_000 } } }
  await running.gateway.apply(planOf(faster))
  expect(await trickle(port, head, "b".repeat(100), 1000)).toMatch(/^HTTP\/1\.1 408 /)
})

test("a slow body over HTTP/2 ends alone; requests of the same connection continue", async () => {
  const upstream = await startUpstream()
  const running = await startGateway({
    ...{ http2: true, backends: { main: upstream.url } },
    routes: [{ method: "*", path: "/{rest*}", timeoutMs: null }],
    limits: { bodyRate: { bytes: 100, ms: 1_000 } },
  })
  const session = http2Session(running.port)
  closers.push(
    async () => session.destroy(),
    () => running.close(),
    () => upstream.close(),
  )
  const stream = session.request({ ":method": "POST", ":path": "/slow", ":authority": "gw" })
  const slow = answerOf(stream)
  const timer = setInterval(() => stream.destroyed || stream.write("b"), 40)
  const others: number[] = []
  let isOver = false
  void slow.then(() => {
    isOver = true
  })
  while (!isOver) others.push((await askHttp2(session, { ":path": "/a", ":authority": "gw" })).status)
  clearInterval(timer)
  expect((await slow).status).toBe(408)
  expect(new Set(others)).toEqual(new Set([200]))
  expect(session.closed || session.destroyed).toBe(false)
  expect(running.log.map(({ problem }) => problem)).toContain("request-timeout")
})
