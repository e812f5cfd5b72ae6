import { createServer } from "node:net"
import { afterEach, expect, test } from "vitest"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import {
  firstAttribute,
  flagAttribute,
  textAttribute,
  wholeAttribute,
} from "../../runtime/tracing/attributes.ts"
import { spanJson } from "../../runtime/tracing/span.ts"
import { type ExportCounts, SpanExporter } from "../../runtime/tracing/span-exporter.ts"
import { freePort } from "../support/free-port.ts"
import { type Receiver, type Responding, startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A span whose name is unusual text. */
function span(name = 'a"b\\\u0000 é'): string {
  return spanJson({
    ...{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", parentSpanId: undefined },
    ...{ hasRemoteParent: false, sampled: true, traceState: undefined, name, kind: "server" },
    ...{ startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_001.5, error: undefined },
    attributes:
      firstAttribute("text")("x".repeat(2_000)) +
      wholeAttribute("count")(3) +
      flagAttribute("yes")(true) +
      textAttribute("left out")(undefined),
  })
}

function open(url: string, timeouts: { pauseMs?: number } = { pauseMs: 1 }) {
  const http = new HttpClient()
  const counts: ExportCounts = {
    exported: 0,
    queued: 0,
    dropped: { "queue-full": 0, rejected: 0, undelivered: 0, shutdown: 0 },
    posts: { delivered: 0, rejected: 0, failed: 0 },
  }
  const troubles: (string | undefined)[] = []
  const resource = `{"attributes":[${firstAttribute("service.name")("test")}]}`
  const exporter = new SpanExporter(
    { url: `${url}/v1/traces`, headers: ["x-key", "k1"], resource, version: "1" },
    { http, counts, onChange: (trouble) => troubles.push(trouble), ...timeouts },
  )
  closers.push(() => http.close())
  return { exporter, counts, troubles }
}

async function receiving(respond?: Responding, port?: number): Promise<Receiver> {
  const receiver = await startReceiver(respond, port)
  closers.push(() => receiver.close())
  return receiver
}

test("spans arrive in the published form, with the resource and the headers", async () => {
  const receiver = await receiving()
  const { exporter, counts } = open(receiver.url)
  exporter.add(`${span()},${span("second")}`, 2)
  expect(counts.queued).toBe(2)
  await exporter.close()
  expect(receiver.faults).toEqual([])
  expect(receiver.spans.map(({ name }) => name)).toEqual(['a"b\\\u0000 é', "second"])
  const [first] = receiver.spans
  expect(first).toMatchObject({ kind: 2, flags: 0x101, startMs: 1_700_000_000_000.25, durationMs: 1.25 })
  expect(first?.attributes).toEqual({ text: "x".repeat(1_024), count: 3, yes: true })
  expect(receiver.resources).toEqual([{ "service.name": "test" }])
  expect(receiver.headers[0]).toMatchObject({ "x-key": "k1", "content-type": "application/json" })
  expect(counts).toMatchObject({ exported: 2, queued: 0 })
})

test("a full batch is sent at once, a part of one within seconds", async () => {
  const receiver = await receiving()
  const { exporter, counts } = open(receiver.url)
  for (let count = 0; count < 600; count++) exporter.add(span(), 1)
  await until(() => receiver.spans.length >= 512)
  exporter.add(span("late"), 1)
  await until(() => receiver.spans.some(({ name }) => name === "late"))
  await until(() => counts.exported === 601)
  await exporter.close()
})

test("a collector that is away gets the spans when it is back, and the log has two lines", async () => {
  const port = await freePort()
  const { exporter, counts, troubles } = open(`http://127.0.0.1:${port}`, { pauseMs: 20 })
  for (let count = 0; count < 512; count++) exporter.add(span(), 1)
  await until(() => counts.posts.failed >= 2)
  const receiver = await receiving(undefined, port)
  await until(() => counts.exported === 512)
  expect(receiver.spans.length).toBe(512)
  expect(troubles).toEqual([expect.stringContaining("ECONNREFUSED"), undefined])
  await exporter.close()
})

test("after eight attempts a batch is dropped and counted", async () => {
  const { exporter, counts } = open(`http://127.0.0.1:${await freePort()}`)
  for (let count = 0; count < 512; count++) exporter.add(span(), 1)
  await until(() => counts.dropped.undelivered === 512)
  expect(counts.posts.failed).toBe(8)
  expect(counts.queued).toBe(0)
  await exporter.close()
})

test.each([429, 502, 503, 504])("%i is repeated", async (status) => {
  const receiver = await receiving((response, count) => {
    if (count < 3) response.writeHead(status).end()
    return count < 3
  })
  const { exporter, counts } = open(receiver.url)
  for (let count = 0; count < 512; count++) exporter.add(span(), 1)
  await until(() => counts.exported === 512)
  expect(counts.posts).toEqual({ delivered: 1, rejected: 0, failed: 2 })
  await exporter.close()
})

test.each([301, 400, 401, 404, 500])("%i is not repeated", async (status) => {
  const receiver = await receiving((response) => {
    response.writeHead(status).end("<html>")
    return true
  })
  const { exporter, counts, troubles } = open(receiver.url)
  exporter.add(span(), 1)
  await exporter.close()
  expect(counts.dropped.rejected).toBe(1)
  expect(troubles).toEqual([`it responded with ${status}`])
})

test("spans that the collector refuses of a batch are counted", async () => {
  const receiver = await receiving((response) => {
    const partialSuccess = { rejectedSpans: "2", errorMessage: "too old" }
    response.writeHead(200).end(JSON.stringify({ partialSuccess }))
    return true
  })
  const { exporter, counts, troubles } = open(receiver.url)
  exporter.add(`${span()},${span()},${span()}`, 3)
  await exporter.close()
  expect(counts).toMatchObject({ exported: 1, dropped: { rejected: 2 } })
  expect(troubles).toEqual(["it refused 2 of 3 spans: too old"])
})

test.each([
  ["a body that is not JSON", "<html>"],
  ["JSON of another form", "[1]"],
  ["null", "null"],
])("200 with %s counts as accepted", async (_, body) => {
  const receiver = await receiving((response) => {
    response.writeHead(200).end(body)
    return true
  })
  const { exporter, counts } = open(receiver.url)
  exporter.add(span(), 1)
  await exporter.close()
  expect(counts).toMatchObject({ exported: 1, posts: { delivered: 1 } })
})

test("bytes that are not HTTP are a failure", async () => {
  const server = createServer((socket) =>
    socket
      .on("error", () => undefined)
      .resume()
      .end("\u0000garbage\r\n\r\n"),
  )
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  const { exporter, counts } = open(`http://127.0.0.1:${port}`)
  exporter.add(span(), 1)
  await exporter.close()
  expect(counts).toMatchObject({ exported: 0, dropped: { shutdown: 1 }, posts: { failed: 1 } })
})

test("a full queue drops new spans, and counts them", async () => {
  const { exporter, counts } = open(`http://127.0.0.1:${await freePort()}`, { pauseMs: 60_000 })
  const large = span("x".repeat(100_000))
  const fitting = Math.floor(2 ** 24 / large.length)
  for (let count = 0; count < fitting + 300; count++) exporter.add(large, 1)
  expect(counts.dropped["queue-full"]).toBeGreaterThan(300)
  expect(counts.dropped["queue-full"]).toBeLessThan(400)
  expect(counts.dropped["queue-full"] + counts.queued).toBe(fitting + 300)
  await exporter.close()
  expect(counts.queued).toBe(0)
})

test("a collector that never responds delays the end by seconds, and the spans are counted as lost", async () => {
  const receiver = await receiving(() => true)
  const { exporter, counts } = open(receiver.url)
  exporter.add(span(), 1)
  await exporter.close()
  exporter.add(span(), 1)
  expect(counts).toMatchObject({ queued: 0, dropped: { shutdown: 2 } })
})
