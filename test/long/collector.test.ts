import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { Tracing } from "../../runtime/process/tracing.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { firstAttribute, wholeAttribute } from "../../runtime/tracing/attributes.ts"
import { MetricExporter } from "../../runtime/tracing/metric-exporter.ts"
import { spanJson } from "../../runtime/tracing/span.ts"
import { type ExportCounts, SpanExporter } from "../../runtime/tracing/span-exporter.ts"
import { compile } from "../compile.ts"
import { newGateway, startUpstream } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"
import { programPath } from "../support/program.ts"
import { until } from "../support/until.ts"

/** The collector: `OTELCOL_BIN`, else where `go install` puts it. */
const binary = process.env["OTELCOL_BIN"] || programPath("otelcol")
const missing = "no collector of OpenTelemetry: put `otelcol` into PATH, or set OTELCOL_BIN=/path/to/otelcol"

const span = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }
const resource = `{"attributes":[${firstAttribute("service.name")("edge")}]}`

function configOf(port: number): string {
  return JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: "detailed" } },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: {
        traces: { receivers: ["otlp"], exporters: ["debug"] },
        metrics: { receivers: ["otlp"], exporters: ["debug"] },
      },
    },
  })
}

/** A collector of OpenTelemetry with a receiver for OTLP and the exporter `debug`, which prints what it gets. */
describe("a real collector of OpenTelemetry", () => {
  if (binary === undefined) {
    test("needs its program", (context) => context.skip(missing))
    return
  }

  let collector: ChildProcess
  let url = ""
  let output = ""
  const folder = mkdtempSync(join(tmpdir(), "sallyport-otelcol-"))
  const http = new HttpClient()

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    writeFileSync(join(folder, "config.yaml"), configOf(port))
    collector = spawn(binary, ["--config", join(folder, "config.yaml")])
    for (const stream of [collector.stdout, collector.stderr])
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString()
      })
    await until(() => output.includes("Everything is ready"))
  })
  afterAll(async () => {
    const ended = once(collector, "close")
    collector.kill()
    await ended
    await http.close()
    rmSync(folder, { recursive: true })
  })

  test("takes spans as they are sent", async () => {
    const counts: ExportCounts = {
      ...{ exported: 0, queued: 0, posts: { delivered: 0, rejected: 0, failed: 0 } },
      dropped: { "queue-full": 0, rejected: 0, undelivered: 0, shutdown: 0 },
    }
    const exporter = new SpanExporter(
      { url: `${url}/v1/traces`, headers: [], resource, version: "1" },
      { http, counts, onChange: () => undefined },
    )
    const times = { startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_001.5 }
    const attributes =
      firstAttribute("http.request.method")("GET") + wholeAttribute("http.response.status_code")(503)
    exporter.add(
      spanJson({
        ...{ ...span, ...times, attributes, name: 'GET /"orders"', kind: "server", error: "bad-gateway" },
        ...{ parentSpanId: "00f067aa0ba902b8", hasRemoteParent: true, sampled: true, traceState: "a=b" },
      }),
      1,
    )
    await exporter.close()
    expect(counts).toMatchObject({ exported: 1, dropped: { rejected: 0 } })
    await until(() => output.includes('GET /"orders"'))
    for (const line of [span.traceId, span.spanId, "00f067aa0ba902b8", "2023-11-14 22:13:20.00025 +0000 UTC"])
      expect(output).toContain(line)
    expect(output).toMatch(/Kind\s+: Server/)
    expect(output).toMatch(/Status code\s+: Error/)
    expect(output).toContain("http.response.status_code: Int(503)")
    expect(output).toContain("service.name: Str(edge)")
  })

  test("takes metrics as they are sent, with exemplars", async () => {
    const metrics = new Metrics()
    metrics.counter("requests_total", "Requests.", ["route"]).series("GET /a").add(3)
    metrics.histogram("duration_seconds", "Times.", [], [0.1, 1]).series().observe(0.5, span)
    const counts = { delivered: 0, rejected: 0, failed: 0 }
    const exporter = new MetricExporter(
      {
        ...{ url: `${url}/v1/metrics`, headers: [], everyMs: 60_000, delta: false, resource, version: "1" },
        startedMs: Date.now() - 1000,
      },
      { http, read: async () => metrics.read(), counts, onChange: () => undefined },
    )
    await exporter.close()
    expect(counts.delivered).toBe(1)
    await until(() => output.includes("duration_seconds"))
    expect(output).toMatch(/Name: requests_total/)
    expect(output).toContain("AggregationTemporality: Cumulative")
    expect(output).toContain("IsMonotonic: true")
    expect(output).toMatch(/Exemplar #0\s+-> Trace ID: 4bf92f3577b34da6a3ce929d0e0e4736/)
  })

  test("takes what a gateway sends", async () => {
    const port = await freePort()
    const upstream = await startUpstream()
    const text = `gateway shop { listen 127.0.0.1:${port}; tracing { otlp "${url}"; sample 100% } }
      api orders { path "/orders"; auth none; backend "${upstream.url}"; GET "/{id}" }`
    const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
    if (plan === undefined) throw new Error(JSON.stringify(diagnostics))
    const tracing = new Tracing({ http, log: createLog({ level: "silent" }), version: "1" }, new Metrics())
    const gateway = newGateway({
      observer: { finished: () => undefined },
      openTracer: tracing.open,
      folder: process.cwd(),
    })
    await gateway.apply(plan)
    const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }
    await (await fetch(`http://127.0.0.1:${port}/orders/7`, { headers })).text()
    await gateway.close(1000)
    await tracing.close()
    await until(() => output.includes("GET /orders/{id}"))
    const whole = output.slice(output.lastIndexOf("ResourceSpans"))
    expect(whole).toMatch(/Trace ID\s+: 0af7651916cd43dd8448eb211c80319c\s+Parent ID\s+: b7ad6b7169203331/)
    expect(whole).toMatch(/Name\s+: GET\s+Kind\s+: Client/)
    expect(whole).toContain("http.route: Str(/orders/{id})")
    expect(whole).toContain("http.response.status_code: Int(200)")
    expect(whole).toContain("service.name: Str(shop)")
    await upstream.close()
  })
})
