import {
  type AnswerReceiver,
  type Connections,
  type Sending,
  UpstreamError,
} from "../../http/client/connections.ts"
import type { RetryCause } from "../../plan/resources.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { HeaderList } from "../../policies/messages/header-list.ts"
import { AnswerBody } from "../exchange/answer-body.ts"
import { answerHeaders } from "../exchange/answer-headers.ts"
import type { AnswerSource, Waiting } from "../exchange/answer-stream.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { BodyFailure, type RequestBody } from "../exchange/request-body.ts"
import { type AttemptSpan, traceAttempt } from "./attempt-span.ts"
import type { BackendSettings } from "./backend-settings.ts"
import type { Deadline, Timed } from "./deadlines.ts"
import type { Target } from "./target.ts"
import { pathOf } from "./upstream-path.ts"

/** The head of a response. `length`: Content-Length, -1 without one. */
export interface AnswerHead {
  readonly status: number
  readonly headers: HeaderList
  readonly length: number
  readonly body: AnswerBody
}

/** Why there is no response. */
export interface AttemptFailure {
  readonly cause: RetryCause | "client" | "broken"
  readonly problem: Problem
  /** The request went out on a reused connection that the backend was just closing for idleness. */
  readonly wasIdle: boolean
}

/** What an attempt reports: `headed` or `failed`; after `headed`, `complete` when the response is complete or broke off. */
export interface AttemptEvents {
  headed(head: AnswerHead): void
  failed(failure: AttemptFailure): void
  complete(attempt: Attempt): void
}

/** What an attempt needs. */
export interface AttemptParts {
  readonly exchange: ExchangeState
  readonly waiting: Waiting
  readonly events: AttemptEvents
  readonly settings: BackendSettings
  readonly connections: Connections
  /** Replaces the Authorization field of the request; undefined: keep it. */
  readonly authorization: string | undefined
  /** The client's body, when it is streamed. */
  readonly stream: RequestBody | undefined
  /** Whether another timeout ends the exchange. */
  readonly bounded: boolean
}

/** Time for the head of a response when no other timeout ends the exchange. */
const headMs = 300_000

/** One request to one target. */
export class Attempt implements Timed, AnswerReceiver, AnswerSource {
  readonly target: Target
  readonly #exchange: ExchangeState
  readonly #waiting: Waiting
  readonly #events: AttemptEvents
  readonly #settings: BackendSettings
  readonly #bounded: boolean
  readonly #connections: Connections
  readonly #authorization: string | undefined
  /** Unset once the response is over, because the connection then serves another request. */
  #sending: Sending | undefined
  readonly #body: RequestBody | undefined
  #answer: AnswerBody | undefined
  #timer: Deadline | undefined
  #lastByte = 0
  /** The first byte of a response has arrived. */
  #begun = false
  /** A connection took the request. */
  #sent = false
  #over = false
  #queued = true
  /** Undefined: the request is not recorded. */
  #span: AttemptSpan | undefined
  /** This is the breaker's trial request, so it must report the outcome. */
  #isTrial = false

  /** The fields are copied once: this object lives for one request, and its methods are on the hot path. */
  constructor(target: Target, parts: AttemptParts) {
    const { exchange, waiting, events, settings, bounded } = parts
    this.target = target
    this.#connections = parts.connections
    this.#authorization = parts.authorization
    this.#exchange = exchange
    this.#waiting = waiting
    this.#events = events
    this.#settings = settings
    this.#bounded = bounded
    this.#body = parts.stream
  }

