import { createServer, type Server, type Socket } from "node:net"
import { Readable } from "node:stream"
import { afterEach, describe, expect, test } from "vitest"
import { Http1Pool, type PoolSettings } from "../../runtime/http1/pool.ts"
import type { AnswerReceiver, Sending, SentRequest, UpstreamError } from "../../runtime/http1/ports.ts"
import { until } from "../gateway/harness.ts"

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Backend {
  readonly port: number
  /** Connections that were made, in their order. */
  readonly sockets: readonly Socket[]
  /** What arrived on all of them. */
  readonly received: () => string
}

/** A server that calls back with what arrived on a connection since its last answer. */
async function startBackend(onBytes: (text: string, socket: Socket) => void): Promise<Backend> {
  const sockets: Socket[] = []
  let all = ""
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on("error", () => undefined)
    socket.on("data", (bytes) => {
      all += bytes.toString("latin1")
      onBytes(bytes.toString("latin1"), socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as { port: number }
  return { port, sockets, received: () => all }
}

function poolFor(port: number, settings: Partial<PoolSettings> = {}): Http1Pool {
  const place = { hostname: "127.0.0.1", port, tls: undefined, connectMs: 5_000 }
  const pool = new Http1Pool({
    place,
    authority: `127.0.0.1:${port}`,
    connectionsMax: 4,
    idleMs: 60_000,
    ageMs: 60_000,
    ...settings,
  })
  closers.unshift(() => pool.destroy())
  return pool
}

/** How a request came out. */
class Outcome implements AnswerReceiver {
  sending: Sending | undefined
  status = 0
  body = ""
  trailers: readonly string[] | undefined
  error: UpstreamError | undefined
  /** How often it was told that it is over. */
  endings = 0
  readonly #stops: number

  /** `stops`: after how many pieces of the body it asks to wait. */
  constructor(stops = Number.POSITIVE_INFINITY) {
    this.#stops = stops
  }

  onConnect(sending: Sending): void {
    this.sending = sending
  }

  onBegun(): void {}

  onHead(status: number): void {
    this.status = status
  }

  onData(bytes: Buffer): boolean {
    this.body += bytes.toString("latin1")
    return this.body.length < this.#stops
  }

  onComplete(trailers: readonly string[]): void {
    this.trailers = trailers
    this.endings += 1
  }

  onError(error: Error): void {
    this.error = error as UpstreamError
    this.endings += 1
  }
}

const get: SentRequest = { method: "GET", path: "/", fields: [], body: null }
const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

async function ask(pool: Http1Pool, request: Partial<SentRequest> = {}): Promise<Outcome> {
  const outcome = new Outcome()
  pool.dispatch({ ...get, ...request }, outcome)
  await until(() => outcome.endings > 0)
  return outcome
}

describe("connections", () => {
  test("are used again", async () => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port)
    await Promise.all([ask(pool), ask(pool), ask(pool)])
    expect(sockets).toHaveLength(3)
    for (let times = 0; times < 3; times += 1)
      expect(await ask(pool)).toMatchObject({ status: 200, body: "hi" })
    expect(sockets).toHaveLength(3)
  })

  test("are no more than allowed; the others wait their turn", async () => {
    const waiting: Socket[] = []
    const { port, sockets } = await startBackend((_text, socket) => waiting.push(socket))
    const pool = poolFor(port, { connectionsMax: 2 })
    const asked = Array.from({ length: 5 }, () => ask(pool))
    for (let at = 0; at < 5; at += 1) {
      await until(() => waiting.length > at)
      waiting[at]?.write(answer)
    }
    for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ status: 200, endings: 1 })
    expect(sockets).toHaveLength(2)
  })

  test("of an age get no more requests", async () => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port, { ageMs: 0 })
    await ask(pool)
    await ask(pool)
    expect(sockets).toHaveLength(2)
  })

  test("that wait too long are closed", async () => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port, { idleMs: 300 })
    await ask(pool)
    await until(() => sockets[0]?.readableEnded === true)
  })

  test("are kept no longer than the other side says", async () => {
    const timed = (seconds: number) =>
      `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=${seconds}, max=5\r\nContent-Length: 0\r\n\r\n`
    let seconds = 1
    const { port, sockets } = await startBackend((_text, socket) => socket.write(timed(seconds)))
    const pool = poolFor(port)
    await ask(pool)
    seconds = 60
    await ask(pool)
    await ask(pool)
    expect(sockets).toHaveLength(2)
  })

  test.each([
    ["says close", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n"],
    ["is HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"],
    ["has an answer behind it", `${answer}${answer}`],
  ])("are not used again when the answer %s", async (_why, bytes) => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(bytes))
    const pool = poolFor(port)
    expect(await ask(pool)).toMatchObject({ status: 200, error: undefined })
    expect(await ask(pool)).toMatchObject({ status: 200, error: undefined })
    expect(sockets).toHaveLength(2)
  })

  test("are not used again after HEAD", async () => {
    const { port, sockets, received } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port)
    expect(await ask(pool, { method: "HEAD" })).toMatchObject({ status: 200, body: "" })
    expect(await ask(pool)).toMatchObject({ body: "hi" })
    expect(sockets).toHaveLength(2)
    expect(received()).toMatch(/^HEAD \/ HTTP\/1\.1\r\nhost: [^\r]*\r\nconnection: close\r\n/)
  })

  test("that say something unasked are not used again", async () => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port)
    await ask(pool)
    sockets[0]?.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    await until(() => sockets[0]?.readableEnded === true || sockets[0]?.destroyed === true)
    expect(await ask(pool)).toMatchObject({ body: "hi" })
    expect(sockets).toHaveLength(2)
  })
})

