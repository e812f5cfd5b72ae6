/** Attributes as names and values that alternate. An undefined value is left out. */
export type Attributes = readonly (string | number | boolean | undefined)[]

/** Roles of a span (OpenTelemetry's `SpanKind`). */
export type SpanKind = "internal" | "server" | "client"

/** A span that has ended, with the names of OTLP (`opentelemetry.proto.trace.v1.Span`). */
export interface EndedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** The parent is in another process. */
  readonly hasRemoteParent: boolean
  /** The sampled flag that was passed on to other processes. */
  readonly sampled: boolean
  /** The caller's `tracestate`, if it is valid. */
  readonly traceState: string | undefined
  readonly name: string
  readonly kind: SpanKind
  /** Wall clock, in milliseconds since the epoch with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  /** Undefined: the status is unset. */
  readonly error: string | undefined
}

const kinds: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 }

/** Longest text of an attribute; longer ones are cut, so that a caller's fields cannot fill the queue. */
const charactersMax = 1_024

/** `SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK` and `SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK` of OTLP. */
const knowsRemote = 0x100
const isRemote = 0x200

/** A span as JSON of OTLP. The text is built directly: objects for `JSON.stringify` would cost twice the time. */
export function spanJson(span: EndedSpan): string {
  const { traceId, spanId, parentSpanId, traceState, error } = span
  const flags = (span.sampled ? 1 : 0) | knowsRemote | (span.hasRemoteParent ? isRemote : 0)
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"` +
    (parentSpanId === undefined ? "" : `,"parentSpanId":"${parentSpanId}"`) +
    (traceState === undefined ? "" : `,"traceState":${JSON.stringify(traceState)}`) +
    `,"flags":${flags},"name":${JSON.stringify(span.name)},"kind":${kinds[span.kind]}` +
    `,"startTimeUnixNano":"${nanoseconds(span.startMs)}","endTimeUnixNano":"${nanoseconds(span.endMs)}"` +
    `,"attributes":${attributesJson(span.attributes)}` +
    (error === undefined ? "}" : `,"status":{"code":2,"message":${JSON.stringify(error)}}}`)
  )
}

/** Attributes as a JSON list of OTLP's `KeyValue`. Whole numbers are `int64`, which JSON writes as a string. */
export function attributesJson(attributes: Attributes): string {
  let list = ""
  for (let at = 0; at < attributes.length; at += 2) {
    const value = attributes[at + 1]
    if (value === undefined) continue
    list += `${list === "" ? "" : ","}{"key":"${attributes[at] as string}","value":${valueJson(value)}}`
  }
  return `[${list}]`
}

function valueJson(value: string | number | boolean): string {
  if (typeof value === "string")
    return `{"stringValue":${JSON.stringify(value.length > charactersMax ? value.slice(0, charactersMax) : value)}}`
  if (typeof value === "boolean") return `{"boolValue":${value}}`
  return Number.isSafeInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`
}

/** A double holds milliseconds since the epoch to less than a microsecond, so the last three digits are zero. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`
}
