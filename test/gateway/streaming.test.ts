import { once } from "node:events"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { until } from "../support/until.ts"
import {
  type Answering,
  type Running,
  sendRaw,
  startGateway,
  startRawUpstream,
  startUpstream,
  type Upstream,
} from "./harness.ts"
import type { RouteDraft } from "./plan-builder.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(
  answer?: Answering,
  route: Partial<RouteDraft> = {},
  limits: { bodyBytesMax?: number } = {},
): Promise<{ upstream: Upstream; running: Running }> {
  const upstream = await startUpstream(answer)
  const running = await startGateway({
    backends: { main: upstream.url },
    limits,
    routes: [{ method: "*", path: "/{rest*}", ...route }],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return { upstream, running }
}

test("server-sent events pass one by one, their head before the first", async () => {
  const send: (() => void)[] = []
  const { running } = await start((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.flushHeaders()
    send.push(
      () => response.write("data: 1\n\n"),
      () => response.end("data: 2\n\n"),
    )
  })
  const answer = await fetch(`${running.url}/events`)
  expect(answer.headers.get("content-type")).toBe("text/event-stream")
  const reader = answer.body?.getReader()
  for (const expected of ["data: 1\n\n", "data: 2\n\n"]) {
    send.shift()?.()
    const { value } = (await reader?.read()) ?? {}
    expect(Buffer.from(value ?? []).toString()).toBe(expected)
  }
})

test("64 MiB to a reader that does not read stay with the backend", async () => {
  const total = 64 * 1024 * 1024
  let sent = 0
  const { running } = await start((_request, response) => {
    response.writeHead(200, { "content-length": total })
    const chunk = Buffer.alloc(64 * 1024, 7)
    const more = () => {
      while (sent < total) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once("drain", more)
      }
      response.end()
    }
    more()
  })
  const before = process.memoryUsage().rss
  const socket = connect(running.port, "127.0.0.1")
  socket.write("GET /big HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n")
  socket.pause()
  for (let before = -1; before !== sent || sent === 0; await pause(300)) before = sent
  expect(sent).toBeLessThan(40 * 1024 * 1024)
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  let received = 0
  socket.on("data", (chunk) => {
    received += chunk.length
  })
  socket.resume()
  await new Promise((resolve) => socket.on("close", resolve))
  expect(received).toBeGreaterThan(total)
})

test("a large upload arrives whole, at the pace of the backend", async () => {
  let received = 0
  const { running } = await start((request, response) => {
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
    })
    request.on("end", () => response.end(String(received)))
  })
  const answer = await fetch(`${running.url}/up`, { method: "PUT", body: Buffer.alloc(9_000_000, 1) })
  expect(await answer.text()).toBe("9000000")
})

test("a client that leaves ends the request to the backend, before and after the head", async () => {
  for (const withHead of [false, true]) {
    let asked = false
    let closed = false
    const { running } = await start((_request, response) => {
      response.on("close", () => {
        closed = true
      })
      asked = true
      if (withHead) response.writeHead(200).write("x")
    })
    const socket = connect(running.port, "127.0.0.1")
    const answered = withHead ? once(socket, "data") : undefined
    socket.write("GET /slow HTTP/1.1\r\nHost: gw\r\n\r\n")
    await until(() => asked)
    await answered
    socket.destroy()
    await until(() => closed)
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({ aborted: true, status: withHead ? 200 : 0 })
    expect(running.gateway.state().running).toBe(0)
  }
})

test("a client that leaves while it uploads ends the request to the backend", async () => {
  let received = 0
  let aborted = false
  const { running } = await start((request) => {
    request.on("error", () => undefined)
    request.on("aborted", () => {
      aborted = true
    })
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
    })
  })
  const socket = connect(running.port, "127.0.0.1")
  socket.write("POST /up HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000\r\n\r\nsome")
  await until(() => received > 0)
  socket.destroy()
  await until(() => aborted)
})

test("a body over the limit: 413, by length before the backend hears of it, in chunks before it sees too much", async () => {
  const { running, upstream } = await start(undefined, {}, { bodyBytesMax: 1000 })
  const known = await sendRaw(
    running.port,
    `POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 1001\r\n\r\n${"x".repeat(1001)}`,
  )
  expect(known.status).toBe(413)
  expect(upstream.requests.length).toBe(0)
  const chunk = `12c\r\n${"x".repeat(300)}\r\n`
  const chunked = await sendRaw(
    running.port,
    `POST /a HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
  )
  expect(chunked.status).toBe(413)
  for (const seen of upstream.requests) {
    expect(seen.complete).toBe(false)
    expect(seen.body.length).toBeLessThanOrEqual(1000)
  }
  const exact = await sendRaw(
    running.port,
    `POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000\r\n\r\n${"x".repeat(1000)}`,
  )
  expect(exact.status).toBe(200)
})

test("an answer that comes while a body is still sent reaches the client that is still sending", async () => {
  const { running } = await start(undefined, {}, { bodyBytesMax: 1000 })
  const answer = await new Promise<number>((resolve, reject) => {
    const request = httpRequest(
      `${running.url}/a`,
      { method: "POST", headers: { "content-length": 700_000 } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    request.on("error", reject)
    request.end(Buffer.alloc(700_000))
  })
  expect(answer).toBe(413)
})

test("a backend's answer that overtakes the body reaches the client that is still sending", async () => {
  for (const length of [0, 5]) {
    const { running } = await start((_request, response) => {
      response.writeHead(413, { "content-length": length })
      response.end("x".repeat(length))
    })
    const answer = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${running.url}/a`, { method: "POST" }, (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode ?? 0))
      })
      request.on("error", reject)
      for (let sent = 0; sent < 8; sent += 1) request.write(Buffer.alloc(64 * 1024))
      setTimeout(() => request.end(Buffer.alloc(64 * 1024)), 50)
    })
    expect(answer).toBe(413)
  }
})

