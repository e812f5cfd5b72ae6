import type { Dispatcher } from "undici"
import { type Problem, problem } from "../policies/answer.ts"
import { HeaderList } from "../policies/header-list.ts"
import { AnswerBody, type Waiting } from "./answer-body.ts"
import type { Backend, Target } from "./backends.ts"
import { isOverloaded } from "./backends.ts"
import type { Deadline, Timed } from "./deadlines.ts"
import { headerNameOf, nominated } from "./header-names.ts"
import type { LiveExchange } from "./live-exchange.ts"
import { BodyFailure, type RequestBody } from "./request-body.ts"

/**
 * One request to a backend, until the head of its answer is there; the body is an AnswerBody's. It is undici's dispatch handler itself (the raw
 * callbacks cost half of what its request and stream methods do); nothing outside this file knows their shape.
 */
export class UpstreamCall implements Timed {
  readonly #exchange: LiveExchange
  readonly #backend: Backend
  readonly #waiting: Waiting
  #target: Target | undefined
  #abort: ((error: Error) => void) | undefined
  #body: RequestBody | undefined
  #answer: AnswerBody | undefined
  #settleHead: ((found: Problem | undefined) => void) | undefined
  #total: Deadline | undefined
  #bounded = false
  /** The first byte of an answer has come. */
  #begun = false
  /** The backend has nothing more to say. */
  #done = false
  #cancelled = false
  #retried = false
  #queued = false

  constructor(exchange: LiveExchange, backend: Backend, waiting: Waiting) {
    this.#exchange = exchange
    this.#backend = backend
    this.#waiting = waiting
  }

  /** Sends the request. Resolves when the head of the answer is the exchange's response, or with what went wrong. `timeoutMs` undefined: the backend's own. */
  send(timeoutMs: number | null | undefined): Promise<Problem | undefined> {
    return new Promise((resolve) => {
      this.#settleHead = resolve
      const totalMs = timeoutMs === undefined ? this.#backend.totalMs : timeoutMs
      if (totalMs !== null) this.#total = this.#waiting.deadlines.set(this, totalMs)
      this.#bounded = totalMs !== null || this.#exchange.route?.plan.timeoutMs !== null
      const target = this.#backend.next()
      this.#target = target
      this.#exchange.target = target.origin
      if (isOverloaded(target)) {
        const cause = "too many requests wait for this target"
        this.#failWith(problem("overloaded", { headers: ["retry-after", "1"], cause }))
      } else this.#dispatch(target)
    })
  }

  /** The client has gone, the time is up or another answer is given: the backend must not go on working for nobody. */
  cancel(): void {
    if (this.#done) return
    this.#cancelled = true
    this.#waiting.deadlines.cancel(this.#total)
    this.#body?.destroy()
    this.#answer?.discard()
    this.#abort?.(new Error("the exchange is over"))
    this.#headIs(problem("gateway-timeout", { cause: "the exchange is over" }))
  }

  /** The backend's total time is up. */
  expired(): void {
    this.#failWith(
      problem("gateway-timeout", { reason: "Timeout", cause: "the total time of the backend is up" }),
    )
    this.cancel()
  }

