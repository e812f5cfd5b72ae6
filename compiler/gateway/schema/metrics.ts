import type { StatementRow } from "./row.ts"
import { slot } from "./row.ts"
import { collectorHeader, collectorTls } from "./tracing.ts"

export const metrics: StatementRow = {
  keyword: "metrics",
  forms: [{ args: [], block: "metrics", blockRequired: true }],
  byDefault: "metrics are only served at `/metrics` of the control listener",
  docs: "Sends the metrics of every process to a collector of OpenTelemetry by OTLP, in addition to the page for Prometheus. A collector that is slow or unavailable never delays a request.",
  example: 'metrics { otlp "http://collector:4318"; every 30s }',
}

export const metricsRows: readonly StatementRow[] = [
  {
    keyword: "otlp",
    required: true,
    forms: [{ args: [slot("url", "url")] }],
    docs: "Base URL of the collector; `/v1/metrics` is added.",
    example: 'otlp "http://collector:4318"',
  },
  collectorHeader,
  {
    keyword: "every",
    forms: [
      {
        args: [
          slot("interval", "duration", { min: 1000, max: 3_600_000, setting: "gateway.metrics.everyMs" }),
        ],
      },
    ],
    byDefault: "60s",
    docs: "The time between two exports.",
    example: "every 30s",
  },
  {
    keyword: "delta",
    forms: [{ args: [] }],
    byDefault: "counters and histograms are sums since the start of the process",
    docs: "Sends what was counted since the last export that the collector accepted, for services that do not compute differences (OpenTelemetry's delta temporality).",
    example: "delta",
  },
  collectorTls,
]
