import { createServer, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { isDeepStrictEqual } from "node:util"

/** A span as the receiver shows it: attributes by name, ids as sent. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly name: string
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number
  readonly flags: number
  readonly durationMs: number
  readonly startMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code?: number; readonly message?: string } | undefined
}

/** A metric as sent. */
export interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly gauge?: { readonly dataPoints: readonly ReceivedPoint[] }
  readonly sum?: ReceivedSums & { readonly isMonotonic: boolean }
  readonly histogram?: ReceivedSums
}

interface ReceivedSums {
  /** 1: delta, 2: cumulative. */
  readonly aggregationTemporality: number
  readonly dataPoints: readonly ReceivedPoint[]
}

export interface ReceivedPoint {
  readonly attributes?: readonly WireAttribute[]
  readonly startTimeUnixNano?: string
  readonly timeUnixNano: string
  readonly asDouble?: number
  readonly count?: string
  readonly sum?: number
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
  readonly exemplars?: readonly {
    readonly traceId: string
    readonly spanId: string
    readonly asDouble: number
  }[]
}

/** A collector that reads OTLP with the published protobuf messages. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly spans: ReceivedSpan[]
  /** The metrics of each request, by name. */
  readonly metrics: ReadonlyMap<string, ReceivedMetric>[]
  readonly resources: Readonly<Record<string, unknown>>[]
  readonly headers: NodeJS.Dict<string | string[]>[]
  /** Requests whose body is not an `ExportTraceServiceRequest`, with the reason. */
  readonly faults: string[]
  close(): Promise<void>
}

/** Replaces the response to a request; true: it has responded. */
export type Responding = (response: ServerResponse, count: number) => boolean

interface Message {
  fromObject(json: object): object
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): object
  toObject(message: object, options: object): object
}

const messages = createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root")
  .opentelemetry.proto
const traceMessage: Message = messages.collector.trace.v1.ExportTraceServiceRequest
const metricMessage: Message = messages.collector.metrics.v1.ExportMetricsServiceRequest

interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly flags: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WireAttribute[]
  readonly status?: { readonly code?: number; readonly message?: string }
}

interface WireAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

interface WireMetrics {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] }
    readonly scopeMetrics: readonly { readonly metrics: readonly ReceivedMetric[] }[]
  }[]
}

/** Starts a receiver. `respond` may replace its responses. */
export async function startReceiver(respond: Responding = () => false, port = 0): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const metrics: ReadonlyMap<string, ReceivedMetric>[] = []
  const resources: Record<string, unknown>[] = []
  const headers: NodeJS.Dict<string | string[]>[] = []
  const faults: string[] = []
  let count = 0
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on("end", () => {
      count += 1
      if (respond(response, count)) return
      headers.push(request.headers)
      try {
        if (request.method !== "POST") throw new Error(`${request.method}`)
        if (request.url === "/v1/metrics")
          for (const { resource, scopeMetrics } of decoded<WireMetrics>(metricMessage, body)
            .resourceMetrics) {
            resources.push(valuesOf(resource.attributes))
            const all = scopeMetrics.flatMap((scope) => scope.metrics)
            metrics.push(new Map(all.map((metric) => [metric.name, metric])))
          }
        else if (request.url === "/v1/traces")
          for (const { resource, scopeSpans } of decoded<WireRequest>(traceMessage, body).resourceSpans) {
            resources.push(valuesOf(resource.attributes))
            spans.push(...scopeSpans.flatMap((scope) => scope.spans.map(shownSpan)))
          }
        else throw new Error(`${request.url}`)
      } catch (error) {
        faults.push(String(error))
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  const bound = (server.address() as AddressInfo).port
  return {
    ...{ url: `http://127.0.0.1:${bound}`, port: bound, spans, metrics, resources, headers, faults },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Reads a body, encodes it as protobuf and back: what the messages do not have would be lost on the way. */
function decoded<Wire>(message: Message, body: string): Wire {
  const json = JSON.parse(body)
  const read = message.decode(message.encode(message.fromObject(withBytes(json))).finish())
  const back = message.toObject(read, { longs: String, bytes: String })
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(back)), withBytes(json)))
    throw new Error(`the body has members that the messages do not have: ${body}`)
  return json
}

/** JSON of OTLP writes ids in hexadecimal, JSON of protobuf in Base64. */
function withBytes(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (key, inner) => {
    if (!["traceId", "spanId", "parentSpanId"].includes(key)) return inner
    if (!/^([0-9a-f]{16}){1,2}$/.test(inner)) throw new Error(`${key}: ${inner}`)
    return Buffer.from(inner, "hex").toString("base64")
  })
}

function shownSpan(span: WireSpan): ReceivedSpan {
  const { traceId, spanId, parentSpanId, traceState, name, kind, flags, status } = span
  const [startMs, endMs] = [Number(span.startTimeUnixNano) / 1e6, Number(span.endTimeUnixNano) / 1e6]
  return {
    ...{ traceId, spanId, parentSpanId, traceState, name, kind, flags, status },
    ...{ startMs, durationMs: endMs - startMs, attributes: valuesOf(span.attributes) },
  }
}

function valuesOf(attributes: readonly WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      "intValue" in value ? Number(value["intValue"]) : Object.values(value)[0],
    ]),
  )
}
