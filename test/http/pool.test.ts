import type { Socket } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import type { SentRequest } from "../../runtime/http/client/connections.ts"
import { until } from "../support/until.ts"
import { answer, ask, closeAll, get, Outcome, poolFor, startBackend } from "./pool-harness.ts"

afterEach(closeAll)

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
    await closeAll()
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

  test("requests that are given up while they wait are dropped, and cost no connection", async () => {
    let asked: Socket | undefined
    const { port, sockets, received } = await startBackend((text, socket) => {
      if (text.includes("/first")) asked = socket
      else socket.write(answer)
    })
    const pool = poolFor(port, { connectionsMax: 1 })
    const first = ask(pool, { path: "/first" })
    await until(() => asked !== undefined)
    const gone = [new Outcome(), new Outcome()]
    for (const outcome of gone) pool.dispatch({ ...get, path: "/gone" }, outcome)
    const last = ask(pool, { path: "/last" })
    for (const outcome of gone) outcome.isWanted = false
    asked?.write(answer)
    expect(await first).toMatchObject({ status: 200 })
    expect(await last).toMatchObject({ status: 200 })
    for (const outcome of gone) expect(outcome).toMatchObject({ endings: 0, sending: undefined })
    expect(received()).not.toContain("/gone")
    expect(sockets).toHaveLength(1)
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