test("100 Continue goes out after the door has opened, not before", async () => {
  const { running, upstream } = await start(undefined, {
    inbound: [
      {
        kind: "when",
        test: "request.header('x-ok') == ''",
        matched: [{ kind: "respond", status: 403, headers: [], media: null }],
      },
    ],
  })
  const head = "POST /a HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"
  const refused = await sendRaw(running.port, `${head}\r\n`)
  expect(refused.text).toMatch(/^HTTP\/1\.1 403 /)
  expect(refused.headers.get("connection")).toBe("close")
  expect(upstream.requests.length).toBe(0)
  const text = await new Promise<string>((resolve) => {
    let received = ""
    const socket = connect(running.port, "127.0.0.1")
    socket.on("data", (data) => {
      received += data.toString()
      if (received === "HTTP/1.1 100 Continue\r\n\r\n") socket.write("hello")
      else if (received.includes("hello")) {
        socket.destroy()
        resolve(received)
      }
    })
    socket.write(`${head}x-ok: 1\r\n\r\n`)
  })
  expect(text).toContain("HTTP/1.1 200 OK")
})

test("a backend that says nothing: 504 in the time of the route, and the backend is let go", async () => {
  let closed = false
  const { running } = await start(
    (_request, response) => {
      response.on("close", () => {
        closed = true
      })
    },
    { timeoutMs: 200 },
  )
  const answer = await fetch(`${running.url}/slow`)
  expect(answer.status).toBe(504)
  expect(((await answer.json()) as { type: string }).type).toBe("urn:sallyport:problem:gateway-timeout")
  await until(() => closed)
})

test("a backend that trickles is cut off in the time of the route", async () => {
  const { running } = await start(
    (_request, response) => {
      response.writeHead(200, { "content-length": 1000 })
      const timer = setInterval(() => response.write("x"), 20)
      response.on("close", () => clearInterval(timer))
    },
    { timeoutMs: 300 },
  )
  const answer = await sendRaw(running.port, "GET /slow HTTP/1.1\r\nHost: gw\r\n\r\n", 1_500)
  expect(answer.closed).toBe(true)
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ status: 200, aborted: true })
})

test("the total time of a backend counts without a time of the route", async () => {
  const upstream = await startUpstream(() => undefined)
  const running = await startGateway({
    backends: {
      main: {
        targets: [{ url: upstream.url, weight: 1 }],
        connectMs: 1_000,
        totalMs: 150,
        tls: { insecure: false },
      },
    },
    routes: [{ path: "/{rest*}", timeoutMs: null }],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  expect((await fetch(`${running.url}/x`)).status).toBe(504)
})

test("a backend that nobody listens for: 502; an address that does not answer: 504 in the connect time", async () => {
  const refused = await startGateway({
    backends: { main: "http://127.0.0.1:1" },
    routes: [{ path: "/{rest*}" }],
  })
  closers.push(() => refused.close())
  expect((await fetch(`${refused.url}/x`)).status).toBe(502)
  await until(() => refused.log.length === 1)
  expect(refused.log[0]?.cause).toContain("ECONNREFUSED")
})

test("an idle connection that the backend closes costs a GET nothing and sends a POST once", async () => {
  let served = 0
  const upstream = await startRawUpstream((socket) => {
    socket.on("data", (chunk) => {
      served += chunk.toString("latin1").split(" HTTP/1.1\r\n").length - 1
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      // Closes right after the answer without saying so: the next request on this connection meets the end of it.
      setTimeout(() => socket.destroy(), Math.random() * 2)
    })
  })
  const running = await startGateway({
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/{rest*}" }],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  for (let round = 0; round < 150; round += 1) expect((await fetch(`${running.url}/x`)).status).toBe(200)
  const before = served
  let posts = 0
  for (let round = 0; round < 50; round += 1) {
    const { status } = await fetch(`${running.url}/x`, { method: "POST", body: "once" })
    expect([200, 502]).toContain(status)
    posts += 1
  }
  expect(served - before).toBeLessThanOrEqual(posts)
})

test("headers: 101 fields and 16 KiB are refused whole, wherever the important field stands", async () => {
  const { running, upstream } = await start()
  const fields = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: 1\r\n`).join("")
  for (const [count, status] of [
    [98, 200],
    [101, 431],
    [1_001, 431],
    [1_300, 431],
  ] as const) {
    upstream.requests.length = 0
    const answer = await sendRaw(
      running.port,
      `POST /a HTTP/1.1\r\nHost: gw\r\n${fields(count)}Content-Length: 5\r\n\r\nhello`,
      80,
    )
    expect(answer.status, String(count)).toBe(status)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
  }
  const big = await sendRaw(
    running.port,
    `GET /a HTTP/1.1\r\nHost: gw\r\nX-A: ${"x".repeat(16_385)}\r\n\r\n`,
    80,
  )
  expect(big.status).toBe(431)
  const target = await sendRaw(running.port, `GET /${"x".repeat(65_536)} HTTP/1.1\r\nHost: gw\r\n\r\n`, 80)
  expect([414, 431]).toContain(target.status)
})