describe("failures", () => {
  test("nobody listens", async () => {
    const { port } = await startBackend(() => undefined)
    await closers.pop()?.()
    const outcome = await ask(poolFor(port))
    expect(outcome.sending).toBeUndefined()
    expect(outcome.error).toMatchObject({ reason: "connect", reused: false })
    expect(outcome.error?.message).toContain("ECONNREFUSED")
  })

  test("the connection ends before the answer, first and later", async () => {
    let ends = true
    const { port } = await startBackend((_text, socket) => {
      if (ends) socket.end()
      else socket.write(answer)
    })
    const pool = poolFor(port)
    expect((await ask(pool)).error).toMatchObject({ reason: "closed", reused: false })
    ends = false
    await ask(pool)
    ends = true
    expect((await ask(pool)).error).toMatchObject({ reason: "closed", reused: true })
  })

  test("the answer is none", async () => {
    const { port } = await startBackend((_text, socket) => socket.write("rubbish"))
    expect((await ask(poolFor(port))).error).toMatchObject({ reason: "protocol" })
  })

  test.each<[string, Partial<SentRequest>]>([
    ["a line break in a value", { fields: ["x-a", "b\r\nEvil: 1"] }],
    ["a character above U+00FF in a value", { fields: ["x-a", "\u0100"] }],
    ["a name that is none", { fields: ["x a", "b"] }],
    ["an empty name", { fields: ["", "b"] }],
    ["framing of somebody else", { fields: ["transfer-encoding", "chunked"] }],
    ["connection of somebody else", { fields: ["connection", "x"] }],
    ["a name that is not in lower case", { fields: ["Host", "x"] }],
    ["a blank in the path", { path: "/a b" }],
    ["a line break in the path", { path: "/a\r\nEvil: 1" }],
    ["no path", { path: "" }],
    ["a method that is none", { method: "GET /x" }],
    ["two lengths", { fields: ["content-length", "1", "content-length", "1"], body: Buffer.from("a") }],
    ["a length that is not the body's", { fields: ["content-length", "2"], body: Buffer.from("a") }],
  ])("is not sent: %s", async (_what, request) => {
    const { port, received } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port)
    const outcome = await ask(pool, request)
    expect(outcome.error).toMatchObject({ reason: "request" })
    expect(await ask(pool)).toMatchObject({ body: "hi" })
    expect(received()).not.toMatch(/Evil|x-a/)
  })

  test("a request that is given up while it waits costs no other one", async () => {
    let asked: Socket | undefined
    const { port } = await startBackend((text, socket) => {
      if (text.includes("/first")) asked = socket
      else socket.write(answer)
    })
    const pool = poolFor(port, { connectionsMax: 1 })
    const first = ask(pool, { path: "/first" })
    await until(() => asked !== undefined)
    const gone = new Outcome()
    gone.onConnect = (sending) => sending.abort(new Error("not wanted"))
    pool.dispatch({ ...get, path: "/gone" }, gone)
    const third = ask(pool, { path: "/third" })
    asked?.write(answer)
    expect(await first).toMatchObject({ status: 200 })
    expect(await third).toMatchObject({ status: 200 })
    expect(gone).toMatchObject({ endings: 1, error: { message: "not wanted" } })
  })

  test("a request that is given up ends its connection, and is told once", async () => {
    const { port, sockets } = await startBackend((text, socket) => {
      if (!text.includes("/wait")) socket.write(answer)
    })
    const pool = poolFor(port)
    const outcome = new Outcome()
    pool.dispatch({ ...get, path: "/wait" }, outcome)
    await until(() => sockets.length === 1)
    await until(() => outcome.sending !== undefined)
    outcome.sending?.abort(new Error("not wanted"))
    expect(outcome).toMatchObject({ endings: 1, error: { message: "not wanted" } })
    await until(() => sockets[0]?.readableEnded === true || sockets[0]?.destroyed === true)
    expect(outcome.endings).toBe(1)
    expect(await ask(pool)).toMatchObject({ status: 200 })
  })

  test("closing waits for answers, takes no requests, and leaves no connection", async () => {
    let asked: Socket | undefined
    const { port, sockets } = await startBackend((_text, socket) => {
      asked = socket
    })
    const pool = poolFor(port)
    const first = ask(pool)
    await until(() => asked !== undefined)
    const closed = pool.close()
    expect((await ask(pool)).error).toMatchObject({ reason: "aborted" })
    asked?.write(answer)
    expect(await first).toMatchObject({ status: 200 })
    await closed
    await until(() => sockets.every(({ destroyed, readableEnded }) => destroyed || readableEnded))
  })

  test("destroying ends all at once", async () => {
    let asked = 0
    const { port } = await startBackend(() => {
      asked += 1
    })
    const pool = poolFor(port, { connectionsMax: 2 })
    const all = Array.from({ length: 3 }, () => ask(pool))
    await until(() => asked === 2)
    await pool.destroy()
    for (const { error, endings } of await Promise.all(all))
      expect({ reason: error?.reason, endings }).toEqual({ reason: "aborted", endings: 1 })
  })
})

