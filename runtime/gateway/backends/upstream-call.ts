import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { Waiting } from "../exchange/answer-stream.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { BodyFailure, type RequestBody } from "../exchange/request-body.ts"
import type { UploadSlot } from "../exchange/uploads.ts"
import { OwnAuthorization } from "../generation/own-authorization.ts"
import { type AnswerHead, Attempt, type AttemptEvents, type AttemptFailure } from "./attempt.ts"
import type { BackendClient } from "./backends.ts"
import type { Deadline, Timed } from "./deadlines.ts"
import type { Target } from "./target.ts"
import { TriedTargets } from "./tried-targets.ts"
import { loggedPathOf } from "./upstream-path.ts"

/** Maximum pause before the second retry; the first retry is immediate. */
const pauseMs = 50

/** The request of an exchange to its backend: tries targets until one gives an accepted response, or no target is left. */
export class UpstreamCall implements Timed, AttemptEvents {
  readonly #exchange: ExchangeState
  readonly #backend: BackendClient
  readonly #waiting: Waiting
  readonly #key: string | undefined
  readonly #own: OwnAuthorization
  #attempt: Attempt | undefined
  /** The client's body, when it is streamed. */
  #stream: RequestBody | undefined
  #slot: UploadSlot | undefined
  readonly #tried: TriedTargets
  #repeatedIdle = false
  #settleHead: ((found: Problem | undefined) => void) | undefined
  #total: Deadline | undefined
  #bounded = false
  #endPause: (() => void) | undefined

  /** `key`: the key of `balance hash`. */
  constructor(exchange: ExchangeState, backend: BackendClient, waiting: Waiting, key: string | undefined) {
    this.#exchange = exchange
    this.#backend = backend
    this.#waiting = waiting
    this.#key = key
    this.#tried = new TriedTargets(backend, key)
    this.#own = new OwnAuthorization(exchange, backend.settings.authorization)
  }

  /** Sends the request. Resolves when the head of the response is set in the exchange, or with a problem. `timeoutMs` undefined: the backend's own. */
  send(timeoutMs: number | null | undefined): Promise<Problem | undefined> {
    return new Promise((resolve) => {
      this.#settleHead = resolve
      const totalMs = timeoutMs === undefined ? this.#backend.settings.totalMs : timeoutMs
      if (totalMs !== null) this.#total = this.#waiting.deadlines.set(this, totalMs)
      this.#bounded = totalMs !== null || this.#exchange.route?.plan.timeoutMs !== null
      this.#backend.retry?.budget.request()
      this.#prepared(() => this.#try())
    })
  }

  /** The client has disconnected, the time is up (`isLate`), or another response is sent: the backend should stop working on the request. */
  cancel(isLate: boolean): void {
    this.#endPause?.()
    this.#waiting.deadlines.cancel(this.#total)
    this.#attempt?.cancel(isLate)
    this.#stream?.destroy()
    this.#headIs(problem("gateway-timeout", { cause: "the request has ended" }))
  }

