import { randomId } from "../../tracing/random-ids.ts"
import type { RecordedPart, RequestTrace } from "../../tracing/request-trace.ts"
import type { Attributes } from "../../tracing/span.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { methodName, originalMethod } from "../exchange/request-span.ts"
import type { Target } from "./target.ts"

/** The span of one request to one target, with the attributes of OpenTelemetry's conventions for HTTP clients. */
export class AttemptSpan implements RecordedPart {
  readonly spanId = randomId(8)
  readonly started = performance.now()
  readonly kind = "client"
  ended: number | undefined
  status: number | undefined
  /** Why there is no complete response. */
  failure: string | undefined
  readonly #method: string
  readonly #backend: string | undefined
  readonly #target: Target
  readonly #path: string | undefined
  readonly #attempt: number

  /** `attempt`: 1 for the first one of a request. */
  constructor(exchange: ExchangeState, target: Target, attempt: number) {
    this.#method = exchange.sentMethod ?? exchange.method
    this.#backend = exchange.backend?.name
    this.#target = target
    this.#path = exchange.targetPath
    this.#attempt = attempt
  }

  get spanName(): string {
    return methodName(this.#method)
  }

  get error(): string | undefined {
    return this.status !== undefined && this.status >= 400 ? String(this.status) : this.failure
  }

  end(): void {
    this.ended = performance.now()
  }

  attributes(): Attributes {
    const { origin } = this.#target.place
    const { hostname, port, protocol } = new URL(origin)
    return [
      ...["http.request.method", methodName(this.#method)],
      ...["http.request.method_original", originalMethod(this.#method)],
      ...["server.address", hostname.replace(/^\[|\]$/g, "")],
      ...["server.port", port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)],
      // Without a path where a step wrote it, since its text may contain a secret; never with a query.
      ...["url.full", origin + (this.#path ?? "")],
      ...["http.response.status_code", this.status],
      ...["error.type", this.error],
      ...["http.request.resend_count", this.#attempt > 1 ? this.#attempt - 1 : undefined],
      ...["sallyport.backend", this.#backend],
    ]
  }
}

/** Puts the trace into the fields of a request to a target, and records the attempt if the request is recorded. */
export function traceAttempt(
  exchange: ExchangeState,
  trace: RequestTrace,
  target: Target,
  fields: string[],
): AttemptSpan | undefined {
  if (!trace.recording) {
    setTraceparent(fields, trace.traceparent())
    return undefined
  }
  const span = new AttemptSpan(exchange, target, trace.size)
  setTraceparent(fields, trace.traceparent(span.spanId))
  trace.add(span)
  return span
}

/** Replaces the field in place, or adds it. Names are in lower case and alternate with values. */
export function setTraceparent(fields: string[], value: string): void {
  for (let at = 0; at < fields.length; at += 2)
    if (fields[at] === "traceparent") {
      fields[at + 1] = value
      return
    }
  fields.push("traceparent", value)
}
