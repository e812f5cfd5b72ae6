import type { Dispatcher, Pool } from "undici"
import type { RetryCause } from "../plan/backend.ts"
import { type Problem, problem } from "../policies/answer.ts"
import type { HeaderList } from "../policies/header-list.ts"
import { AnswerBody } from "./answer-body.ts"
import { answerHeaders } from "./answer-headers.ts"
import type { Waiting } from "./answer-stream.ts"
import type { BackendSettings } from "./backends.ts"
import type { Deadline, Timed } from "./deadlines.ts"
import type { ExchangeState } from "./exchange-state.ts"
import { BodyFailure, type RequestBody } from "./request-body.ts"
import type { Target } from "./target.ts"
import { pathOf } from "./upstream-path.ts"

/** The head of an answer. `length` by Content-Length, -1 where it says none. */
export interface AnswerHead {
  readonly status: number
  readonly headers: HeaderList
  readonly length: number
  readonly body: AnswerBody
}

/** Why there is no answer. */
export interface AttemptFailure {
  readonly cause: RetryCause | "client" | "broken"
  readonly problem: Problem
  /** The connection had answered before and was closed while it was idle, as our request was on its way. */
  readonly wasIdle: boolean
}

/** What an attempt tells: `headed` or `failed`, and after `headed` that the answer is `complete` or broke off. */
export interface AttemptEvents {
  headed(head: AnswerHead): void
  failed(failure: AttemptFailure): void
  complete(attempt: Attempt): void
}

/** What an attempt is made for. */
export interface AttemptParts {
  readonly exchange: ExchangeState
  readonly waiting: Waiting
  readonly events: AttemptEvents
  readonly settings: BackendSettings
  readonly pool: Pool
  /** In place of the Authorization the request has; undefined: as it is. */
  readonly authorization: string | undefined
  /** Something else ends the exchange: undici's own timer is not needed. */
  readonly bounded: boolean
}

/**
 * One request to one target. It is undici's dispatch handler itself (the raw callbacks cost half of what its request and stream methods do);
 * nothing outside this file knows their shape.
 */
export class Attempt implements Timed {
  readonly target: Target
  readonly #exchange: ExchangeState
  readonly #waiting: Waiting
  readonly #events: AttemptEvents
  readonly #settings: BackendSettings
  readonly #bounded: boolean
  readonly #pool: Pool
  readonly #authorization: string | undefined
  #abort: ((error: Error) => void) | undefined
  #body: RequestBody | undefined
  #answer: AnswerBody | undefined
  #timer: Deadline | undefined
  #lastByte = 0
  /** The first byte of an answer has come. */
  #begun = false
  /** A connection took the request. */
  #sent = false
  #over = false
  #queued = true

  constructor(target: Target, parts: AttemptParts) {
    const { exchange, waiting, events, settings, bounded } = parts
    this.target = target
    this.#pool = parts.pool
    this.#authorization = parts.authorization
    this.#exchange = exchange
    this.#waiting = waiting
    this.#events = events
    this.#settings = settings
    this.#bounded = bounded
  }

