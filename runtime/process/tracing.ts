import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { OpenTracer, TracerSettings } from "../gateway/generation/tracer-of-plan.ts"
import type { HttpClient } from "../http/client/http-client.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { firstAttribute, textAttribute, wholeAttribute } from "../tracing/attributes.ts"
import { type ExportCounts, SpanExporter } from "../tracing/span-exporter.ts"
import { type ContextCounts, Tracer } from "../tracing/tracer.ts"

/** Opens the tracers of a process, and counts what all of them do. */
export class Tracing {
  readonly #counts: ExportCounts & ContextCounts = {
    exported: 0,
    queued: 0,
    dropped: { "queue-full": 0, rejected: 0, undelivered: 0, shutdown: 0 },
    posts: { delivered: 0, rejected: 0, failed: 0 },
    invalid: { traceparent: 0, tracestate: 0, baggage: 0 },
  }
  readonly #exporters = new Set<SpanExporter>()
  /** Tells the processes of a service apart (`service.instance.id`). */
  readonly #instance = randomUUID()
  readonly #parts: { readonly http: HttpClient; readonly log: Log; readonly version: string }

  constructor(
    parts: { readonly http: HttpClient; readonly log: Log; readonly version: string },
    metrics: Metrics,
  ) {
    this.#parts = parts
    addTracingMetrics(metrics, this.#counts)
  }

  /** Opens a tracer for a plan. */
  readonly open: OpenTracer = (settings) => {
    const { http, log, version } = this.#parts
    const { url, headers, ca, insecure, rules } = settings
    const exporter = new SpanExporter(
      {
        ...{ url: `${url.replace(/\/$/, "")}/v1/traces`, headers, version },
        ...(ca === undefined && !insecure ? {} : { trust: { ca, insecure } }),
        resource: this.#resourceOf(settings),
      },
      {
        ...{ http, counts: this.#counts },
        onChange: (reason) =>
          reason === undefined
            ? log.info({ collector: url }, "the collector accepts traces again")
            : log.warn({ collector: url, reason }, "the collector does not accept traces"),
      },
    )
    this.#exporters.add(exporter)
    return {
      value: new Tracer(rules, exporter, this.#counts),
      close: () => void exporter.close().then(() => this.#exporters.delete(exporter)),
    }
  }

  /** Sends what waits, for at most three seconds. */
  async close(): Promise<void> {
    await Promise.all([...this.#exporters].map((exporter) => exporter.close()))
  }

  #resourceOf({ service }: TracerSettings): string {
    const { version } = this.#parts
    const attributes =
      firstAttribute("service.name")(service) +
      textAttribute("service.version")(version) +
      textAttribute("service.instance.id")(this.#instance) +
      textAttribute("host.name")(hostname()) +
      wholeAttribute("process.pid")(process.pid) +
      textAttribute("telemetry.sdk.name")("sallyport") +
      textAttribute("telemetry.sdk.language")("nodejs") +
      textAttribute("telemetry.sdk.version")(version)
    return `{"attributes":[${attributes}]}`
  }
}

function addTracingMetrics(metrics: Metrics, counts: ExportCounts & ContextCounts): void {
  const { dropped, posts, invalid } = counts
  const byName = (values: object) => () =>
    Object.entries(values).map(([name, value]) => [[name], value as number] as const)
  metrics.observableCounter(
    "sallyport_spans_exported_total",
    "Spans that the collector accepted.",
    [],
    () => [[[], counts.exported]],
  )
  metrics.observableCounter(
    "sallyport_spans_dropped_total",
    "Spans that were not delivered, by reason.",
    ["reason"],
    byName(dropped),
  )
  metrics.gauge("sallyport_spans_queued", "Spans that wait to be sent.", [], () => [[[], counts.queued]])
  metrics.observableCounter(
    "sallyport_span_exports_total",
    "Requests to the collector, by outcome.",
    ["outcome"],
    byName(posts),
  )
  metrics.observableCounter(
    "sallyport_trace_fields_invalid_total",
    "Trace fields of callers that were ignored because they are not valid.",
    ["field"],
    byName(invalid),
  )
}
