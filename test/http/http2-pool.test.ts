import { once } from "node:events"
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
  sensitiveHeaders,
} from "node:http2"
import type { Socket } from "node:net"
import { Readable } from "node:stream"
import { afterEach, describe, expect, test } from "vitest"
import { Http2Pool, type Http2PoolSettings } from "../../runtime/http/client/http2/pool.ts"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"
import { ask, closeAll, closers, get, Outcome, startBackend } from "./pool-harness.ts"

afterEach(closeAll)

interface Http2Backend {
  readonly port: number
  /** Connections in their order, with the streams that each had. */
  readonly sessions: readonly ServerHttp2Session[]
  readonly sockets: readonly Socket[]
  readonly streams: readonly ServerHttp2Stream[]
}

/** A server of HTTP/2 without TLS. */
async function startHttp2(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, at: number) => void,
  options: ServerOptions = {},
): Promise<Http2Backend> {
  const sessions: ServerHttp2Session[] = []
  const sockets: Socket[] = []
  const streams: ServerHttp2Stream[] = []
  const server = createServer(options)
  server.on("connection", (socket: Socket) => sockets.push(socket))
  server.on("session", (session) => sessions.push(session))
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined)
    streams.push(stream)
    onStream(stream, headers, streams.length - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as { port: number }).port, sessions, sockets, streams }
}

function http2PoolFor(port: number, settings: Partial<Http2PoolSettings> = {}): Http2Pool {
  const pool = new Http2Pool({
    endpoint: { hostname: "127.0.0.1", port, tls: undefined, connectMs: 5_000 },
    authority: `127.0.0.1:${port}`,
    ...{ connectionsMax: 4, streamsMax: 1_000, idleMs: 60_000, ageMs: 60_000 },
    ...settings,
  })
  closers.unshift(() => pool.destroy())
  return pool
}

const end = (stream: ServerHttp2Stream, body = "hi") => {
  stream.respond({ ":status": 200 })
  stream.end(body)
}

/** Begins requests without waiting for them. */
function begin(pool: Http2Pool, count: number, request = get): Outcome[] {
  return Array.from({ length: count }, () => {
    const outcome = new Outcome()
    pool.dispatch(request, outcome)
    return outcome
  })
}

const over = (outcomes: readonly Outcome[]) => until(() => outcomes.every(({ endings }) => endings > 0))
const allOf = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const bodies = (outcomes: readonly Outcome[]) => outcomes.map(({ body }) => body)

describe("connections of HTTP/2", () => {
  test("100 requests at once share one", async () => {
    const { port, sessions, streams } = await startHttp2(() => undefined)
    const outcomes = begin(http2PoolFor(port), 100)
    await until(() => streams.length === 100)
    for (const stream of streams) end(stream)
    await over(outcomes)
    expect(bodies(outcomes)).toEqual(allOf(100, "hi"))
    expect(sessions).toHaveLength(1)
  })

  test("a server that allows 10 streams gets as many connections as are needed, and never an 11th stream", async () => {
    const { port, sessions, streams } = await startHttp2(() => undefined, {
      settings: { maxConcurrentStreams: 10 },
    })
    const outcomes = begin(http2PoolFor(port), 25)
    await until(() => streams.length === 25)
    const bySession = sessions.map((each) => streams.filter(({ session }) => session === each).length)
    expect(bySession).toEqual([10, 10, 5])
    for (const stream of streams) end(stream)
    await over(outcomes)
    expect(outcomes.map(({ error }) => error)).toEqual(allOf(25, undefined))
  })

  test("what finds no stream waits, and is dropped when it is no longer wanted", async () => {
    const { port, streams } = await startHttp2(() => undefined, { settings: { maxConcurrentStreams: 2 } })
    const outcomes = begin(http2PoolFor(port, { connectionsMax: 1 }), 4)
    await until(() => streams.length === 2)
    ;(outcomes[2] as Outcome).isWanted = false
    for (const stream of streams.slice()) end(stream)
    await until(() => streams.length === 3)
    end(streams[2] as ServerHttp2Stream)
    await until(() => (outcomes[3] as Outcome).endings === 1)
    expect(outcomes.map(({ endings }) => endings)).toEqual([1, 1, 0, 1])
  })

  test("idle ones are closed with GOAWAY", async () => {
    const { port, sessions } = await startHttp2((stream) => end(stream))
    const pool = http2PoolFor(port, { idleMs: 1 })
    await ask(pool)
    const [code] = await once(sessions[0] as ServerHttp2Session, "goaway")
    expect(code).toBe(constants.NGHTTP2_NO_ERROR)
  })

  test("old ones get no new requests, and running ones end", async () => {
    const { port, sessions, streams } = await startHttp2((stream, _headers, at) => at === 1 || end(stream))
    const pool = http2PoolFor(port, { ageMs: 50 })
    await ask(pool)
    const [running] = begin(pool, 1)
    await until(() => streams.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 60))
    await ask(pool)
    expect(sessions).toHaveLength(2)
    end(streams[1] as ServerHttp2Stream)
    await over([running as Outcome])
    expect(running?.body).toBe("hi")
  })

  test("a pool that closes lets running requests end and takes no new ones", async () => {
    const { port, streams } = await startHttp2(() => undefined)
    const pool = http2PoolFor(port)
    const [running] = begin(pool, 1)
    await until(() => streams.length === 1)
    const closed = pool.close()
    const refused = await ask(pool)
    expect(refused.error).toMatchObject({ reason: "aborted" })
    end(streams[0] as ServerHttp2Stream)
    await closed
    expect(running).toMatchObject({ body: "hi", error: undefined })
  })

  test("a pool that is destroyed aborts its requests", async () => {
    const { port, streams } = await startHttp2(() => undefined, { settings: { maxConcurrentStreams: 1 } })
    const pool = http2PoolFor(port, { connectionsMax: 1 })
    const outcomes = begin(pool, 2)
    await until(() => streams.length === 1)
    await pool.destroy()
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ endings: 1, error: { reason: "aborted" } })
  })
})