describe("bodies", () => {
  const atEnd = (mark: string) => {
    let text = ""
    return startBackend((more, socket) => {
      text += more
      if (!text.endsWith(mark)) return
      text = ""
      socket.write(answer)
    })
  }

  test("a whole one has its length", async () => {
    const { port, received } = await atEnd("abc")
    expect(await ask(poolFor(port), { method: "POST", body: Buffer.from("abc") })).toMatchObject({
      status: 200,
    })
    expect(received()).toMatch(/\r\ncontent-length: 3\r\n\r\nabc$/)
  })

  test("none of a method that means one has length 0", async () => {
    const { port, received } = await atEnd("\r\n\r\n")
    await ask(poolFor(port), { method: "POST" })
    expect(received()).toContain("\r\ncontent-length: 0\r\n")
  })

  test("a stream of known length goes as it is", async () => {
    const { port, received } = await atEnd("abcdef")
    const body = Readable.from([Buffer.from("abc"), Buffer.from("def")])
    await ask(poolFor(port), { method: "PUT", fields: ["content-length", "6"], body })
    expect(received()).toMatch(/\r\n\r\nabcdef$/)
  })

  test("a stream of unknown length goes in chunks", async () => {
    const { port, received } = await atEnd("0\r\n\r\n")
    const body = Readable.from([Buffer.from("abc"), Buffer.from("0123456789abcdef")])
    await ask(poolFor(port), { method: "POST", body })
    expect(received()).toMatch(
      /\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n$/,
    )
  })

  test.each([
    ["longer", "3"],
    ["shorter", "9"],
  ])("a stream that is %s than it says fails, and its connection is not used again", async (_how, length) => {
    const { port, sockets } = await startBackend((text, socket) => {
      if (text.startsWith("GET")) socket.write(answer)
    })
    const pool = poolFor(port)
    const body = Readable.from([Buffer.from("abcdef")])
    const outcome = await ask(pool, { method: "POST", fields: ["content-length", length], body })
    expect(outcome.error).toMatchObject({ reason: "request" })
    expect(await ask(pool)).toMatchObject({ status: 200 })
    expect(sockets).toHaveLength(2)
  })

  test("a stream that breaks is what the request failed with", async () => {
    const { port } = await startBackend(() => undefined)
    const body = new Readable({ read: () => undefined })
    const outcome = new Outcome()
    poolFor(port).dispatch({ ...get, method: "POST", body }, outcome)
    await until(() => outcome.sending !== undefined)
    body.destroy(new Error("broken"))
    await until(() => outcome.endings > 0)
    expect(outcome.error?.message).toBe("broken")
  })

  test("an answer that comes before the request is out is whole, and the rest is not sent", async () => {
    const { port, sockets } = await startBackend((_text, socket) => socket.write(answer))
    const pool = poolFor(port)
    const body = new Readable({ read: () => undefined })
    body.push("abc")
    expect(await ask(pool, { method: "POST", body })).toMatchObject({
      status: 200,
      body: "hi",
      error: undefined,
    })
    expect(body.destroyed).toBe(true)
    expect(await ask(pool)).toMatchObject({ status: 200 })
    expect(sockets).toHaveLength(2)
  })

  test("a reader that waits holds the backend up, and goes on where it stopped", async () => {
    const size = 16 * 1024 * 1024
    let written = 0
    const { port, sockets } = await startBackend((text, socket) => {
      if (text.includes("/again")) {
        socket.write(answer)
        return
      }
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
      const piece = Buffer.alloc(64 * 1024, "a")
      const more = () => {
        while (written < size) {
          written += piece.length
          if (!socket.write(piece)) {
            socket.once("drain", more)
            return
          }
        }
      }
      more()
    })
    const pool = poolFor(port)
    const outcome = new Outcome(1)
    pool.dispatch(get, outcome)
    await until(() => outcome.body.length > 0)
    let before = -1
    await until(() => {
      const isStill = written === before
      before = written
      return isStill
    })
    expect(written).toBeLessThan(size)
    while (outcome.endings === 0) {
      outcome.sending?.resume()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(outcome.body.length).toBe(size)
    expect(await ask(pool, { path: "/again" })).toMatchObject({ status: 200 })
    expect(sockets).toHaveLength(1)
  })
})