  start(): void {
    const { target } = this
    const exchange = this.#exchange
    const { firstByteMs, http2 } = this.#settings
    const headers = withAuthorization(exchange.headers.flat, this.#authorization)
    headers.push("x-request-id", exchange.id)
    if (exchange.host !== undefined && exchange.host !== "") headers.push("host", exchange.host)
    // HTTP/1.1 would want it in Connection too, which is undici's to write; there a backend may send trailers without being asked.
    if (exchange.intake.takesTrailers && http2) headers.push("te", "trailers")
    const options = {
      path: pathOf(exchange, target),
      method: exchange.sentMethod ?? exchange.method,
      headers,
      body: this.#bodyFor(headers),
      // With a deadline of its own the exchange needs none of undici's timers.
      headersTimeout: this.#bounded || firstByteMs !== undefined ? 0 : undefined,
      servername: target.place.servername,
    }
    if (firstByteMs !== undefined) this.#timer = this.#waiting.deadlines.set(this, firstByteMs)
    target.waiting += 1
    target.outstanding += 1
    target.breaker?.begin(performance.now())
    this.#pool.dispatch(options as Dispatcher.DispatchOptions, this as unknown as Dispatcher.DispatchHandler)
  }

  /** Whether the client's stream was begun to be sent: then it cannot be sent again. */
  get hasSpentBody(): boolean {
    return this.#body?.begun === true
  }

  /** Nobody wants the answer. */
  cancel(): void {
    if (this.#over) return
    this.#end()
    this.target.breaker?.abandon()
    this.#body?.destroy()
    this.#answer?.discard()
    this.#abort?.(new Error("the exchange is over"))
  }

  /** No head in time, or the answer has stopped. */
  expired(): void {
    const { idleMs } = this.#settings
    const answer = this.#answer
    if (answer !== undefined && idleMs !== undefined) {
      if (answer.isHeldUp || performance.now() - this.#lastByte < idleMs) {
        this.#timer = this.#waiting.deadlines.set(this, idleMs)
        return
      }
    }
    const cause =
      answer === undefined
        ? "the backend did not begin to answer in its time"
        : "the backend's answer stopped"
    this.#fail("timeout", problem("gateway-timeout", { reason: "Timeout", cause }), false)
    this.#abort?.(new Error(cause))
  }

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
    this.#body = exchange.openBody(exchange.generation.bodyBytesMax)
    return this.#body
  }

  // The callbacks of undici.

  onConnect(abort: (error: Error) => void): void {
    this.#leaveQueue()
    this.#sent = true
    this.#abort = abort
    if (this.#over) abort(new Error("the exchange is over"))
  }

  onResponseStarted(): void {
    this.#begun = true
  }

  onHeaders(status: number, raw: readonly Buffer[], resume: () => void): boolean {
    // 1xx: informational ones are for the next hop; 100 and 101 that nobody asked for undici refuses itself.
    if (status < 200 && status >= 100) return true
    if (this.#over) return true
    if (status < 100 || status > 599) throw new Error(`the backend answered with status ${status}`)
    this.#waitFor(this.#settings.idleMs)
    const { headers, length } = answerHeaders(status, raw)
    const cut = () => this.#abort?.(new Error("the answer was replaced"))
    const body = new AnswerBody(this.#exchange, this.#waiting, { resume, cut }, length)
    this.#answer = body
    this.#judge(status)
    this.#events.headed({ status, headers, length, body })
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.#settings.idleMs !== undefined) this.#lastByte = performance.now()
    return this.#answer?.push(chunk) ?? true
  }

  onComplete(trailers: Trailers): void {
    this.#end()
    this.#answer?.complete(flatTrailers(trailers))
    this.#events.complete(this)
  }

  onError(error: Error & { code?: string; socket?: { bytesRead?: number } | null }): void {
    if (this.#over) return
    if (error instanceof BodyFailure) {
      this.target.breaker?.abandon()
      this.#fail("client", error.problem, false)
      return
    }
    const code = error.code ?? ""
    const cause = `${error.code ?? error.name}: ${error.message}`
    const found = timeouts.has(code)
      ? problem("gateway-timeout", { reason: "Timeout", cause })
      : problem("bad-gateway", { reason: "BackendConnectionFailure", cause })
    // A connection that never answered before, or has begun to answer, was not idle.
    const wasIdle = !this.#begun && broken.has(code) && (error.socket?.bytesRead ?? 0) > 0
    this.#fail(this.#sent ? causeOf(code) : "connect-error", found, wasIdle)
  }

  #waitFor(idleMs: number | undefined): void {
    const { deadlines } = this.#waiting
    deadlines.cancel(this.#timer)
    if (idleMs === undefined) return
    this.#lastByte = performance.now()
    this.#timer = deadlines.set(this, idleMs)
  }

  #fail(cause: AttemptFailure["cause"], found: Problem, wasIdle: boolean): void {
    if (this.#over) return
    this.#end()
    if (cause !== "client" && !wasIdle) this.target.breaker?.failed(performance.now())
    if (this.#answer === undefined) this.#events.failed({ cause, problem: found, wasIdle })
    else {
      this.#answer.fail(found)
      this.#events.complete(this)
    }
  }

  #judge(status: number): void {
    const { breaker } = this.target
    if (breaker === undefined) return
    if (breaker.counts(status)) breaker.failed(performance.now())
    else breaker.succeeded(performance.now())
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
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

/** The fields with another Authorization; names are in lower case. */
export function withAuthorization(flat: readonly string[], value: string | undefined): string[] {
  if (value === undefined) return flat.slice()
  const fields: string[] = []
  for (let at = 0; at < flat.length; at += 2)
    if (flat[at] !== "authorization") fields.push(flat[at] as string, flat[at + 1] as string)
  fields.push("authorization", value)
  return fields
}

/** As undici gives them: flat for HTTP/1.1, an object for HTTP/2. */
type Trailers = readonly (string | Buffer)[] | Readonly<Record<string, unknown>> | null

function flatTrailers(trailers: Trailers): readonly (string | Buffer)[] {
  if (trailers === null || Array.isArray(trailers)) return trailers ?? []
  return Object.entries(trailers).flatMap(([name, value]) => [name, String(value)])
}

const broken: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])
const timeouts: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
])

function causeOf(code: string): AttemptFailure["cause"] {
  if (timeouts.has(code)) return "timeout"
  return broken.has(code) ? "reset" : "broken"
}
