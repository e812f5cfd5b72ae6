import type { Dispatcher } from "undici"
import { type Problem, problem } from "../policies/answer.ts"
import { HeaderList } from "../policies/header-list.ts"
import { runSteps } from "../policies/run-steps.ts"
import type { Backend, Target } from "./backends.ts"
import { isOverloaded } from "./backends.ts"
import type { Deadline, Deadlines, Timed } from "./deadlines.ts"
import { headerNameOf, nominated } from "./header-names.ts"
import type { LiveExchange } from "./live-exchange.ts"
import type { Patience } from "./patience.ts"
import { asAnswer, endUnread, sendAnswer, unreadBody, writeHead } from "./reply.ts"
import { BodyFailure, RequestBody } from "./request-body.ts"

/** What is left of an answer whose body a policy replaced: up to this it is read to keep the connection. */
const discardBytesMax = 64 * 1024

/** How a forwarding tells that it could not answer. */
export type Fail = (exchange: LiveExchange, found: Problem) => void

/**
 * Sends one request to a backend and streams the answer back. It is undici's dispatch handler itself (the raw callbacks cost half of what
 * its request and stream methods do); nothing outside this file knows their shape.
 */
export class Forwarding implements Timed {
  readonly #exchange: LiveExchange
  readonly #backend: Backend
  readonly #deadlines: Deadlines
  readonly #patience: Patience
  readonly #fail: Fail
  #target: Target | undefined
  #abort: ((error: Error) => void) | undefined
  #resume: (() => void) | undefined
  #body: RequestBody | undefined
  #total: Deadline | undefined
  #stall: Deadline | undefined
  #answered = false
  /** The first byte of an answer has come. */
  #begun = false
  #ended = false
  /** The backend has nothing more to say. */
  #done = false
  #cancelled = false
  #discard = false
  #queued = false
  #length = -1
  #received = 0

  constructor(
    exchange: LiveExchange,
    backend: Backend,
    waiting: { readonly deadlines: Deadlines; readonly patience: Patience },
    fail: Fail,
  ) {
    this.#exchange = exchange
    this.#backend = backend
    this.#deadlines = waiting.deadlines
    this.#patience = waiting.patience
    this.#fail = fail
  }