  #dispatch(target: Target): void {
    const exchange = this.#exchange
    const { flat } = exchange.headers
    const headers = flat.slice()
    headers.push("x-request-id", exchange.id)
    if (exchange.host !== undefined && exchange.host !== "") headers.push("host", exchange.host)
    const options = {
      path: this.#path(target),
      method: exchange.sentMethod ?? exchange.method,
      headers,
      body: this.#bodyFor(headers),
      // With a deadline of its own the exchange needs none of undici's timers.
      headersTimeout: this.#bounded ? 0 : undefined,
      servername: target.servername,
    }
    this.#queued = true
    target.waiting += 1
    target.pool.dispatch(options as Dispatcher.DispatchOptions, this as unknown as Dispatcher.DispatchHandler)
  }

  #leaveQueue(): void {
    if (!this.#queued || this.#target === undefined) return
    this.#queued = false
    this.#target.waiting -= 1
  }

  #path(target: Target): string {
    const exchange = this.#exchange
    const query = exchange.queryText
    const local = exchange.rewritten ?? exchange.path.slice(exchange.route?.stripLength ?? 0)
    const path = target.basePath + (local === "" && target.basePath === "" ? "/" : local)
    if (query === "") return path
    return `${path}${path.includes("?") ? "&" : "?"}${query}`
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
    this.#abort = abort
    if (this.#cancelled) abort(new Error("the exchange is over"))
  }

  onResponseStarted(): void {
    this.#begun = true
  }

  onHeaders(status: number, raw: readonly Buffer[], resume: () => void): boolean {
    // 1xx: informational ones are for the next hop; 100 and 101 that nobody asked for undici refuses itself.
    if (status < 200 && status >= 100) return true
    if (this.#cancelled) return true
    if (status < 100 || status > 599) throw new Error(`the backend answered with status ${status}`)
    const exchange = this.#exchange
    exchange.upstreamMs = performance.now() - exchange.started
    const { headers, length } = answerHeaders(status, raw)
    const cut = () => this.#abort?.(new Error("the answer was replaced"))
    this.#answer = new AnswerBody(exchange, this.#waiting, { resume, cut }, length)
    exchange.answered(this.#answer, status, headers, length)
    this.#headIs(undefined)
    return true
  }

  onData(chunk: Buffer): boolean {
    return this.#answer?.push(chunk) ?? true
  }

  onComplete(): void {
    this.#done = true
    this.#waiting.deadlines.cancel(this.#total)
    this.#answer?.complete()
  }

  onError(error: Error & { code?: string }): void {
    this.#leaveQueue()
    this.#done = true
    if (this.#cancelled) return
    if (this.#answer === undefined && this.#mayRetry(error) && this.#target !== undefined) {
      this.#retried = true
      this.#exchange.retried = true
      this.#done = false
      this.#dispatch(this.#target)
      return
    }
    this.#failWith(problemOf(error))
  }

  #headIs(found: Problem | undefined): void {
    const settle = this.#settleHead
    this.#settleHead = undefined
    settle?.(found)
  }

  #failWith(found: Problem): void {
    this.#waiting.deadlines.cancel(this.#total)
    this.#answer?.fail(found)
    this.#headIs(found)
  }

  /**
   * The keep-alive race: the backend closed an idle connection while our request was on its way. Once more, and only for methods that may be
   * repeated (RFC 9110 §9.2.2) with a body that is there. A connection that never answered before, or has begun to answer, was not idle: no second try.
   */
  #mayRetry(error: Error & { code?: string; socket?: { bytesRead?: number } | null }): boolean {
    const { method, sentMethod } = this.#exchange
    if (this.#retried || this.#body !== undefined || !repeatable.has(sentMethod ?? method)) return false
    return !this.#begun && broken.has(error.code ?? "") && (error.socket?.bytesRead ?? 0) > 0
  }
}

function answerHeaders(status: number, raw: readonly Buffer[]): { headers: HeaderList; length: number } {
  const flat: string[] = []
  let named: string[] | undefined
  let length = -1
  for (let at = 0; at < raw.length; at += 2) {
    const { lower, hopInAnswer } = headerNameOf((raw[at] as Buffer).toString("latin1"))
    if (hopInAnswer) {
      if (lower === "connection") named = nominatedBy(named, (raw[at + 1] as Buffer).toString("latin1"))
      continue
    }
    const value = (raw[at + 1] as Buffer).toString("latin1")
    if (lower === "content-length") length = Number(value)
    if (lower === "content-length" && status === 204) continue
    if (lower !== "x-request-id") flat.push(lower, value)
  }
  const headers = new HeaderList(flat)
  for (const name of named ?? []) if (!framing.has(name)) headers.remove(name)
  return { headers, length }
}

/** `keep-alive` and `close` are by far the most common and name no field that is kept. */
function nominatedBy(before: string[] | undefined, connection: string): string[] | undefined {
  if (connection === "keep-alive" || connection === "close") return before
  return [...(before ?? []), ...nominated(connection)]
}

const broken: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])
/** What no Connection field may take away: it says where the answer ends. */
const framing: ReadonlySet<string> = new Set(["content-length", "content-type", "date"])

function problemOf(error: Error & { code?: string }): Problem {
  if (error instanceof BodyFailure) return error.problem
  const cause = `${error.code ?? error.name}: ${error.message}`
  return timeouts.has(error.code ?? "")
    ? problem("gateway-timeout", { reason: "Timeout", cause })
    : problem("bad-gateway", { reason: "BackendConnectionFailure", cause })
}

const timeouts: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
])
