import {
  flagAttribute,
  lastKept,
  serverAttributes,
  textAttribute,
  wholeAttribute,
} from "../../tracing/attributes.ts"
import { randomId } from "../../tracing/random-ids.ts"
import type { RecordedPart, RequestTrace } from "../../tracing/request-trace.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { grpcError, grpcStatusIn } from "../exchange/grpc.ts"
import { methodAttributes, methodName, rpcAttributes, rpcName } from "../exchange/request-span.ts"
import type { Target } from "./target.ts"

/** A copy of a request, for another backend. */
interface SpannedCopy {
  readonly backend: string
  /** As it may be logged. */
  readonly path: string | undefined
}

/** The span of one request to one target, with the attributes of OpenTelemetry's conventions for HTTP clients. */
export class AttemptSpan implements RecordedPart {
  readonly spanId = randomId(8)
  readonly parentSpanId: string | undefined
  readonly started = performance.now()
  readonly kind = "client"
  ended: number | undefined
  #status: number | undefined
  #grpcStatus: number | undefined
  /** Why there is no complete response. */
  failure: string | undefined
  readonly #exchange: ExchangeState
  readonly #method: string
  readonly #backend: string | undefined
  readonly #target: Target
  readonly #path: string | undefined
  readonly #attempt: number

  readonly #isCopy: boolean

  /** `attempt`: 1 for the first one of a request. `copy`: it is a copy of the request. */
  constructor(exchange: ExchangeState, target: Target, attempt: number, copy?: SpannedCopy) {
    this.#isCopy = copy !== undefined
    this.parentSpanId = copy === undefined ? exchange.trace?.open?.spanId : undefined
    this.#method = exchange.sentMethod ?? exchange.method
    this.#exchange = exchange
    this.#backend = copy === undefined ? exchange.backend?.name : copy.backend
    this.#target = target
    this.#path = copy === undefined ? exchange.targetPath : copy.path
    this.#attempt = attempt
  }

  get spanName(): string {
    return (this.#exchange.isGrpc ? rpcName(this.#path) : undefined) ?? methodName(this.#method)
  }

  get error(): string | undefined {
    if (this.#status !== undefined && this.#status >= 400) return String(this.#status)
    return this.failure ?? (this.#grpcStatus ? grpcError(this.#grpcStatus) : undefined)
  }

  /** The head of the response has arrived. It may be the whole response of gRPC. */
  headed(status: number, fields: readonly string[]): void {
    this.#status = status
    this.trailed(fields)
  }

  /** Reads the outcome of a call of gRPC. Names and values alternate. */
  trailed(fields: readonly string[]): void {
    if (!this.#exchange.isGrpc) return
    this.#grpcStatus = grpcStatusIn(fields) ?? this.#grpcStatus
  }

  end(): void {
    this.ended = performance.now()
  }

  attributes(): string {
    const error = this.error
    return (
      methodAttributes(this.#method) +
      targetAttributes(this.#target) +
      // Without a path where a step wrote it, since its text may contain a secret; never with a query.
      urlFull(this.#target.place.origin + (this.#path ?? "")) +
      responseStatus(this.#status) +
      (error === undefined ? "" : errorKind(error)) +
      (this.#attempt > 1 ? resendCount(this.#attempt - 1) : "") +
      backendName(this.#backend) +
      (this.#isCopy ? mirrorMark(true) : "") +
      (this.#exchange.isGrpc ? rpcAttributes(this.#path ?? "", this.#grpcStatus) : "")
    )
  }
}

const urlFull = textAttribute("url.full")
const responseStatus = lastKept(wholeAttribute("http.response.status_code"))
const errorKind = textAttribute("error.type")
const resendCount = wholeAttribute("http.request.resend_count")
const mirrorMark = flagAttribute("sallyport.mirror")
const backendName = lastKept(textAttribute("sallyport.backend"))

/** The attributes that every request to a target has. */
const targetTexts = new WeakMap<Target, string>()

function targetAttributes(target: Target): string {
  let text = targetTexts.get(target)
  if (text === undefined) {
    text = serverAttributes(new URL(target.place.origin))
    targetTexts.set(target, text)
  }
  return text
}

/** Puts the trace into the fields of a request to a target, and records the attempt if the request is recorded. */
export function traceAttempt(
  exchange: ExchangeState,
  trace: RequestTrace,
  target: Target,
  fields: string[],
  copy?: SpannedCopy,
): AttemptSpan | undefined {
  if (!trace.recording) {
    setTraceparent(fields, trace.traceparent())
    return undefined
  }
  if (copy === undefined) exchange.attempts += 1
  const span = new AttemptSpan(exchange, target, copy === undefined ? exchange.attempts : 1, copy)
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
