import type { IncomingMessage, ServerResponse } from "node:http"
import { type Answer, type Problem, problem } from "../policies/answer.ts"
import { HeaderList } from "../policies/header-list.ts"
import type { Outcome } from "../policies/policy.ts"
import { runSteps } from "../policies/run-steps.ts"
import { Backend } from "./backends.ts"
import type { Deadline, Deadlines, Timed } from "./deadlines.ts"
import { Forwarding } from "./forwarding.ts"
import type { Generation } from "./generation.ts"
import { takeIn } from "./intake.ts"
import { LiveExchange } from "./live-exchange.ts"
import type { Observer } from "./observer.ts"
import type { Patience } from "./patience.ts"
import { problemBody, problemStatus } from "./problem.ts"
import { asAnswer, problemLines, sendAnswer } from "./reply.ts"

/** What every request of the process shares. */
export interface PipelineContext {
  readonly deadlines: Deadlines
  readonly patience: Patience
  readonly observer: Observer
  readonly newId: () => string
}

/** Serves one request. `target` is the request target as sent. */
export function serve(
  context: PipelineContext,
  generation: Generation,
  request: IncomingMessage,
  reply: ServerResponse,
  target: string,
): void {
  const exchange = new LiveExchange(request, reply, generation, context.newId())
  const passage = new Passage(context, exchange)
  try {
    passage.begin(target)
  } catch (error) {
    passage.broke(error)
  }
}

/** The way of one exchange through the sections of its route: inbound, backend, outbound; on-error wherever it breaks. */
class Passage implements Timed {
  readonly #context: PipelineContext
  readonly #exchange: LiveExchange
  #deadline: Deadline | undefined
  #forwarding: Forwarding | undefined

  constructor(context: PipelineContext, exchange: LiveExchange) {
    this.#context = context
    this.#exchange = exchange
  }

  begin(target: string): void {
    const exchange = this.#exchange
    const { request, reply, generation } = exchange
    generation.enter()
    // One event says both: the answer is out, or the client has gone.
    reply.once("close", () => this.#closed())
    reply.on("error", ignore)
    const intake = takeIn(request, target, generation.rules)
    if ("kind" in intake) {
      exchange.refused = true
      // Nothing the head says of where it came from is believed.
      const { ip } = generation.rules.addresses.of(request.socket.remoteAddress ?? "", undefined)
      exchange.intake = { ...exchange.intake, ip }
      this.#fail(intake)
      return
    }
    exchange.take(intake)
    const match = generation.routes.find(exchange.method, intake.path)
    if (match.kind === "none") this.#fail(problem("not-found"))
    else if (match.kind === "method")
      this.#fail(problem("method-not-allowed", { headers: ["allow", match.allow] }))
    else {
      exchange.route = match.route
      exchange.parameters = match.parameters
      this.#admit()
    }
  }

  /** The time for the whole exchange is up. */
  expired(): void {
    const { request, reply, intake } = this.#exchange
    this.#exchange.cut = reply.headersSent
    this.#forwarding?.cancel()
    if (reply.headersSent) {
      this.#exchange.cause ??= "the time of the route is up"
      request.socket.destroy()
    } else if (this.#forwarding !== undefined && intake.body !== "none" && !request.complete)
      this.#fail(problem("request-timeout", { cause: "the body did not arrive in the time of the route" }))
    else this.#fail(problem("gateway-timeout", { cause: "the time of the route is up" }))
  }

  /** A mistake of ours: this request fails, with its reason in the log, and no other. */
  broke(error: unknown): void {
    const exchange = this.#exchange
    exchange.problem = "internal-error"
    exchange.cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const { reply, request } = exchange
    if (reply.headersSent) request.socket.destroy()
    else sendAnswer(exchange, asAnswer(problem("internal-error"), exchange.id))
  }

  #admit(): void {
    const { intake, generation, route } = this.#exchange
    if (route === undefined) return
    if (intake.wantsWebSocket) {
      this.#fail(problem("not-implemented", { cause: "an upgrade to websocket" }))
      return
    }
    if (typeof intake.body === "number" && intake.body > generation.bodyBytesMax) {
      this.#fail(problem("body-too-large", { cause: `a body of ${intake.body} bytes` }))
      return
    }
    const { timeoutMs } = route.plan
    if (timeoutMs !== null) this.#deadline = this.#context.deadlines.set(this, timeoutMs)
    this.#after(runSteps(route.inbound, this.#exchange), this.#toBackend)
  }

  readonly #toBackend = (): void => {
    this.#after(runSteps(this.#exchange.route?.backend ?? [], this.#exchange), this.#forward)
  }

