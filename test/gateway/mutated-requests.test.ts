import { afterAll, beforeAll, expect, test } from "vitest"
import { type Running, sendRaw, startGateway, startUpstream, type Upstream } from "./harness.ts"

let upstream: Upstream
let running: Running

beforeAll(async () => {
  upstream = await startUpstream()
  running = await startGateway(
    {
      backends: { main: upstream.url },
      limits: { bodyBytesMax: 1000 },
      routes: [{ method: "*", path: "/{rest*}", timeoutMs: 2_000 }],
    },
    { patience: { headMs: 1_000, bodyWindowMs: 500 } },
  )
})

afterAll(async () => {
  await running.close()
  await upstream.close()
})

const seeds = [
  "GET /a HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n",
  "POST /a?b=c HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
  "POST /a HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  "PUT /a HTTP/1.1\r\nHost: gw\r\nConnection: close, x-a\r\nX-A: 1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
]

const pieces = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ",",
  ";",
  "\x0b",
  "\x7f",
  "\x80",
  "\xff",
  "%",
  "/",
  "..",
  "#",
  "?",
  "5",
  "0",
  "-",
  "+",
  "x",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding : chunked\r\n",
  "Transfer-Encoding:\x0bchunked\r\n",
  "transfer-encoding: identity\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: 0\r\n",
  "Content-Length: 4\r\n",
  " Content-Length: 6\r\n",
  "Content-Length:\r\n",
  "Host: other\r\n",
  "Connection: content-length\r\n",
  "Connection: keep-alive\r\n",
  "Upgrade: websocket\r\n",
  "Expect: 100-continue\r\n",
  "Trailer: Host\r\n",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "GET /evil HTTP/1.1\r\nHost: gw\r\n\r\n",
  "0\r\n\r\n",
  "5\r\nhello\r\n",
  "fffffffff\r\n",
]

/** mulberry32: the same mutations in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function mutate(text: string, next: () => number): string {
  let result = text
  const edits = 1 + Math.floor(next() * 3)
  for (let edit = 0; edit < edits; edit += 1) {
    const at = Math.floor(next() * (result.length + 1))
    const cut = next() < 0.5 ? 0 : Math.floor(next() * 4)
    const piece = next() < 0.2 ? "" : (pieces[Math.floor(next() * pieces.length)] as string)
    result = result.slice(0, at) + piece + result.slice(at + cut)
  }
  return result
}

test("mutated requests: every one that reaches the backend is answered, and nothing reaches it in the shadow of another", async () => {
  const next = random(20_261_121)
  for (let round = 0; round < 60; round += 1) {
    upstream.requests.length = 0
    const requests = Array.from({ length: 20 }, () =>
      mutate(seeds[Math.floor(next() * seeds.length)] as string, next),
    )
    const answers = await Promise.all(requests.map((request) => sendRaw(running.port, request, 700, 30)))
    const good = answers.reduce((sum, { text }) => sum + text.split(/HTTP\/1\.1 200 /).length - 1, 0)
    const complete = upstream.requests.filter((seen) => seen.complete).length
    expect(complete, JSON.stringify(requests)).toBe(good)
    for (const { text, status } of answers)
      expect(status === 0 || /^HTTP\/1\.1 [1-5]\d\d /.test(text), text).toBe(true)
    for (const { rawHeaders } of upstream.requests) {
      const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
      expect(
        names.filter((name) => name === "content-length" || name === "transfer-encoding").length,
      ).toBeLessThanOrEqual(1)
      expect(names.filter((name) => name === "host").length).toBe(1)
    }
  }
  expect((await fetch(`${running.url}/still-there`)).status).toBe(200)
})