/** A source that gives nothing by itself. */
const source = () => new Readable({ read: () => undefined, highWaterMark: 64 * 1024 })
const post = (body: Readable | Buffer) => ({ ...get, method: "POST", body })

/** What a stream brings until it ends. */
async function read(stream: ServerHttp2Stream): Promise<string> {
  let text = ""
  for await (const bytes of stream) text += String(bytes)
  return text
}

describe("the end of a connection", () => {
  test("GOAWAY: running requests end, new ones go elsewhere", async () => {
    const { port, sessions, streams } = await startHttp2(() => undefined)
    const pool = http2PoolFor(port)
    const [running] = begin(pool, 1)
    await until(() => streams.length === 1)
    sessions[0]?.goaway()
    // If it comes before GOAWAY has arrived, the server does not process it, and it is sent again.
    const [next] = begin(pool, 1)
    await until(() => streams.length === 2)
    expect(sessions).toHaveLength(2)
    for (const stream of streams) end(stream)
    await over([running as Outcome, next as Outcome])
    expect([running?.body, next?.body]).toEqual(["hi", "hi"])
  })

  test("streams above the last one of GOAWAY are sent again, with their bodies", async () => {
    const { port, sessions, streams } = await startHttp2(() => undefined)
    const pool = http2PoolFor(port)
    begin(pool, 1)
    const body = source()
    body.push("one ")
    const [call] = begin(pool, 1, post(body))
    await until(() => streams.length === 2)
    sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, streams[0]?.id ?? 0)
    await until(() => streams.length === 3)
    body.push("two")
    body.push(null)
    const again = streams[2] as ServerHttp2Stream
    expect(await read(again)).toBe("one two")
    end(again)
    await over([call as Outcome])
    expect(call).toMatchObject({ body: "hi", error: undefined })
  })

  test("GOAWAY with an error ends the running ones, with the reason", async () => {
    const { port, sessions, streams } = await startHttp2(() => undefined)
    const [outcome] = begin(http2PoolFor(port), 1)
    await until(() => streams.length === 1)
    sessions[0]?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, streams[0]?.id, Buffer.from("too_many_pings"))
    await over([outcome as Outcome])
    expect(outcome?.error?.message).toBe(
      "the backend closed the connection: ENHANCE_YOUR_CALM (too_many_pings)",
    )
  })

  test("a connection that breaks ends the requests on it, and others go over a new one", async () => {
    const { port, sockets, streams } = await startHttp2((stream, _headers, at) => at === 2 && end(stream))
    const pool = http2PoolFor(port)
    const outcomes = begin(pool, 2)
    await until(() => streams.length === 2)
    sockets[0]?.destroy()
    await over(outcomes)
    for (const { error } of outcomes)
      expect(error).toMatchObject({
        ...{ reason: "closed", reused: false, message: "the backend closed the connection" },
      })
    expect((await ask(pool)).body).toBe("hi")
  })

  test("an idle one that closes when a request comes is told as such", async () => {
    const { port, sockets } = await startHttp2((stream, _headers, at) => {
      if (at === 0) end(stream)
      else sockets[0]?.destroy()
    })
    const pool = http2PoolFor(port)
    await ask(pool)
    expect((await ask(pool)).error).toMatchObject({ reason: "closed", reused: true })
  })

  test("a machine that is gone is found by PING after a request was given up", async () => {
    const { port, sessions, sockets } = await startHttp2((stream, _headers, at) => at === 1 || end(stream))
    const endpoint = { hostname: "127.0.0.1", port, tls: undefined, connectMs: 500 }
    const pool = http2PoolFor(port, { endpoint })
    await ask(pool)
    const [lost, other] = begin(pool, 2)
    // The server answers only the other one. Were its answer still on its way, it would arrive while the silent one runs, and no PING would be due.
    await over([other as Outcome])
    // From now on nothing arrives: neither requests nor PING.
    silence(sockets[0] as Socket)
    const [silent] = begin(pool, 1)
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    silent?.sending?.abort(new Error("too late"))
    expect((await ask(pool)).body).toBe("hi")
    expect(sessions).toHaveLength(2)
    await over([lost as Outcome])
    expect(lost?.error?.message).toBe("the backend did not reply to PING in 500 ms")
  })
})

