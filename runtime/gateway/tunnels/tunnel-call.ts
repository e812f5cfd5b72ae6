import type { OpeningWebSocket, UpgradedSocket, UpgradeResponse } from "../../http/client/web-socket.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import { upstreamFields } from "../backends/attempt.ts"
import { setTraceparent } from "../backends/attempt-span.ts"
import type { BackendClient } from "../backends/backends.ts"
import type { Deadline, Timed } from "../backends/deadlines.ts"
import type { Target } from "../backends/target.ts"
import { TriedTargets } from "../backends/tried-targets.ts"
import { pathOf } from "../backends/upstream-path.ts"
import { AnswerBody } from "../exchange/answer-body.ts"
import { answerHeaders } from "../exchange/answer-headers.ts"
import type { Waiting } from "../exchange/answer-stream.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { OwnAuthorization } from "../generation/own-authorization.ts"
import { Tunnel } from "./tunnel.ts"

/** Timeout for the backend's response to an upgrade, when no other timeout ends the exchange. */
const handshakeMs = 30_000

/** Requests a WebSocket from a backend: 101 with the right key opens a tunnel, anything else is an ordinary response. */
export class TunnelCall implements Timed {
  readonly #exchange: ExchangeState
  readonly #backend: BackendClient
  readonly #waiting: Waiting
  readonly #key: string | undefined
  readonly #own: OwnAuthorization
  readonly #tried: TriedTargets
  #target: Target | undefined
  #request: OpeningWebSocket | undefined
  #answer: AnswerBody | undefined
  #settle: ((found: Problem | undefined) => void) | undefined
  #total: Deadline | undefined
  #opened = false
  /** This is the breaker's trial request, so it must report the outcome. */
  #isTrial = false
  #isGivenUp = false

  constructor(exchange: ExchangeState, backend: BackendClient, waiting: Waiting, key: string | undefined) {
    this.#exchange = exchange
    this.#backend = backend
    this.#waiting = waiting
    this.#key = key
    this.#tried = new TriedTargets(backend, key)
    this.#own = new OwnAuthorization(exchange, backend.settings.authorization)
  }

  /** Resolves when the head of the response is set in the exchange, or with a problem. */
  send(timeoutMs: number | null | undefined): Promise<Problem | undefined> {
    return new Promise((resolve) => {
      this.#settle = resolve
      const { totalMs } = this.#backend.settings
      this.#total = this.#waiting.deadlines.set(
        this,
        (timeoutMs === undefined ? totalMs : timeoutMs) ?? handshakeMs,
      )
      const target = this.#backend.pick(this.#key)
      if (target === undefined) {
        const headers = ["retry-after", String(this.#backend.retryAfterSeconds)]
        this.#headIs(
          problem("backend-unavailable", {
            headers,
            cause: this.#backend.awayReason,
          }),
        )
      } else this.#prepared(target)
    })
  }

  cancel(isLate: boolean): void {
    this.#isGivenUp = !isLate
    this.#headIs(
      problem("gateway-timeout", { cause: "the request ended before the backend responded to the upgrade" }),
    )
    this.#answer?.discard()
    if (!this.#opened) this.#request?.destroy()
  }

