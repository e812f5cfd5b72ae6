import { type AttributeText, quoted } from "./attributes.ts"

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
  readonly attributes: AttributeText
  /** Undefined: the status is unset. */
  readonly error: string | undefined
}

const kinds: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 }

/** `SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK` and `SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK` of OTLP. */
const knowsRemote = 0x100
const isRemote = 0x200

/** A span as JSON of OTLP. */
export function spanJson(span: EndedSpan): string {
  const { traceId, spanId, parentSpanId, traceState, error, attributes } = span
  const flags = (span.sampled ? 1 : 0) | knowsRemote | (span.hasRemoteParent ? isRemote : 0)
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"` +
    (parentSpanId === undefined ? "" : `,"parentSpanId":"${parentSpanId}"`) +
    (traceState === undefined ? "" : `,"traceState":${JSON.stringify(traceState)}`) +
    `,"flags":${flags},"kind":${kinds[span.kind]},"name":${quoted(span.name)}` +
    `,"startTimeUnixNano":"${nanoseconds(span.startMs)}","endTimeUnixNano":"${nanoseconds(span.endMs)}"` +
    (error === undefined ? "" : `,"status":{"code":2,"message":${quoted(error)}}`) +
    `,"attributes":[${attributes}]}`
  )
}

/** `000` to `999`. */
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"))
let lastSecond = 0
let lastSecondText = "0"

/**
 * Nanoseconds since the epoch. A double holds milliseconds since the epoch to less than a microsecond, so the last three digits are zero. A number of this
 * size is written in parts, because one that is no small integer takes five times as long.
 */
function nanoseconds(ms: number): string {
  let second = Math.floor(ms / 1000)
  let micros = Math.round((ms - second * 1000) * 1000)
  if (micros === 1_000_000) {
    second += 1
    micros = 0
  }
  if (second !== lastSecond) {
    lastSecond = second
    lastSecondText = String(second)
  }
  const milli = Math.floor(micros / 1000)
  return `${lastSecondText}${threeDigits[milli]}${threeDigits[micros - milli * 1000]}000`
}