  /**
   * Sends the request. A deadline for the first byte begins now; without one, the head must come within `headMs` unless the call as a whole
   * is bounded.
   */
  start(): void {
    const { target } = this
    const exchange = this.#exchange
    const { firstByteMs, http2 } = this.#settings
    const headers = upstreamFields(exchange, this.#authorization)
    headers.push("x-request-id", exchange.id)
    if (exchange.trace !== undefined) this.#span = traceAttempt(exchange, exchange.trace, target, headers)
    const { host } = exchange
    if (host !== undefined && host !== "" && !exchange.headers.get("host")) headers.push("host", host)
    // HTTP/1.1 would also need `Connection: TE`, and the client of connections sets Connection itself; backends may send trailers without `TE` there.
    if (exchange.intake.takesTrailers && http2 !== false) headers.push("te", "trailers")
    const request = {
      path: pathOf(exchange, target),
      method: exchange.sentMethod ?? exchange.method,
      fields: headers,
      body: this.#bodyFor(headers),
    }
    const beginMs = firstByteMs ?? (this.#bounded ? undefined : headMs)
    if (beginMs !== undefined) this.#timer = this.#waiting.deadlines.set(this, beginMs)
    target.waiting += 1
    target.outstanding += 1
    this.#isTrial = target.breaker?.begin(this.#exchange.monotonic()) === true
    this.#connections.dispatch(request, this)
  }

  /** Whether a connection has taken the client's stream: it cannot be sent again then. */
  get hasSpentBody(): boolean {
    return this.#body !== undefined && this.#sent
  }

  /** The response is no longer needed. `isLate`: because of a timeout. */
  cancel(isLate: boolean): void {
    if (this.#over) return
    if (this.#span !== undefined) this.#span.failure = isLate ? "timeout" : "cancelled"
    this.#end()
    // A request that waited for a connection says nothing about the target.
    if (isLate && this.#sent && this.#answer === undefined) this.#failed()
    else this.#abandoned()
    this.#body?.destroy()
    this.#answer?.discard()
    this.#break("the request has ended")
  }

  /** No head in time, or the response has stalled. */
  expired(): void {
    const { idleMs } = this.#settings
    const answer = this.#answer
    if (answer !== undefined && idleMs !== undefined) {
      if (answer.isHeldUp || this.#exchange.monotonic() - this.#lastByte < idleMs) {
        this.#timer = this.#waiting.deadlines.set(this, idleMs)
        return
      }
    }
    const cause =
      answer === undefined
        ? "the backend did not start to respond in time"
        : "the response of the backend stopped"
    this.#fail("timeout", problem("gateway-timeout", { reason: "Timeout", cause }), false)
    this.#break(cause)
  }

  /** Continues the response. */
  resume(): void {
    this.#sending?.resume()
  }

  /** The rest of the response is not needed. */
  cut(): void {
    // The gateway ends it, so its span is no failure.
    this.#span?.end()
    this.#span = undefined
    this.#break("the response was replaced")
  }

  /** A step's body comes first. Without a body, `Content-Length: 0` is kept if the client sent it. */
  #bodyFor(headers: string[]): Buffer | RequestBody | null {
    const exchange = this.#exchange
    const { body, sentLength } = exchange.intake
    const outgoing = exchange.outgoingBody
    if (outgoing !== undefined) return outgoing
    if (body === "none") {
      if (sentLength === 0) headers.push("content-length", "0")
      return null
    }
    if (typeof body === "number") headers.push("content-length", String(body))
    return this.#body ?? null
  }

  get isWanted(): boolean {
    return !this.#over
  }

  onConnect(sending: Sending): void {
    this.#leaveQueue()
    this.#sent = true
    this.#sending = sending
    if (this.#over) this.#break("the request has ended")
  }

  onBegun(): void {
    this.#begun = true
  }

  /** The head of the response. Whether the breaker counts it is decided by the status alone; the body may still fail. */
  onHead(status: number, fields: readonly string[]): void {
    if (this.#over) return
    this.#span?.headed(status, fields)
    this.#waitFor(this.#settings.idleMs)
    const { headers, length } = answerHeaders(status, fields)
    const body = new AnswerBody(this.#exchange, this.#waiting, this, length)
    this.#answer = body
    this.#judge(status)
    this.#events.headed({ status, headers, length, body })
  }

  onData(bytes: Buffer): boolean {
    if (this.#settings.idleMs !== undefined) this.#lastByte = this.#exchange.monotonic()
    return this.#answer?.push(bytes) ?? true
  }

  onComplete(trailers: readonly string[]): void {
    this.#sending = undefined
    this.#end()
    this.#span?.trailed(trailers)
    this.#answer?.complete(trailers)
    this.#events.complete(this)
  }

  /**
   * An error of the connection. `reused` and closed without a byte means that the backend closed an idle connection: that is not its fault.
   */
  onError(error: Error): void {
    this.#sending = undefined
    if (this.#over) return
    if (error instanceof BodyFailure) {
      this.#fail("client", error.problem, false)
      return
    }
    const reason = error instanceof UpstreamError ? error.reason : "protocol"
    const isLate = reason === "connect-timeout"
    const found = isLate
      ? problem("gateway-timeout", { reason: "Timeout", cause: error.message })
      : problem("bad-gateway", { reason: "BackendConnectionFailure", cause: error.message })
    // Not idle: a connection used for the first time, or one that has begun to respond.
    const wasIdle = !this.#begun && error instanceof UpstreamError && error.reused && reason === "closed"
    const cause = isLate ? "timeout" : reason === "closed" ? "reset" : "broken"
    const isUnreached = !this.#sent && reason !== "request" && reason !== "aborted"
    this.#fail(isUnreached ? "connect-error" : cause, found, wasIdle)
  }

  #break(why: string): void {
    const sending = this.#sending
    this.#sending = undefined
    sending?.abort(new UpstreamError("aborted", why))
  }

  #waitFor(idleMs: number | undefined): void {
    const { deadlines } = this.#waiting
    deadlines.cancel(this.#timer)
    if (idleMs === undefined) return
    this.#lastByte = this.#exchange.monotonic()
    this.#timer = deadlines.set(this, idleMs)
  }

  /** Ends the attempt. The client's own failures do not count for the breaker. */
  #fail(cause: AttemptFailure["cause"], found: Problem, wasIdle: boolean): void {
    if (this.#over) return
    if (this.#span !== undefined) this.#span.failure = wasIdle ? "idle-connection-closed" : String(cause)
    this.#end()
    if (cause === "client" || wasIdle) this.#abandoned()
    else this.#failed()
    if (this.#answer === undefined) this.#events.failed({ cause, problem: found, wasIdle })
    else {
      this.#answer.fail(found)
      this.#events.complete(this)
    }
  }

  /** Counts the status for the breaker. */
  #judge(status: number): void {
    const { breaker } = this.target
    if (breaker === undefined) return
    if (breaker.counts(status)) this.#failed()
    else {
      breaker.succeeded(this.#exchange.monotonic(), this.#isTrial)
      this.#isTrial = false
    }
  }

  #failed(): void {
    this.target.breaker?.failed(this.#exchange.monotonic(), this.#isTrial)
    this.#isTrial = false
  }

  #abandoned(): void {
    this.target.breaker?.abandon(this.#isTrial)
    this.#isTrial = false
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#span?.end()
    this.#leaveQueue()
    this.target.outstanding -= 1
    this.#waiting.deadlines.cancel(this.#timer)
  }

  #leaveQueue(): void {
    if (!this.#queued) return
    this.#queued = false
    this.target.waiting -= 1
  }
}

/**
 * The fields for the backend, optionally with another Authorization; names are in lower case. X-Forwarded-For gets the address of the nearest proxy
 * appended, unless a step has changed the field.
 */
export function upstreamFields(
  { headers, intake: { cameBy } }: Pick<ExchangeState, "headers" | "intake">,
  authorization: string | undefined,
): string[] {
  const fields = withAuthorization(headers.flat, authorization)
  if (cameBy === undefined) return fields
  for (let at = 0; at < fields.length; at += 2)
    if (fields[at] === "x-forwarded-for" && fields[at + 1] === cameBy.forwardedFor)
      fields[at + 1] = `${cameBy.forwardedFor}, ${cameBy.peer}`
  return fields
}

function withAuthorization(flat: readonly string[], value: string | undefined): string[] {
  if (value === undefined) return flat.slice()
  const fields: string[] = []
  for (let at = 0; at < flat.length; at += 2)
    if (flat[at] !== "authorization") fields.push(flat[at] as string, flat[at + 1] as string)
  fields.push("authorization", value)
  return fields
}
