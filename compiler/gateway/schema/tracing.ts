import { many, type StatementRow, slot, word } from "./row.ts"

export const tracing: StatementRow = {
  keyword: "tracing",
  forms: [{ args: [], block: "tracing", blockRequired: true }],
  byDefault: "requests are not traced",
  docs: "Records requests as spans of OpenTelemetry, and sends them to a collector by OTLP over HTTP. A request has a span, and each attempt at a backend one below it. Backends get `traceparent`. A collector that is slow or unavailable never delays a request.",
  example: 'tracing { otlp "http://collector:4318"; sample 1%; always errors }',
}

/** Credentials for a collector of OpenTelemetry. */
export const collectorHeader: StatementRow = {
  keyword: "header",
  several: 20,
  forms: [
    {
      args: [slot("header", "header-name"), slot("value", "reference", { to: ["secret"], label: "SECRET" })],
    },
  ],
  byDefault: "no credentials",
  docs: "A header for the collector. The secret is its whole value.",
  example: 'header "Authorization" collector_token',
}

/** The certificate of a collector of OpenTelemetry. */
export const collectorTls: StatementRow = {
  keyword: "tls",
  forms: [{ args: [], block: "tls", blockRequired: true }],
  byDefault: "certificates are checked against the system's authorities",
  docs: "How the certificate of the collector is checked.",
  example: 'tls { ca file("certs/internal-ca.pem") }',
}

export const tracingRows: readonly StatementRow[] = [
  {
    keyword: "otlp",
    required: true,
    forms: [{ args: [slot("url", "url")] }],
    docs: "Base URL of the collector; `/v1/traces` is added.",
    example: 'otlp "http://collector:4318"',
  },
  collectorHeader,
  {
    keyword: "sample",
    several: true,
    forms: [
      { args: [slot("share", "percentage", { setting: "gateway.tracing.sample" })] },
      {
        args: [
          slot("share", "percentage"),
          word("of"),
          many(slot("api", "reference", { to: ["api"] }), 1000),
        ],
      },
    ],
    byDefault: "100%",
    docs: "The share of requests that are traced, drawn at random; with `of`, for these APIs instead of the general share. If the request comes from a proxy of `trust` with a `traceparent`, the flag in it decides. `traceparent` of other clients is continued, but its flag is ignored.",
    example: "sample 1%",
  },
  {
    keyword: "always",
    several: 2,
    forms: [
      { args: [word("errors")] },
      { args: [word("slower"), slot("time", "duration", { min: 1, max: 86_400_000 })] },
    ],
    byDefault: "only the share of `sample`",
    docs: "Traces requests in addition to `sample`, by how they end: with a status of 500 to 599, without a complete response, or, for gRPC, with a `grpc-status` that is a failure of the server: 2, 4 and 12 to 15 (`errors`), or after at least this time (`slower`). Such a trace has only the spans of the gateway, because backends got a `traceparent` that says `not sampled`.",
    example: "always errors",
  },
  collectorTls,
]