  /** The backend's total time is up. */
  expired(): void {
    const found = problem("gateway-timeout", {
      reason: "Timeout",
      cause: "the total timeout of the backend is over",
    })
    if (this.#settleHead === undefined) this.#exchange.response?.stop(found)
    this.#headIs(found)
    this.cancel(true)
  }

  /** The head of a response: it is passed on, or the request is repeated. After a 401 the gateway's own token is renewed once. */
  headed({ status, headers, length, body }: AnswerHead): void {
    const exchange = this.#exchange
    if (status === 401 && this.#own.mayRenew() && this.#isRepeatable()) {
      body.discard()
      exchange.retried = true
      this.#prepared(() => this.#begin((this.#attempt as Attempt).target))
      return
    }
    const next = this.#next(status, true)
    if (next !== undefined) {
      body.discard()
      this.#repeat(next)
      return
    }
    exchange.upstreamMs = exchange.monotonic() - exchange.started
    exchange.answered(body, status, headers, length)
    this.#headIs(undefined)
  }

  /** An attempt that failed. A request that was never sent may go to another target without using the retry budget. */
  failed({ cause, problem: found, wasIdle }: AttemptFailure): void {
    if (this.#settleHead === undefined) return
    // A keep-alive race uses no retry budget: the backend never saw the request.
    if (wasIdle && !this.#repeatedIdle && this.#isRepeatable()) {
      this.#repeatedIdle = true
      this.#exchange.retried = true
      this.#begin(this.#attempt?.target as Target)
      return
    }
    const isUnsent = cause === "connect-error" && !this.#hasSpentBody
    const elsewhere = isUnsent ? this.#tried.instead((this.#attempt as Attempt).target) : undefined
    if (elsewhere !== undefined) {
      this.#exchange.retried = true
      this.#begin(elsewhere)
      return
    }
    const next = this.#next(cause, false)
    if (next === undefined) this.#headIs(found)
    else this.#repeat(next)
  }

  complete(attempt: Attempt): void {
    if (attempt === this.#attempt) this.#waiting.deadlines.cancel(this.#total)
  }

  /** Continues when the gateway's credentials are available. */
  #prepared(next: () => void): void {
    const waiting = this.#own.prepare()
    if (waiting === undefined) next()
    else
      void waiting.then((found) => {
        if (this.#settleHead === undefined) return
        if (found === undefined) next()
        else this.#headIs(found)
      })
  }

  /** Chooses a target and sends the request to it. */
  #try(): void {
    const backend = this.#backend
    const target = backend.pick(this.#key)
    if (target === undefined) {
      const headers = ["retry-after", String(backend.retryAfterSeconds)]
      this.#headIs(
        problem("backend-unavailable", {
          headers,
          cause: backend.awayReason,
        }),
      )
    } else if (target.isOverloaded) {
      this.#headIs(overloaded("too many requests wait for this target"))
    } else this.#begin(target)
  }

  /** A body that the client is still sending needs an upload slot. */
  #begin(target: Target): void {
    const body = this.#openStream()
    this.#slot?.leave()
    if (body === undefined) this.#start(target)
    else
      this.#slot = target.uploads.enter(
        {
          body,
          isConversation: this.#exchange.isGrpc,
          caller: callerOf(this.#exchange),
          begin: () => this.#start(target),
          refuse: () => this.#headIs(overloaded("too many bodies wait for this target")),
        },
        this.#waiting,
      )
  }

  /** The stream of the request body, opened once: a body that was sent cannot be sent again. */
  #openStream(): RequestBody | undefined {
    const exchange = this.#exchange
    if (exchange.outgoingBody !== undefined || exchange.intake.body === "none") return undefined
    if (this.#stream === undefined) {
      this.#stream = exchange.openBody(exchange.generation.bodyBytesMax)
      // Once it has a connection, the attempt gets this error too; the first report decides.
      this.#stream.once("error", (error) => {
        if (error instanceof BodyFailure) this.#headIs(error.problem)
      })
    }
    return this.#stream
  }

  /** Starts an attempt at a target. */
  #start(target: Target): void {
    this.#exchange.target = target.place.origin
    this.#exchange.targetPath = loggedPathOf(this.#exchange, target)
    this.#attempt = new Attempt(target, {
      exchange: this.#exchange,
      waiting: this.#waiting,
      events: this,
      settings: this.#backend.settings,
      connections: this.#backend.connectionsFor(target, this.#exchange.certificate),
      authorization: this.#own.value,
      stream: this.#stream,
      bounded: this.#bounded,
    })
    this.#attempt.start()
  }

  /** The target for a retry with this cause, taken from the budget. Undefined: no retry. */
  #next(cause: AttemptFailure["cause"], hasAnswer: boolean): Target | undefined {
    const { retry } = this.#backend
    if (retry?.plan.on.some((each) => each === cause) !== true || this.#hasSpentBody) return undefined
    if (cause !== "connect-error" && !this.#isRepeatable()) return undefined
    return this.#tried.again((this.#attempt as Attempt).target, hasAnswer)
  }

  get #hasSpentBody(): boolean {
    return this.#attempt?.hasSpentBody === true
  }

  #isRepeatable(): boolean {
    if (this.#hasSpentBody) return false
    const method = this.#exchange.sentMethod ?? this.#exchange.method
    return repeatable.has(method) || this.#backend.retry?.plan.methods.includes(method) === true
  }

  #repeat(target: Target): void {
    this.#exchange.retried = true
    const { repetitions } = this.#tried
    // Random, so that requests that failed together are not retried together.
    if (repetitions === 1) this.#begin(target)
    else {
      const { clock } = this.#waiting
      this.#endPause = clock.after(clock.random() * pauseMs * repetitions, () => this.#begin(target))
    }
  }

  #headIs(found: Problem | undefined): void {
    const settle = this.#settleHead
    if (settle === undefined) return
    this.#settleHead = undefined
    if (found !== undefined) this.#waiting.deadlines.cancel(this.#total)
    settle(found)
  }
}

function overloaded(cause: string): Problem {
  return problem("overloaded", { headers: ["retry-after", "1"], cause })
}

/** The caller for upload limits: the credential, otherwise the address. */
function callerOf({ subscriber, claims, caller }: ExchangeState): string {
  if (subscriber?.name) return `subscription:${subscriber.name}`
  const { iss, sub } = claims ?? {}
  return typeof sub === "string" ? `claim:${JSON.stringify([iss, sub])}` : `ip:${caller}`
}

const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])
