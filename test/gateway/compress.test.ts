import { once } from "node:events"
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http"
import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import type { StepOf } from "../../runtime/plan/steps.ts"
import { type Answering, startGateway, startUpstream } from "./harness.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const long = JSON.stringify({ orders: Array.from({ length: 500 }, (_, id) => ({ id, state: "open" })) })

/** The URL of a gateway that compresses what a backend responds. */
async function inFrontOf(
  answer: Answering,
  fields: Partial<StepOf<"compress">> = {},
  ...more: object[]
): Promise<string> {
  const upstream = await startUpstream(answer)
  const running = await startGateway({
    backends: { main: upstream.url },
    routes: [
      {
        method: "*",
        path: "/{rest*}",
        inbound: [
          {
            kind: "compress",
            codings: ["br", "gzip"],
            types: ["application/json", "text/*"],
            bytesMin: 1024,
            crossSite: false,
            ...fields,
          },
          ...(more as []),
        ],
      },
    ],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return running.url
}

interface Received {
  readonly headers: IncomingMessage["headers"]
  readonly status: number
  readonly body: Buffer
}

/** Sends a request by a client that decodes nothing. */
async function receive(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<Received> {
  const request = httpRequest(url, { method, headers }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { headers: response.headers, status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}

const json = (_: unknown, response: ServerResponse): void => {
  response.setHeader("content-type", "application/json")
  response.setHeader("content-length", long.length)
  response.setHeader("etag", '"1"')
  response.setHeader("accept-ranges", "bytes")
  response.end(long)
}

describe("the coding is", () => {
  test.each([
    ["gzip", "gzip"],
    ["gzip, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["x-gzip", "gzip"],
    ["identity, gzip;q=0.5", undefined],
    ["gzip;q=0", undefined],
    ["deflate", undefined],
    ["gzip;q=2", undefined],
    ["", undefined],
  ])("by `Accept-Encoding: %s`", async (accepted, coding) => {
    const url = await inFrontOf(json)
    const { headers, body } = await receive(url, { "accept-encoding": accepted })
    expect(headers["content-encoding"]).toBe(coding)
    const decoded = coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body
    expect(decoded.toString()).toBe(long)
    // Caches must not give one client what another accepts.
    expect(headers["vary"]).toBe("Accept-Encoding")
  })
})

test("fields that describe the body as it was are removed, and a strong validator becomes weak", async () => {
  const url = await inFrontOf((_, response) => {
    response.setHeader("digest", "sha-256=x")
    response.setHeader("vary", "Origin")
    json(_, response)
  })
  const { headers, body } = await receive(url, { "accept-encoding": "gzip" })
  expect(body.length).toBeLessThan(long.length / 5)
  const { etag, vary, digest } = headers
  expect({ etag, vary, digest }).toEqual({
    etag: 'W/"1"',
    vary: "Origin, Accept-Encoding",
    digest: undefined,
  })
  expect(headers["content-length"]).toBeUndefined()
  expect(headers["accept-ranges"]).toBeUndefined()
  const head = await receive(url, { "accept-encoding": "gzip" }, "HEAD")
  expect([head.headers["content-encoding"], head.headers["content-length"], head.body.length]).toEqual([
    "gzip",
    undefined,
    0,
  ])
})

describe("a response stays as it is", () => {
  const answers: Readonly<Record<string, Answering>> = {
    "with another type": (_, response) => response.setHeader("content-type", "image/png").end(long),
    "without a type": (_, response) => response.end(long),
    "with a small body": (_, response) => response.setHeader("content-type", "text/plain").end("short"),
    "with a coding of its own": (_, response) =>
      response.setHeader("content-type", "text/plain").setHeader("content-encoding", "zstd").end(long),
    "with no-transform": (_, response) =>
      response
        .setHeader("content-type", "text/plain")
        .setHeader("cache-control", "public, no-transform")
        .end(long),
    "that is a part": (_, response) =>
      response
        .writeHead(206, { "content-type": "text/plain", "content-range": "bytes 0-9/10" })
        .end(long.slice(0, 2_000)),
    "without content": (_, response) => response.writeHead(304, { "content-type": "text/plain" }).end(),
    "that is a stream of events": (_, response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end(long),
  }
  test.each(Object.keys(answers))("%s", async (name) => {
    const url = await inFrontOf(answers[name] as Answering)
    const { headers } = await receive(url, { "accept-encoding": "br, gzip" })
    expect([undefined, "zstd"]).toContain(headers["content-encoding"])
    expect(headers["vary"]).toBeUndefined()
  })
})

describe("where a page of another site chose the text", () => {
  const cookie = { cookie: "session=1", "accept-encoding": "gzip" }
  const basic = { authorization: "Basic YTpi", "accept-encoding": "gzip" }
  test.each([
    ["a cookie and a query", "/?q=1", "GET", cookie, undefined],
    ["a browser password and a query", "/?q=1", "GET", basic, undefined],
    ["a cookie and another method", "/", "DELETE", cookie, undefined],
    [
      "a cookie and a page of another site",
      "/?q=1",
      "GET",
      { ...cookie, "sec-fetch-site": "cross-site" },
      undefined,
    ],
    [
      "a cookie and a page of the same site",
      "/?q=1",
      "GET",
      { ...cookie, "sec-fetch-site": "same-origin" },
      "gzip",
    ],
    ["a cookie without a query", "/", "GET", cookie, "gzip"],
    ["a query without a cookie", "/?q=1", "GET", { "accept-encoding": "gzip" }, "gzip"],
    ["a token", "/?q=1", "GET", { authorization: "Bearer x", "accept-encoding": "gzip" }, "gzip"],
  ])("%s", async (_, path, method, headers, coding) => {
    const url = await inFrontOf(json)
    const received = await receive(`${url}${path}`, headers, method)
    expect(received.headers["content-encoding"]).toBe(coding)
    expect(received.headers["vary"]).toBe("Accept-Encoding")
  })

  test("`cross-site` compresses all the same", async () => {
    const url = await inFrontOf(json, { crossSite: true })
    const { headers } = await receive(`${url}/?q=1`, cookie)
    expect(headers["content-encoding"]).toBe("gzip")
  })
})

test("what the gateway responds itself is compressed as well", async () => {
  const url = await inFrontOf(
    json,
    { bytesMin: 0 },
    { kind: "respond", status: 418, headers: [], media: "text/plain", body: { text: "teapot ".repeat(300) } },
  )
  const { status, headers, body } = await receive(url, { "accept-encoding": "gzip" })
  expect([status, headers["content-encoding"]]).toEqual([418, "gzip"])
  expect(gunzipSync(body).toString()).toBe("teapot ".repeat(300))
})

test("a stream arrives piece by piece", async () => {
  const send: (() => void)[] = []
  const url = await inFrontOf((_, response) => {
    response.writeHead(200, { "content-type": "text/plain" })
    response.write("first\n")
    send.push(() => response.end("last\n"))
  })
  const request = httpRequest(url, { headers: { "accept-encoding": "gzip" } }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(response.headers["content-encoding"]).toBe("gzip")
  const decoded = response.pipe(createGunzip())
  const [first] = (await once(decoded, "data")) as [Buffer]
  expect(first.toString()).toBe("first\n")
  send[0]?.()
  const [last] = (await once(decoded, "data")) as [Buffer]
  expect(last.toString()).toBe("last\n")
  await once(decoded, "end")
})

test("a large body that its client reads slowly waits at the backend", async () => {
  const piece = Buffer.from(Array.from({ length: 65_536 }, () => Math.floor(Math.random() * 256)))
  const pieces = 600
  let written = 0
  const url = await inFrontOf(async (_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": piece.length * pieces })
    for (; written < pieces; written++) if (!response.write(piece)) await once(response, "drain")
    response.end()
  })
  const request = httpRequest(url, { headers: { "accept-encoding": "gzip" } }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  await expect
    .poll(async () => {
      const before = written
      await new Promise((resolve) => setTimeout(resolve, 300))
      return before > 0 && before === written
    })
    .toBe(true)
  expect(written).toBeLessThan(pieces)
  let size = 0
  for await (const chunk of response.pipe(createGunzip())) size += (chunk as Buffer).length
  expect(size).toBe(piece.length * pieces)
})

test("a response that breaks off is not complete for its client", async () => {
  const url = await inFrontOf((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": 1_000_000 })
    response.write(long, () => response.destroy())
  })
  await expect(receive(url, { "accept-encoding": "gzip" })).rejects.toThrow(/aborted|hang up/)
})
