import { afterEach, expect, test } from "vitest"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { MetricExporter } from "../../runtime/tracing/metric-exporter.ts"
import { freePort } from "../support/free-port.ts"
import { type Responding, startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const span = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }
const startedMs = 1_700_000_000_000

function ofAll() {
  const metrics = new Metrics()
  const requests = metrics.counter("requests_total", "Requests.", ["route", "empty"])
  const times = metrics.histogram("duration_seconds", "Times.", ["api"], [0.1, 1])
  metrics.gauge("memory_bytes", "Memory.", [], () => [[[], 4096]])
  metrics.gauge("absent", "No values.", [], () => [[[], Number.NaN]])
  return { metrics, requests: requests.series('a"\\\n', ""), times: times.series("shop") }
}

async function open(url: string, metrics: Metrics, { delta = false, everyMs = 60_000 } = {}) {
  const http = new HttpClient()
  const counts = { delivered: 0, rejected: 0, failed: 0 }
  const troubles: (string | undefined)[] = []
  const exporter = new MetricExporter(
    {
      ...{ url: `${url}/v1/metrics`, headers: ["x-key", "k1"], everyMs, delta, startedMs },
      ...{
        resource: '{"attributes":[]}'.replace("[]", '[{"key":"service.name","value":{"stringValue":"t"}}]'),
      },
      version: "1",
    },
    { http, read: async () => metrics.read(), counts, onChange: (trouble) => troubles.push(trouble) },
  )
  closers.push(() => http.close())
  return { exporter, counts, troubles }
}

async function receiving(respond?: Responding, port?: number) {
  const receiver = await startReceiver(respond, port)
  closers.push(() => receiver.close())
  return receiver
}

test("metrics arrive in the published form, with exemplars", async () => {
  const [receiver, { metrics, requests, times }] = [await receiving(), ofAll()]
  requests.add(3)
  for (const value of [0.05, 0.5, 0.6]) times.observe(value)
  times.observe(7, span)
  const { exporter, counts } = await open(receiver.url, metrics)
  await exporter.close()
  expect(receiver.faults).toEqual([])
  const [sent] = receiver.metrics
  expect([...(sent?.keys() ?? [])]).toEqual(["requests_total", "duration_seconds", "memory_bytes"])
  expect(sent?.get("requests_total")?.sum).toEqual({
    ...{ aggregationTemporality: 2, isMonotonic: true },
    dataPoints: [
      {
        attributes: [{ key: "route", value: { stringValue: 'a"\\\n' } }],
        ...{ startTimeUnixNano: `${startedMs}000000`, timeUnixNano: expect.any(String), asDouble: 3 },
      },
    ],
  })
  expect(sent?.get("duration_seconds")).toMatchObject({ unit: "s", histogram: { aggregationTemporality: 2 } })
  expect(sent?.get("duration_seconds")?.histogram?.dataPoints).toMatchObject([
    {
      attributes: [{ key: "api", value: { stringValue: "shop" } }],
      ...{ count: "4", sum: 8.15, bucketCounts: ["1", "2", "1"], explicitBounds: [0.1, 1] },
      exemplars: [{ ...span, asDouble: 7 }],
    },
  ])
  expect(sent?.get("memory_bytes")).toMatchObject({ unit: "By", gauge: { dataPoints: [{ asDouble: 4096 }] } })
  expect(receiver.headers[0]).toMatchObject({ "x-key": "k1", "content-type": "application/json" })
  expect(counts).toEqual({ delivered: 1, rejected: 0, failed: 0 })
})

test("differences begin at the last export that was accepted", async () => {
  const [receiver, { metrics, requests, times }] = [
    await receiving((response, count) => {
      if (count === 2) response.writeHead(503).end()
      return count === 2
    }),
    ofAll(),
  ]
  const { exporter, counts } = await open(receiver.url, metrics, { delta: true, everyMs: 50 })
  requests.add(3)
  await until(() => counts.delivered >= 1)
  requests.add(2)
  times.observe(0.5)
  await until(() => counts.failed >= 1)
  await until(() => counts.delivered >= 2)
  await exporter.close()
  const valuesOf = (at: number) =>
    receiver.metrics.map((sent) => sent.get("requests_total")?.sum?.dataPoints[at]?.asDouble ?? 0)
  expect(valuesOf(0).reduce((sum, value) => sum + value, 0)).toBe(5)
  const counted = receiver.metrics.map((sent) => sent.get("duration_seconds")?.histogram?.dataPoints[0])
  expect(counted.reduce((sum, point) => sum + Number(point?.count ?? 0), 0)).toBe(1)
  const [first, second] = receiver.metrics.map((sent) => sent.get("requests_total")?.sum?.dataPoints[0])
  expect(second?.startTimeUnixNano).toBe(first?.timeUnixNano)
  expect(receiver.metrics[0]?.get("requests_total")?.sum?.aggregationTemporality).toBe(1)
})

test("a collector that is away has one line in the log, and gets everything when it is back", async () => {
  const [port, { metrics, requests }] = [await freePort(), ofAll()]
  const { exporter, counts, troubles } = await open(`http://127.0.0.1:${port}`, metrics, { everyMs: 20 })
  requests.add(3)
  await until(() => counts.failed >= 3)
  const receiver = await receiving(undefined, port)
  await until(() => counts.delivered >= 1)
  await exporter.close()
  expect(receiver.metrics[0]?.get("requests_total")?.sum?.dataPoints[0]?.asDouble).toBe(3)
  expect(troubles).toEqual([expect.stringContaining("ECONNREFUSED"), undefined])
})

test("the pause that a collector asks for is kept", async () => {
  const receiver = await receiving((response) => {
    response.writeHead(429, { "retry-after": "60" }).end()
    return true
  })
  const { exporter, counts, troubles } = await open(receiver.url, ofAll().metrics, { everyMs: 10 })
  await until(() => counts.failed === 1)
  const other = await open(receiver.url, ofAll().metrics, { everyMs: 10 })
  await until(() => other.counts.failed === 1)
  // The end is the only reason to send again.
  await exporter.close()
  expect(counts).toEqual({ delivered: 0, rejected: 0, failed: 2 })
  expect(troubles).toEqual(["it responded with 429"])
  await other.exporter.close()
})

test("values that the collector refuses are in the log", async () => {
  const receiver = await receiving((response) => {
    const partialSuccess = { rejectedDataPoints: "2", errorMessage: "too old" }
    response.writeHead(200).end(JSON.stringify({ partialSuccess }))
    return true
  })
  const { exporter, troubles } = await open(receiver.url, ofAll().metrics)
  await exporter.close()
  expect(troubles).toEqual(["it refused 2 values: too old"])
})
