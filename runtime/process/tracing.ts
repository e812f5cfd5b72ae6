import type { OpenTracer, TracerSettings } from "../gateway/generation/tracer-of-plan.ts"
import type { HttpClient } from "../http/client/http-client.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { type ExportCounts, SpanExporter } from "../tracing/span-exporter.ts"
import { type ContextCounts, Tracer } from "../tracing/tracer.ts"
import { resourceOf } from "./otlp-resource.ts"

/** Opens the tracers of a process, and counts what all of them do. */
export class Tracing {
  readonly #counts: ExportCounts & ContextCounts = {
    exported: 0,
    queued: 0,
    dropped: { "queue-full": 0, rejected: 0, undelivered: 0, shutdown: 0 },
    posts: { delivered: 0, rejected: 0, failed: 0 },
    invalid: { traceparent: 0, tracestate: 0, baggage: 0 },
  }
  /** By their settings: the gateway and the engine of a process share one. */
  readonly #exporters = new Map<string, { readonly exporter: SpanExporter; holders: number }>()
  readonly #closing = new Set<SpanExporter>()
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
    const { rules, ...where } = settings
    const key = JSON.stringify(where)
    const held = this.#exporters.get(key) ?? { exporter: this.#exporterOf(settings), holders: 0 }
    this.#exporters.set(key, held)
    held.holders += 1
    const { exporter } = held
    const close = () => {
      held.holders -= 1
      if (held.holders > 0) return
      // The next plan with these settings begins a new one, while this one sends what waits.
      this.#exporters.delete(key)
      this.#closing.add(exporter)
      void exporter.close().then(() => this.#closing.delete(exporter))
    }
    return { value: new Tracer(rules, exporter, this.#counts), close }
  }

  /** Sends what waits, for at most three seconds. */
  async close(): Promise<void> {
    const open = [...this.#exporters.values()].map(({ exporter }) => exporter)
    await Promise.all([...open, ...this.#closing].map((exporter) => exporter.close()))
  }

  #exporterOf(settings: TracerSettings): SpanExporter {
    const { http, log, version } = this.#parts
    const { url, headers, ca, insecure } = settings
    return new SpanExporter(
      {
        ...{ url: `${url.replace(/\/$/, "")}/v1/traces`, headers, version },
        ...(ca === undefined && !insecure ? {} : { trust: { ca, insecure } }),
        resource: resourceOf(settings.service, version),
      },
      {
        ...{ http, counts: this.#counts },
        onChange: (reason) =>
          reason === undefined
            ? log.info({ collector: url }, "the collector accepts traces again")
            : log.warn({ collector: url, reason }, "the collector does not accept traces"),
      },
    )
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