  start(): void {
    const { totalMs } = this.#backend
    if (totalMs !== null) this.#total = this.#deadlines.set(this, totalMs)
    const target = this.#backend.next()
    this.#target = target
    this.#exchange.target = target.origin
    if (isOverloaded(target)) {
      this.#failWith(
        problem("overloaded", {
          headers: ["retry-after", "1"],
          cause: "too many requests wait for this target",
        }),
      )
      return
    }
    this.#dispatch(target)
  }

  /** The client has gone or the time is up: the backend must not go on working for nobody. */
  cancel(): void {
    if (this.#done) return
    this.#cancelled = true
    this.#release()
    this.#body?.destroy()
    this.#abort?.(new Error("the exchange is over"))
  }

  /** The backend's total time is up, or the client does not read. */
  expired(): void {
    if (this.#answered) this.#exchange.cause = "the client did not read, or the time of the backend was up"
    this.#exchange.cut = true
    this.#failWith(problem("gateway-timeout", { cause: "the total time of the backend is up" }))
    this.cancel()
  }

  #dispatch(target: Target): void {
    const exchange = this.#exchange
    const { flat } = exchange.headers
    const headers = flat.slice()
    headers.push("x-request-id", exchange.id)
    if (exchange.host !== undefined && exchange.host !== "") headers.push("host", exchange.host)
    const bounded = this.#total !== undefined || exchange.route?.plan.timeoutMs !== null
    const options = {
      path: this.#path(target),
      method: exchange.method,
      headers,
      body: this.#bodyFor(headers),
      // With a deadline of its own the exchange needs none of undici's timers.
      headersTimeout: bounded ? 0 : undefined,
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
    const { body } = exchange.intake
    if (exchange.body !== undefined) return exchange.body
    if (body === "none") {
      if (exchange.intake.sentLength === 0) headers.push("content-length", "0")
      return null
    }
    if (typeof body === "number") headers.push("content-length", String(body))
    const waiting = { deadlines: this.#deadlines, patience: this.#patience }
    this.#body = new RequestBody(exchange.request, exchange.generation.bodyBytesMax, waiting, () => {
      if (!exchange.continued) exchange.reply.writeContinue()
      exchange.continued = true
    })
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
    const exchange = this.#exchange
    // 1xx: informational ones are for the next hop; 100 and 101 that nobody asked for undici refuses itself.
    if (status < 200 && status >= 100) return true
    if (this.#cancelled) return true
    if (status < 100 || status > 599) throw new Error(`the backend answered with status ${status}`)
    this.#resume = resume
    exchange.upstreamMs = performance.now() - exchange.started
    const headers = this.#answerHeaders(status, raw)
    exchange.response = { status, headers, body: undefined }
    const outbound = exchange.route?.outbound ?? []
    const outcome = outbound.length === 0 ? undefined : runSteps(outbound, exchange)
    if (outcome instanceof Promise) {
      void outcome.then((late) => {
        if (this.#cancelled) return
        if (late === undefined) this.#begin()
        else
          this.#replace(late.kind === "answer" ? late : undefined, late.kind === "problem" ? late : undefined)
        this.#resume?.()
      })
      return false
    }
    if (outcome === undefined) this.#begin()
    else if (outcome.kind === "answer") this.#replace(outcome, undefined)
    else this.#replace(undefined, outcome)
    return true
  }

  onData(chunk: Buffer): boolean {
    const { reply } = this.#exchange
    this.#received += chunk.length
    if (this.#discard) {
      if (this.#received > discardBytesMax) this.#abort?.(new Error("the answer was replaced"))
      return true
    }
    this.#exchange.bytesSent += chunk.length
    if (this.#received === this.#length && unreadBody(this.#exchange) === "none") {
      this.#ended = true
      reply.end(chunk)
      return true
    }
    if (reply.write(chunk)) return true
    this.#stall ??= this.#deadlines.set(this, this.#patience.readerMs)
    reply.once("drain", this.#onDrain)
    return false
  }

  onComplete(): void {
    this.#done = true
    this.#release()
    if (this.#ended || this.#discard) return
    this.#ended = true
    // Trailers are not passed on (RFC 9110 §6.5.1 allows it): what a header may not say, a trailer could.
    this.#end()
  }

  onError(error: Error & { code?: string }): void {
    this.#leaveQueue()
    this.#done = true
    this.#release()
    if (this.#ended || this.#discard || this.#cancelled) return
    if (this.#answered) {
      // The head is out: only a broken connection tells the client that this is not the end.
      this.#exchange.cut = true
      this.#exchange.cause ??= `the backend's answer broke off: ${error.message}`
      this.#exchange.request.socket.destroy()
      return
    }
    if (this.#mayRetry(error) && this.#target !== undefined) {
      this.#exchange.retried = true
      this.#done = false
      this.#dispatch(this.#target)
      return
    }
    this.#failWith(problemOf(error))
  }

  readonly #onDrain = (): void => {
    this.#deadlines.cancel(this.#stall)
    this.#stall = undefined
    this.#resume?.()
  }

  #failWith(found: Problem): void {
    this.#release()
    if (!this.#answered) this.#fail(this.#exchange, found)
    else this.#exchange.request.socket.destroy()
  }

  #answerHeaders(status: number, raw: readonly Buffer[]): HeaderList {
    const flat: string[] = []
    let named: string[] | undefined
    for (let at = 0; at < raw.length; at += 2) {
      const { lower, hopInAnswer } = headerNameOf((raw[at] as Buffer).toString("latin1"))
      if (hopInAnswer) {
        if (lower === "connection") named = nominatedBy(named, (raw[at + 1] as Buffer).toString("latin1"))
        continue
      }
      const value = (raw[at + 1] as Buffer).toString("latin1")
      if (lower === "content-length") this.#length = Number(value)
      if (lower === "content-length" && status === 204) continue
      if (lower !== "x-request-id") flat.push(lower, value)
    }
    const headers = new HeaderList(flat)
    for (const name of named ?? []) if (!framing.has(name)) headers.remove(name)
    return headers
  }

  /** Sends the head of the backend's answer as the outbound steps left it. */
  #begin(): void {
    const exchange = this.#exchange
    const { response } = exchange
    if (response === undefined) return
    if (response.body !== undefined) {
      const { status, body, headers } = response
      headers.remove("content-length")
      this.#replace({ kind: "answer", status, headers: headers.flat, body }, undefined)
      return
    }
    this.#answered = true
    const bodyless = exchange.method === "HEAD" || response.status === 204 || response.status === 304
    if (!writeHead(exchange, response.status, response.headers.flat, unreadBody(exchange) === "large")) {
      this.#discard = true
      this.#abort?.(new Error("the answer cannot be passed on"))
      return
    }
    if (bodyless || this.#length === 0) {
      this.#ended = true
      this.#end()
    } else if (this.#length === -1) process.nextTick(flushHead, exchange)
  }

  #end(): void {
    const unread = unreadBody(this.#exchange)
    if (unread === "none") {
      this.#exchange.reply.end()
      return
    }
    // The backend answered without reading all; the rest is for nobody.
    this.#body?.destroy()
    endUnread(this.#exchange, undefined, unread)
  }

  /** Answers with something else than the backend did; what is left of its answer is read away or cut off. */
  #replace(answer: Parameters<typeof sendAnswer>[1] | undefined, found: Problem | undefined): void {
    this.#discard = true
    this.#answered = true
    const exchange = this.#exchange
    if (found !== undefined) this.#fail(exchange, found)
    else if (answer !== undefined) sendAnswer(exchange, asAnswer(answer, exchange.id))
    if (this.#length === -1 || this.#length > discardBytesMax)
      this.#abort?.(new Error("the answer was replaced"))
  }

  /**
   * The keep-alive race: the backend closed an idle connection while our request was on its way. Once more, and only for methods that may be
   * repeated (RFC 9110 §9.2.2) without a body. A connection that never answered before, or has begun to answer, was not idle: no second try.
   */
  #mayRetry(error: Error & { code?: string; socket?: { bytesRead?: number } | null }): boolean {
    const { method, retried, intake, body } = this.#exchange
    if (retried || intake.body !== "none" || body !== undefined || !repeatable.has(method)) return false
    return !this.#begun && broken.has(error.code ?? "") && (error.socket?.bytesRead ?? 0) > 0
  }

  #release(): void {
    this.#deadlines.cancel(this.#total)
    this.#deadlines.cancel(this.#stall)
    this.#exchange.bytesReceived = this.#body?.received ?? 0
  }
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

/** A body of unknown length may come late (server-sent events): the head must not wait for it. In the same turn it would cost a packet. */
function flushHead(exchange: LiveExchange): void {
  const { reply } = exchange
  if (!reply.writableEnded && !reply.destroyed) reply.flushHeaders()
}

function problemOf(error: Error & { code?: string }): Problem {
  const cause = `${error.code ?? error.name}: ${error.message}`
  if (error instanceof BodyFailure) {
    if (error.reason === "too-large") return problem("body-too-large", { cause })
    return problem("request-timeout", { cause })
  }
  return problem(timeouts.has(error.code ?? "") ? "gateway-timeout" : "bad-gateway", { cause })
}

const timeouts: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
])