  readonly #forward = (): void => {
    const { backend } = this.#exchange
    if (!(backend instanceof Backend)) {
      this.#fail(problem("internal-error", { cause: "the route neither answers nor forwards" }))
      return
    }
    this.#forwarding = new Forwarding(this.#exchange, backend, this.#context, (_, found) => this.#fail(found))
    this.#forwarding.start()
  }

  /** Goes on when nothing answered; waits only where it has to. */
  #after(outcome: Outcome | Promise<Outcome>, next: () => void): void {
    if (outcome instanceof Promise) {
      outcome.then((late) => this.#settle(late, next)).catch((error: unknown) => this.broke(error))
    } else this.#settle(outcome, next)
  }

  #settle(outcome: Outcome, next: () => void): void {
    if (this.#exchange.over || this.#exchange.reply.headersSent) return
    if (outcome === undefined) next()
    else if (outcome.kind === "problem") this.#fail(outcome)
    else sendAnswer(this.#exchange, outcome)
  }

  /** Runs the on-error section over the problem and sends what it leaves. */
  #fail(found: Problem): void {
    const exchange = this.#exchange
    if (exchange.over || exchange.reply.headersSent) return
    exchange.problem = found.name
    exchange.cause = found.cause
    const onError = exchange.route?.onError ?? []
    if (onError.length === 0) {
      sendAnswer(exchange, asAnswer(found, exchange.id))
      return
    }
    exchange.response = {
      status: problemStatus(found),
      headers: new HeaderList(problemLines(found)),
      body: problemBody(found, exchange.id),
    }
    const outcome = runSteps(onError, exchange)
    if (outcome instanceof Promise)
      outcome.then((late) => this.#sendFailure(late, found)).catch((error: unknown) => this.broke(error))
    else this.#sendFailure(outcome, found)
  }

  #sendFailure(outcome: Outcome, found: Problem): void {
    const exchange = this.#exchange
    const { response } = exchange
    if (outcome?.kind === "problem") {
      exchange.cause = `${found.cause ?? found.name}; then in on-error: ${outcome.cause ?? outcome.name}`
      sendAnswer(exchange, asAnswer(found, exchange.id))
      return
    }
    const answer: Answer | undefined =
      outcome ??
      (response === undefined
        ? found
        : { kind: "answer", status: response.status, headers: response.headers.flat, body: response.body })
    sendAnswer(exchange, asAnswer(answer, exchange.id))
  }

  #closed(): void {
    const exchange = this.#exchange
    if (exchange.over) return
    exchange.over = true
    this.#context.deadlines.cancel(this.#deadline)
    const complete = exchange.reply.writableFinished && !exchange.cut
    this.#forwarding?.cancel()
    this.#context.observer.finished(finishedOf(exchange, !complete))
    exchange.generation.leave()
  }
}

/** A write after the client has gone is also said by `close`, which is listened to; unheard, the error would end the process. */
function ignore(): void {}

function finishedOf(exchange: LiveExchange, aborted: boolean): Parameters<Observer["finished"]>[0] {
  const { route, claims, cause } = exchange
  const subject = claims?.["sub"]
  return {
    id: exchange.id,
    startedAtMs: exchange.startedAtMs,
    durationMs: performance.now() - exchange.started,
    upstreamMs: exchange.upstreamMs,
    method: exchange.method,
    path: exchange.path,
    route: route?.key,
    api: route?.plan.api,
    version: route?.plan.version ?? undefined,
    operation: route?.plan.operation,
    status: exchange.status,
    problem: exchange.problem,
    cause: cause === undefined ? undefined : withOrigin(exchange, cause),
    ip: exchange.ip,
    user: typeof subject === "string" ? subject : undefined,
    subscription: exchange.subscriber?.name,
    backend: exchange.backend?.name,
    target: exchange.target,
    bytesReceived: exchange.bytesReceived,
    bytesSent: exchange.bytesSent,
    decision: exchange.decision,
    traceparent: exchange.intake.traceparent,
    aborted,
    retried: exchange.retried,
  }
}

/** `gateway.conf:41: …` where the plan knows the place of the route. */
function withOrigin({ route, generation }: LiveExchange, cause: string): string {
  const origin = route === undefined ? undefined : generation.plan.origins[`routes.${route.key}`]
  return origin === undefined ? cause : `${origin}: ${cause}`
}
