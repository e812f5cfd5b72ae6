import { readFileSync } from "node:fs"
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { askHttp2, http2Session } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { type Running, startGateway } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import { planOf } from "./plan-builder.ts"

afterEach(closeAll)

const path = (name: string) => fileURLToPath(new URL(`certificates/${name}`, import.meta.url))
const read = (name: string) => readFileSync(path(name))

interface Served {
  readonly port: number
  readonly sessions: readonly ServerHttp2Session[]
  readonly streams: readonly ServerHttp2Stream[]
}

async function serve(server: Http2Server | Http2SecureServer): Promise<Served> {
  const sessions: ServerHttp2Session[] = []
  const streams: ServerHttp2Stream[] = []
  server.on("session", (session: ServerHttp2Session) => sessions.push(session))
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined)
    streams.push(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    for (const session of sessions) session.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { port: (server.address() as AddressInfo).port, sessions, streams }
}

const routes = [{ method: "POST", path: "/x", backend: "main", timeoutMs: null }]

type BackendPart = Pick<PlanBody["backends"][string], "tls" | "http2">

async function startFor(url: string, backend: BackendPart): Promise<Running> {
  const running = await startGateway({
    ...{ http2: true, routes },
    certificates: { edge: { cert: { file: path("good.pem") }, key: { file: path("server.key") } } },
    backends: { main: { targets: [{ url, weight: 1 }], connectMs: 5_000, totalMs: null, ...backend } },
  })
  closers.unshift(() => running.close())
  return running
}

function sessionTo({ port }: Running) {
  const session = http2Session(port)
  closers.unshift(() => Promise.resolve(session.destroy()))
  return session
}

const head = { ":method": "POST", ":path": "/x", "content-type": "application/grpc", te: "trailers" }
const answer = (stream: ServerHttp2Stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
  stream.end("message")
}
const plain = { tls: { insecure: false }, http2: "h2c" as const }

describe("backends with HTTP/2", () => {
  test("100 calls at once share one connection", async () => {
    const { port, sessions, streams } = await serve(createServer())
    const session = sessionTo(await startFor(`http://127.0.0.1:${port}`, plain))
    const asked = Array.from({ length: 100 }, () => askHttp2(session, head, "message"))
    await until(() => streams.length === 100)
    for (const stream of streams) answer(stream)
    for (const { status, body, trailers } of await Promise.all(asked))
      expect([status, String(body), trailers["grpc-status"]]).toEqual([200, "message", "0"])
    expect(sessions).toHaveLength(1)
  })

  test("a plan that replaces the backend lets its streams end, and closes the connection after them", async () => {
    const { port, sessions, streams } = await serve(createServer())
    const other = await serve(createServer())
    const running = await startFor(`http://127.0.0.1:${port}`, plain)
    const session = sessionTo(running)
    const held = session.request(head)
    held.write("first")
    await until(() => streams.length === 1)
    const url = `http://127.0.0.1:${other.port}`
    const backend = { targets: [{ url, weight: 1 }], connectMs: 5_000, totalMs: null, ...plain }
    await running.gateway.apply(
      planOf({ http2: true, routes, port: running.port, backends: { main: backend } }),
    )
    const next = askHttp2(session, head, "message")
    await until(() => other.streams.length === 1)
    answer(other.streams[0] as ServerHttp2Stream)
    expect((await next).status).toBe(200)
    const stream = streams[0] as ServerHttp2Stream
    stream.respond({ ":status": 200 })
    stream.pipe(stream)
    let text = ""
    held.on("data", (bytes: Buffer) => {
      text += String(bytes)
    })
    held.end(" and last")
    await until(() => held.closed)
    expect(text).toBe("first and last")
    await until(() => sessions[0]?.destroyed === true)
  })

  test("by ALPN, with the backend's authority, its client certificate, and the name of its URL", async () => {
    const server = createSecureServer({
      ...{ key: read("server.key"), cert: read("good.pem"), ca: read("ca.pem"), requestCert: true },
      rejectUnauthorized: true,
    })
    const seen: unknown[] = []
    server.on("secureConnection", (socket: TLSSocket & { servername?: string }) =>
      seen.push(socket.authorized, socket.alpnProtocol, socket.servername),
    )
    const { port, streams } = await serve(server)
    const running = await startFor(`https://localhost:${port}`, {
      tls: { insecure: false, ca: { file: path("ca.pem") }, certificate: "edge" },
      http2: true,
    })
    const asked = askHttp2(sessionTo(running), { ...head, ":authority": "shop.example" }, "message")
    await until(() => streams.length === 1)
    answer(streams[0] as ServerHttp2Stream)
    expect((await asked).status).toBe(200)
    expect(seen).toEqual([true, "h2", "localhost"])
  })
})
