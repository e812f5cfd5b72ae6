import type { AttributeText } from "./attributes.ts"
import { randomId } from "./random-ids.ts"
import { type SpanKind, spanJson } from "./span.ts"
import { formatTraceparent, type TraceParent } from "./trace-context.ts"

/** A part of a request that is recorded. It has ended when `ended` is set; both times are those of `performance.now()`. */
export interface RecordedPart {
  readonly spanId: string
  /** The part that it belongs to; undefined: the request itself. */
  readonly parentSpanId: string | undefined
  readonly started: number
  readonly ended: number | undefined
  readonly kind: SpanKind
  readonly spanName: string
  /** The text of the status; undefined: no error. */
  readonly error: string | undefined
  /** Read only when the trace is exported. */
  attributes(): AttributeText
}

/** What the span of the whole request contains. Times are those of `performance.now()`. */
export interface WholeRequest {
  readonly spanName: string
  /** Start by the wall clock in milliseconds, and at the same moment by `performance.now()`. */
  readonly startedAtMs: number
  readonly started: number
  readonly ended: number
  /** The text of the status; undefined: no error. */
  readonly error: string | undefined
  attributes(): AttributeText
}

/** The caller's context, as far as it is valid. Only this much of it reaches backends. */
export interface CallerContext {
  readonly parent: TraceParent | undefined
  readonly traceState: string | undefined
  readonly baggage: string | undefined
}

/** The context of a caller that sends none. */
export const noCaller: CallerContext = { parent: undefined, traceState: undefined, baggage: undefined }

/** Parts of one trace. Retries and calls of steps are bounded, so this is only for plans with very many of them. */
const partsMax = 128

/** The trace of one request. It is passed with the request, so nothing has to follow asynchronous calls. */
export class RequestTrace {
  readonly traceId: string
  /** The span of the request in this process. */
  readonly spanId: string
  /** The flag for other processes: they should record, too. */
  readonly sampled: boolean
  /** Parts are recorded: the trace is sampled, or a rule may still keep it at its end. */
  readonly recording: boolean
  /** The part to which the next ones belong: a step that may wait. Undefined: the request itself. */
  open: RecordedPart | undefined
  readonly #caller: CallerContext
  /** Made with the first part: most requests are not recorded. */
  #parts: RecordedPart[] | undefined

  constructor(caller: CallerContext, sampled: boolean, recording: boolean) {
    this.traceId = caller.parent?.traceId ?? randomId(16)
    this.spanId = randomId(8)
    this.sampled = sampled
    this.recording = recording
    this.#caller = caller
  }

  /** Adds a part, which ends later. */
  add(part: RecordedPart): void {
    this.#parts ??= []
    if (this.#parts.length < partsMax) this.#parts.push(part)
  }

  /** The `traceparent` of a request that this one causes; `spanId`: the part that sends it. */
  traceparent(spanId = this.spanId): string {
    return formatTraceparent({ traceId: this.traceId, spanId, sampled: this.sampled })
  }

  /** Number of spans that `json` contains. */
  get size(): number {
    return (this.#parts?.length ?? 0) + 1
  }

  /** All spans as JSON, separated by commas. A part that has not ended gets the end of the request. */
  json(whole: WholeRequest): string {
    const offsetMs = whole.startedAtMs - whole.started
    const { traceId, sampled } = this
    const { parent, traceState } = this.#caller
    let text = spanJson({
      traceId,
      spanId: this.spanId,
      parentSpanId: parent?.spanId,
      hasRemoteParent: parent !== undefined,
      sampled,
      traceState,
      name: whole.spanName,
      kind: "server",
      startMs: whole.startedAtMs,
      endMs: whole.ended + offsetMs,
      attributes: whole.attributes(),
      error: whole.error,
    })
    for (const part of this.#parts ?? [])
      text += `,${spanJson({
        traceId,
        spanId: part.spanId,
        parentSpanId: part.parentSpanId ?? this.spanId,
        hasRemoteParent: false,
        sampled,
        traceState,
        name: part.spanName,
        kind: part.kind,
        startMs: part.started + offsetMs,
        endMs: (part.ended ?? whole.ended) + offsetMs,
        attributes: part.attributes(),
        error: part.error,
      })}`
    return text
  }
}