/** Drops what arrives on a connection, as a machine does that is gone. */
function silence(socket: Socket): void {
  // The session has taken the handle and reads from it directly.
  const { _handle } = socket as Socket & { _handle: { readStop(): void } }
  _handle.readStop()
}

describe("the end of a stream", () => {
  test.each([
    ["INTERNAL_ERROR", "closed", "the backend reset the stream: INTERNAL_ERROR"],
    ["CANCEL", "closed", "the backend reset the stream: CANCEL"],
    [
      "PROTOCOL_ERROR",
      "protocol",
      "the response of the backend is not HTTP/2: the stream ended with PROTOCOL_ERROR",
    ],
  ] as const)("RST_STREAM with %s", async (code, reason, message) => {
    const { port } = await startHttp2((stream) => stream.close(constants[`NGHTTP2_${code}`]))
    const { error } = await ask(http2PoolFor(port))
    expect(error).toMatchObject({ reason, message })
  })

  test("REFUSED_STREAM: sent again once, whatever the method", async () => {
    const { port, streams } = await startHttp2((stream, _headers, at) => {
      if (at > 0) end(stream)
      else stream.close(constants.NGHTTP2_REFUSED_STREAM)
    })
    const pool = http2PoolFor(port)
    expect((await ask(pool, post(Buffer.from("x")))).body).toBe("hi")
    expect(streams).toHaveLength(2)
  })

  test("REFUSED_STREAM twice is an error", async () => {
    const { port, streams } = await startHttp2((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
    const { error } = await ask(http2PoolFor(port))
    expect(error?.message).toBe("the backend reset the stream: REFUSED_STREAM")
    expect(streams).toHaveLength(2)
  })

  test("a reset without an error does not complete a response", async () => {
    const { port } = await startHttp2((stream) => {
      stream.respond({ ":status": 200 })
      stream.write("half")
      // `close` would end the body first.
      setTimeout(() => stream.destroy(), 20)
    })
    const { error, trailers, status } = await ask(http2PoolFor(port))
    expect({ status, trailers, message: error?.message }).toEqual({
      ...{ status: 200, trailers: undefined, message: "the backend reset the stream: NO_ERROR" },
    })
  })

  test("an aborted request is cancelled, and its body does not look complete", async () => {
    const { port, streams } = await startHttp2(() => undefined)
    const body = source()
    body.push("half")
    const [outcome] = begin(http2PoolFor(port), 1, post(body))
    await until(() => streams.length === 1)
    const stream = streams[0] as ServerHttp2Stream
    let isComplete = false
    const { push } = stream
    // Node ends the body of an aborted request, too, but only after it has closed the stream.
    stream.push = (chunk) => {
      if (chunk === null && !stream.closed) isComplete = true
      return push.call(stream, chunk)
    }
    stream.resume()
    const closed = once(stream, "close")
    outcome?.sending?.abort(new Error("the client has left"))
    await closed
    expect([stream.rstCode, stream.aborted, isComplete]).toEqual([constants.NGHTTP2_CANCEL, true, false])
    expect(outcome).toMatchObject({ endings: 1, error: { message: "the client has left" } })
    expect(body.destroyed).toBe(true)
  })

  test("a response before the end of the body completes the request, and ends the body", async () => {
    const { port, streams } = await startHttp2((stream) => end(stream, "enough"))
    const body = source()
    body.push("more will come")
    const [outcome] = begin(http2PoolFor(port), 1, post(body))
    await over([outcome as Outcome])
    expect(outcome).toMatchObject({ body: "enough", error: undefined })
    expect(body.destroyed).toBe(true)
    await until(() => streams[0]?.destroyed === true)
  })

  test("a body that fails ends the request with its error", async () => {
    const { port, streams } = await startHttp2(() => undefined)
    const body = source()
    const [outcome] = begin(http2PoolFor(port), 1, post(body))
    await until(() => streams.length === 1)
    body.destroy(new Error("the client sends too slowly"))
    await over([outcome as Outcome])
    expect(outcome?.error?.message).toBe("the client sends too slowly")
    await until(() => streams[0]?.closed === true)
    expect(streams[0]?.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })
})

describe("messages", () => {
  test("both ways at once: each part is answered before the next one is sent", async () => {
    const { port } = await startHttp2((stream) => {
      stream.respond({ ":status": 200 })
      stream.on("data", (bytes: Buffer) => stream.write(`re: ${String(bytes)} `))
      stream.on("end", () => stream.end())
    })
    const body = source()
    const [outcome] = begin(http2PoolFor(port), 1, post(body))
    for (const [at, text] of ["one", "two", "three"].entries()) {
      body.push(text)
      await until(() => outcome?.body.split("re: ").length === at + 2)
    }
    body.push(null)
    await over([outcome as Outcome])
    expect(outcome?.body).toBe("re: one re: two re: three ")
  })

  test("trailers, also without a body, and a head that is the whole response", async () => {
    const { port } = await startHttp2((stream, headers) => {
      if (headers[":path"] === "/only") {
        stream.respond({ ":status": 200, "grpc-status": "5" }, { endStream: true })
        return
      }
      stream.respond({ ":status": 200 }, { waitForTrailers: true })
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-two": ["a", "b"] }))
      stream.end(headers[":path"] === "/body" ? "hi" : undefined)
    })
    const pool = http2PoolFor(port)
    const trailers = ["grpc-status", "0", "x-two", "a", "x-two", "b"]
    expect(await ask(pool, { path: "/body" })).toMatchObject({ body: "hi", trailers })
    expect(await ask(pool, { path: "/none" })).toMatchObject({ body: "", trailers })
    expect(await ask(pool, { path: "/only" })).toMatchObject({ status: 200, trailers: [] })
  })

  test("the head: Host is :authority, repeated fields are a list, and names of JavaScript are names", async () => {
    let seen: IncomingHttpHeaders = {}
    const { port } = await startHttp2((stream, headers) => {
      seen = headers
      end(stream)
    })
    const fields = [
      ...["host", "shop.example", "x-a", "1", "x-a", "2", "cookie", "a=1", "cookie", "b=2"],
      ...["user-agent", "one", "user-agent", "two", "x-b", " padded ", "__proto__", "x"],
    ]
    await ask(http2PoolFor(port), { method: "POST", path: "/a?b", fields })
    expect(seen).toMatchObject({
      ...{ ":authority": "shop.example", ":path": "/a?b", ":scheme": "http", ":method": "POST" },
      ...{ "x-a": "1, 2", cookie: "a=1; b=2", "user-agent": "one, two", "x-b": "padded" },
      "content-length": "0",
    })
    expect(Object.getOwnPropertyDescriptor(seen, "__proto__")?.value).toBe("x")
    expect(seen["host"]).toBeUndefined()
  })

  test.each([
    ["a line break in a value", { fields: ["x-a", "a\r\nb"] }],
    ["a field of a connection", { fields: ["connection", "close"] }],
    ["a pseudo-header field", { fields: [":path", "/other"] }],
    ["another TE", { fields: ["te", "gzip"] }],
    ["a space in the path", { path: "/a b" }],
    ["two lengths", { fields: ["content-length", "1", "content-length", "1"] }],
    ["another length than the body's", { fields: ["content-length", "3"], body: Buffer.from("ab") }],
    ["CONNECT", { method: "CONNECT" }],
  ])("a request with %s cannot be sent, and harms no other", async (_name, request) => {
    const { port, sessions, streams } = await startHttp2((stream) => end(stream))
    const pool = http2PoolFor(port)
    await ask(pool)
    expect((await ask(pool, request)).error).toMatchObject({ reason: "request" })
    expect((await ask(pool)).body).toBe("hi")
    expect([sessions.length, streams.length]).toEqual([1, 2])
  })

  test.each([
    ["longer", "abc"],
    ["shorter", "a"],
  ])("a body %s than its length is not sent as complete", async (_name, text) => {
    const { port, streams } = await startHttp2(() => undefined)
    const body = source()
    const [outcome] = begin(http2PoolFor(port), 1, { ...post(body), fields: ["content-length", "2"] })
    await until(() => streams.length === 1)
    body.push(text)
    body.push(null)
    await over([outcome as Outcome])
    expect(outcome?.error).toMatchObject({ reason: "request" })
    await until(() => streams[0]?.closed === true)
    expect(streams[0]?.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  test("fields that no other request repeats stay out of the table of HPACK", async () => {
    let seen: IncomingHttpHeaders = {}
    const { port } = await startHttp2((stream, headers) => {
      seen = headers
      end(stream)
    })
    const fields = ["x-request-id", "1", "x-own", "2", "traceparent", "00-1-1-01"]
    await ask(http2PoolFor(port), { ...get, fields })
    expect(Reflect.get(seen, sensitiveHeaders)).toEqual(["x-request-id", "traceparent"])
  })

  test("HEAD has no body, whatever its length says; informational responses are skipped", async () => {
    const { port } = await startHttp2((stream, headers) => {
      if (headers[":method"] === "HEAD") stream.respond({ ":status": 200, "content-length": "5" })
      else {
        stream.additionalHeaders({ ":status": 103 })
        end(stream)
      }
    })
    const pool = http2PoolFor(port)
    expect(await ask(pool, { method: "HEAD" })).toMatchObject({ status: 200, body: "", endings: 1 })
    expect(await ask(pool)).toMatchObject({ status: 200, body: "hi" })
  })
})

describe("the pace", () => {
  const large = Buffer.alloc(4 * 1024 * 1024, "a")

  test("a response that is not read holds its server back, and no other response", async () => {
    let taken = 0
    const { port } = await startHttp2((stream, headers) => {
      stream.respond({ ":status": 200 })
      if (headers[":path"] === "/other") stream.end(large)
      else
        Readable.from(
          chunksOf(large, () => {
            taken += 16 * 1024
          }),
        ).pipe(stream)
    })
    const pool = http2PoolFor(port)
    const slow = new Outcome(1)
    pool.dispatch({ ...get, path: "/slow" }, slow)
    await until(() => slow.body.length > 0)
    const [other] = await Promise.all([ask(pool, { path: "/other" }), ask(pool, { path: "/other" })])
    expect(other.body.length).toBe(large.length)
    expect([slow.endings, taken < large.length / 4]).toEqual([0, true])
    while (slow.endings === 0) {
      slow.sending?.resume()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(slow.body.length).toBe(large.length)
  })

  test("a body that is not read is read no further at its source", async () => {
    let taken = 0
    const { port, streams } = await startHttp2((stream) => stream.pause())
    const body = Readable.from(
      chunksOf(large, () => {
        taken += 16 * 1024
      }),
    )
    const [outcome] = begin(http2PoolFor(port), 1, post(body))
    await until(() => streams.length === 1 && taken > 0)
    let before = -1
    await until(() => {
      const isStill = before === taken
      before = taken
      return isStill
    })
    expect(taken).toBeLessThan(large.length / 4)
    const stream = streams[0] as ServerHttp2Stream
    expect((await read(stream)).length).toBe(large.length)
    end(stream)
    await over([outcome as Outcome])
    expect(outcome?.body).toBe("hi")
  })
})

function* chunksOf(bytes: Buffer, taken: () => void): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 16 * 1024) {
    taken()
    yield bytes.subarray(at, at + 16 * 1024)
  }
}

describe("a server that does not speak HTTP/2", () => {
  test("nobody listens", async () => {
    const outcomes = begin(http2PoolFor(await freePort()), 3)
    await over(outcomes)
    for (const { error } of outcomes) expect(error).toMatchObject({ reason: "connect", reused: false })
  })

  test("it is silent", async () => {
    const { port } = await startBackend(() => undefined)
    const endpoint = { hostname: "127.0.0.1", port, tls: undefined, connectMs: 50 }
    const outcomes = begin(http2PoolFor(port, { endpoint }), 3)
    await over(outcomes)
    for (const { error, sending } of outcomes) {
      expect(error).toMatchObject({ reason: "connect-timeout", message: "no HTTP/2 settings in 50 ms" })
      expect(sending).toBeUndefined()
    }
  })

  test("it responds by HTTP/1.1", async () => {
    const { port } = await startBackend((_text, socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"))
    const { error, sending } = await ask(http2PoolFor(port))
    expect(error).toMatchObject({ reason: "protocol" })
    expect(error?.message).toContain("the response of the backend is not HTTP/2: ")
    expect(sending).toBeUndefined()
  })
})
