import { Readable } from "node:stream"
import { afterEach, describe, expect, test } from "vitest"
import { until } from "../support/until.ts"
import { answer, ask, closeAll, get, Outcome, poolFor, startBackend } from "./pool-harness.ts"

afterEach(closeAll)

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