  /** The backend did not respond to the upgrade in time. */
  expired(): void {
    this.#headIs(
      problem("gateway-timeout", {
        reason: "Timeout",
        cause: "the backend did not respond to the upgrade in time",
      }),
    )
    this.#request?.destroy()
  }

  /** Waits for the gateway's own credential, if it has to be fetched. */
  #prepared(target: Target): void {
    const waiting = this.#own.prepare()
    if (waiting === undefined) this.#ask(target)
    else
      void waiting.then((found) => {
        if (this.#settle === undefined) return
        if (found === undefined) this.#ask(target)
        else this.#headIs(found)
      })
  }

  /** Sends the upgrade to a target. A tunnel counts as an outstanding request until it ends. */
  #ask(target: Target): void {
    const exchange = this.#exchange
    this.#target = target
    exchange.target = target.place.origin
    target.outstanding += 1
    this.#isTrial = target.breaker?.begin(this.#exchange.monotonic()) === true
    const host = exchange.host ?? target.place.authority
    const headers = upstreamFields(exchange, this.#own.value)
    headers.push("x-request-id", exchange.id)
    if (exchange.trace !== undefined) setTraceparent(headers, exchange.trace.traceparent())
    // A step may have set one.
    if (exchange.headers.get("host") === undefined) headers.push("host", host)
    const request = {
      path: pathOf(exchange, target),
      fields: headers,
      key: exchange.headers.get("sec-websocket-key") ?? "",
    }
    this.#request = this.#backend.openWebSocket(target, exchange.certificate, request, {
      onUpgrade: (upgraded, fields) => this.#upgraded(upgraded, fields),
      onFalseUpgrade: () => this.#notUpgraded(),
      onResponse: (answer) => this.#answered(answer),
      onError: (error, reached) => this.#failed(error, reached),
    })
  }

  /** The backend accepted: both sockets are joined. */
  #upgraded(upgraded: UpgradedSocket, fields: readonly string[]): void {
    const { headers } = answerHeaders(101, fields)
    const { socket } = upgraded
    if (this.#settle === undefined) {
      socket.destroy()
      return
    }
    this.#opened = true
    this.#target?.breaker?.succeeded(this.#exchange.monotonic(), this.#isTrial)
    socket.once("close", () => this.#release())
    this.#arrived()
    this.#exchange.upgraded(new Tunnel(this.#exchange, this.#waiting, upgraded), headers)
    this.#headIs(undefined)
  }

  #notUpgraded(): void {
    if (this.#settle === undefined) return
    this.#verdict(false)
    this.#headIs(problem("bad-gateway", { cause: "the backend sent 101 without accepting the upgrade" }))
  }

  /** The backend refused: its response is passed on like any other. */
  #answered(answer: UpgradeResponse): void {
    const status = answer.statusCode ?? 502
    const { headers, length } = answerHeaders(status, answer.rawHeaders)
    const source = { resume: () => answer.resume(), cut: () => this.#request?.destroy() }
    const body = new AnswerBody(this.#exchange, this.#waiting, source, length)
    this.#answer = body
    this.#verdict(this.#target?.breaker?.counts(status) !== true)
    answer.on("data", (chunk: Buffer) => {
      if (!body.push(chunk)) answer.pause()
    })
    answer.once("end", () => body.complete([]))
    answer.once("error", (error) => body.fail(problem("bad-gateway", { cause: error.message })))
    this.#arrived()
    this.#exchange.answered(body, status, headers, length)
    this.#headIs(undefined)
  }

  /** The connection failed. If the target was never reached, another one may be asked. */
  #failed(error: NodeJS.ErrnoException, reached: boolean): void {
    if (this.#opened) return
    const target = this.#target
    this.#verdict(false)
    const elsewhere =
      reached || this.#settle === undefined || target === undefined ? undefined : this.#tried.instead(target)
    if (elsewhere !== undefined) {
      this.#exchange.retried = true
      this.#ask(elsewhere)
      return
    }
    const cause = `${error.code ?? error.name}: ${error.message}`
    this.#headIs(problem("bad-gateway", { reason: "BackendConnectionFailure", cause }))
  }

  #arrived(): void {
    const exchange = this.#exchange
    exchange.upstreamMs = exchange.monotonic() - exchange.started
  }

  #verdict(isWell: boolean): void {
    const { breaker } = this.#target ?? {}
    if (isWell) breaker?.succeeded(this.#exchange.monotonic(), this.#isTrial)
    else if (this.#isGivenUp) breaker?.abandon(this.#isTrial)
    else breaker?.failed(this.#exchange.monotonic(), this.#isTrial)
    this.#release()
  }

  #release(): void {
    if (this.#target === undefined) return
    this.#target.outstanding -= 1
    this.#target = undefined
  }

  #headIs(found: Problem | undefined): void {
    const settle = this.#settle
    if (settle === undefined) return
    this.#settle = undefined
    this.#waiting.deadlines.cancel(this.#total)
    settle(found)
  }
}
