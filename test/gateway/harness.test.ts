import { expect, test } from "vitest"
import { sendRaw, startRawUpstream } from "./harness.ts"

// What tests read answers with must not take a busy machine for the end of an answer.

const rows: [string, string, string, string][] = [
  ["known length", "Content-Length: 10\r\n\r\nabcde", "fghij", "abcdefghij"],
  ["chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n", "0\r\n\r\n", "5\r\nabcde\r\n0\r\n\r\n"],
  [
    "trailers",
    "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
    "0\r\nX-T: 1\r\n\r\n",
    "1\r\na\r\n0\r\nX-T: 1\r\n\r\n",
  ],
  ["a head in two parts", "Content-Len", "gth: 1\r\n\r\na", "a"],
]

test.each(rows)("an answer that pauses longer than silence is whole: %s", async (_, begin, rest, body) => {
  const upstream = await startRawUpstream((socket) =>
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\n${begin}`)
      setTimeout(() => socket.write(rest), 100)
    }),
  )
  const answer = await sendRaw(upstream.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 20)
  expect([answer.status, answer.body, answer.closed]).toEqual([200, body, false])
  await upstream.close()
})

test.each([
  ["HEAD / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 200],
  ["GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 304],
  ["GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 101],
])(
  "an answer without a body is waited for no longer: %j %j",
  async (request, sent, status) => {
    const upstream = await startRawUpstream((socket) => socket.once("data", () => socket.write(sent)))
    expect((await sendRaw(upstream.port, request, 20)).status).toBe(status)
    await upstream.close()
  },
  5_000,
)
