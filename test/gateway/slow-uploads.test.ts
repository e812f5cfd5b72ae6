import { connect, type Socket } from "node:net"
import { afterEach, expect, test } from "vitest"
import { until } from "../support/until.ts"
import { type Answering, type Draft, type Running, sendRaw, startGateway, startUpstream } from "./harness.ts"
import { issuers, jwt, verifier } from "./one-route.ts"
import type { RouteDraft } from "./plan-builder.ts"

// A connection to a backend is lent for as long as the client takes to send its body, unless the body is here before.

const closers: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(answer?: Answering, route: Partial<RouteDraft> = {}, draft: Partial<Draft> = {}) {
  const upstream = await startUpstream(answer)
  const running = await startGateway(
    {
      trust: ["127.0.0.1"],
      backends: { main: upstream.url },
      routes: [{ method: "*", path: "/{rest*}", timeoutMs: null, ...route }],
      ...draft,
    },
    verifier,
  )
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return { upstream, running }
}

/** Clients that say a large body and send the beginning of it, from one address each `perAddress`. */
function uploads(running: Running, count: number, begun: Buffer, perAddress = count): Socket[] {
  const sockets = Array.from({ length: count }, (_, at) => {
    const socket = connect(running.port, "127.0.0.1")
    socket.on("error", () => undefined)
    socket.write(
      `POST /up/${at} HTTP/1.1\r\nHost: gw\r\nX-Forwarded-For: 198.51.100.${Math.floor(at / perAddress)}\r\nContent-Length: 1000000\r\n\r\n`,
    )
    socket.write(begun)
    return socket
  })
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

const good = async (running: Running, request: string) =>
  (await sendRaw(running.port, `${request}X-Forwarded-For: 203.0.113.1\r\n\r\n`, 60)).status

const counted = (requests: readonly { url: string }[], path: string) =>
  requests.filter(({ url }) => url.startsWith(path)).length

test("three hundred slow uploads of one caller hold a thirty-second of the connections, and good requests pass", async () => {
  const { running, upstream } = await start()
  uploads(running, 300, Buffer.alloc(150))
  await until(() => running.gateway.state().running === 300)
  // The slow ones get their few places first: whoever comes then is the one who would wait.
  await until(() => counted(upstream.requests, "/up") === 8)
  for (let at = 0; at < 20; at += 1) {
    expect(await good(running, "GET /good HTTP/1.1\r\nHost: gw\r\n")).toBe(200)
    const post = `POST /good HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nX-Forwarded-For: 198.51.100.0\r\n\r\nhello`
    expect((await sendRaw(running.port, post, 60)).status).toBe(200)
  }
  expect(counted(upstream.requests, "/good")).toBe(40)
  expect(counted(upstream.requests, "/up")).toBe(8)
  // None of them was given up meanwhile: the good ones did not wait for that.
  expect(running.log.filter(({ status }) => status !== 200)).toEqual([])
})

test("bodies that begin fast and then stop: a caller has a quarter, all of them three quarters", async () => {
  const { running, upstream } = await start()
  uploads(running, 300, Buffer.alloc(70_000), 100)
  await until(() => counted(upstream.requests, "/up") === 192)
  expect(await good(running, "GET /good HTTP/1.1\r\nHost: gw\r\n")).toBe(200)
  const addresses = upstream.requests
    .filter(({ url }) => url.startsWith("/up"))
    .map(({ headers }) => String(headers["x-forwarded-for"]))
  for (const at of [0, 1, 2])
    expect(addresses.filter((address) => address.startsWith(`198.51.100.${at},`))).toHaveLength(64)
})

test("a place is free when the body is here, when the client goes, and for the next in turn", async () => {
  const { running, upstream } = await start()
  const sockets = uploads(running, 66, Buffer.alloc(70_000))
  await until(() => counted(upstream.requests, "/up") === 64)
  const taken = upstream.requests.map(({ url }) => Number(url.slice("/up/".length)))
  sockets[taken[0] as number]?.write(Buffer.alloc(930_000))
  await until(() => counted(upstream.requests, "/up") === 65)
  sockets[taken[1] as number]?.destroy()
  await until(() => counted(upstream.requests, "/up") === 66)
})

test("a body that is not here as a whole, but comes fast enough, is sent on as it comes", async () => {
  const { running, upstream } = await start()
  const socket = connect(running.port, "127.0.0.1")
  closers.push(() => void socket.destroy())
  socket.write("POST /stream HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
  await until(() => upstream.requests[0]?.body === "hello")
  socket.write("6\r\n world\r\n")
  await until(() => upstream.requests[0]?.body === "hello world")
})

test("steps that refuse come before any connection, and what they refuse is not read", async () => {
  const { running, upstream } = await start(undefined, { inbound: [jwt] }, { issuers })
  const [socket] = uploads(running, 1, Buffer.alloc(70_000))
  let answer = ""
  socket?.on("data", (bytes: Buffer) => {
    answer += bytes.toString("latin1")
  })
  await until(() => answer.startsWith("HTTP/1.1 401 "))
  expect(upstream.requests).toEqual([])
})
