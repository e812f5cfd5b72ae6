import { grpcTimeoutMs } from "../../http/grpc.ts"
import { cutOff, type IncomingExchange } from "../../http/server/incoming.ts"
import type { RequestFault } from "../../http/server/request-fault.ts"
import { isPreflight } from "../../policies/access/cors.ts"
import type { Clock } from "../../policies/clock.ts"
import type { ExchangeError } from "../../policies/exchange.ts"
import { certificateChallenge, type Problem, problem } from "../../policies/messages/answer.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"
import type { Outcome } from "../../policies/policy.ts"
import { runSteps } from "../../policies/run-steps.ts"
import type { Deadline, Deadlines, Timed } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"
import type { Generation, LiveRoute } from "../generation/generation.ts"
import type { Observer, Protocol } from "../observer.ts"
import type { HostMatch } from "../routes/routes.ts"
import { unmatched } from "../routes/unmatched.ts"
import type { OpenTunnel, TunnelKeeper } from "../tunnels/tunnel-keeper.ts"
import type { Tunnels } from "../tunnels/tunnels.ts"
import { upgradeRefusal } from "../tunnels/upgrade-refusal.ts"
import type { Waiting } from "./answer-stream.ts"
import { answererOf, elementOf, placeOf } from "./answered-by.ts"
import type { Certified, CertifiedExchange } from "./certified.ts"
import { type Intake, takeIn } from "./intake.ts"
import { LiveExchange } from "./live-exchange.ts"
import { serveOidc } from "./oidc-requests.ts"
import { apimMessage, problemStatus } from "./problem.ts"
import { beginRecord, endRecord } from "./recorded-exchange.ts"
import { asAnswer, rendered, sendAnswer, sendDirect } from "./reply.ts"
import { beginTrace, endTrace } from "./request-span.ts"

/** Shared by all requests of the process. */
export interface PipelineContext {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** That of the running plan. */
  patience: Patience
  observer: Observer
  readonly newId: () => string
  readonly tunnels: Tunnels
  readonly certified: Certified
  readonly webSocketsOf?: Waiting["webSocketsOf"]
}

/** Serves one request. `target` is the request target as sent. */
export function serve(
  context: PipelineContext,
  generation: Generation,
  incoming: IncomingExchange,
  target: string,
): void {
  const exchange = new LiveExchange(incoming, generation, context, context.newId())
  const passage = new Passage(context, exchange)
  try {
    passage.begin(target)
  } catch (error) {
    passage.broke(error)
  }
}

/** The course of one exchange through the sections of its route: inbound, backend, outbound; on-error after a failure. */
class Passage implements Timed, TunnelKeeper, CertifiedExchange {
  readonly #context: PipelineContext
  readonly #exchange: LiveExchange
  #tunnel: OpenTunnel | undefined
  #deadline: Deadline | undefined
  #holdsGeneration = false

  constructor(context: PipelineContext, exchange: LiveExchange) {
    this.#context = context
    this.#exchange = exchange
  }

  /** Begins a request: it belongs to the present generation until it ends, even if a new plan is applied meanwhile. */
  begin(target: string): void {
    const exchange = this.#exchange
    const { request, reply, generation } = exchange
    generation.enter()
    this.#holdsGeneration = true
    exchange.tunnelKeeper = this
    // `close` means that the response is complete or that the client has disconnected.
    reply.once("close", () => this.#closed())
    // Streams of HTTP/2 have such a listener from the beginning.
    if (request.isHttp2 !== true) reply.on("error", ignore)
    const intake = takeIn(request, target, generation.rules)
    if ("kind" in intake) {
      exchange.refused = true
      // Forwarding fields of an invalid head are not believed.
      const { ip } = generation.rules.addresses.of(request.socket.remoteAddress ?? "", undefined)
      exchange.intake = { ...exchange.intake, ip }
      this.#fail(intake)
      return
    }
    exchange.take(intake)
    const fault = exchange.listener.transport.tls?.faultOf(request.socket, intake.authority)
    if (fault !== undefined) {
      this.#fail(certificateFault(fault))
      return
    }
    const { peer } = exchange
    if (peer !== undefined && peer.fault === undefined) this.#context.certified.add(this)
    const { redirectPort } = exchange.listener.transport
    if (redirectPort !== undefined && intake.scheme === "http") {
      this.#settle(redirectToHttps(intake, redirectPort), ignore)
      return
    }
    const endpoint = generation.oidc?.find(intake.path, intake.authority)
    if (endpoint !== undefined) {
      const { timeoutMs } = generation.plan.plan.gateway?.limits ?? {}
      if (typeof timeoutMs === "number") this.#deadline = this.#context.deadlines.set(this, timeoutMs)
      this.#after(serveOidc(endpoint, exchange), () => this.#fail(problem("not-found")))
      return
    }
    const match = generation.routes.find(exchange.method, intake.path, intake.authority)
    if (generation.tracer !== undefined)
      beginTrace(exchange, generation.tracer, match.kind === "found" ? match.route.plan.api : undefined)
    beginRecord(exchange)
    if (this.#sharing(match)) return
    if (match.kind !== "found") this.#refuse(unmatched(match, generation.errors))
    else {
      exchange.route = match.route
      exchange.parameters = match.parameters
      this.#admit(match.route)
    }
  }

  /** No route matches: runs the `unmatched` steps of the gateway's documents, with the default timeout. */
  #refuse(found: Problem): void {
    const { generation } = this.#exchange
    const timeoutMs = generation.plan.plan.gateway?.limits.timeoutMs ?? null
    if (generation.onUnmatched.length > 0 && timeoutMs !== null)
      this.#deadline = this.#context.deadlines.set(this, timeoutMs)
    this.#fail(found, generation.onUnmatched)
  }

  /**
   * The `cors` step of the route that a preflight asks about responds before everything else. A route for OPTIONS handles preflights itself. True:
   * the response was sent.
   */
  #sharing(match: HostMatch<LiveRoute>): boolean {
    const exchange = this.#exchange
    if (!isPreflight(exchange) || (match.kind === "found" && match.route.method === "OPTIONS")) return false
    const { generation, intake } = exchange
    const method = exchange.headers.get("access-control-request-method") ?? ""
    const asked = generation.routes.find(method, intake.path, intake.authority)
    if (asked.kind !== "found" || asked.route.cors === undefined) return false
    exchange.route = asked.route
    exchange.parameters = asked.parameters
    const outcome = runSteps([asked.route.cors], exchange)
    if (outcome === undefined) exchange.route = undefined
    else this.#after(outcome, () => this.#fail(problem("not-found")))
    return outcome !== undefined
  }

  /** The timeout of the whole exchange has expired. */
  expired(): void {
    const exchange = this.#exchange
    const { request, reply, intake } = exchange
    exchange.cut = reply.headersSent
    exchange.failed = true
    const isBodyLate = exchange.reading && intake.body !== "none" && !request.complete
    exchange.dropUpstream(!isBodyLate)
    if (reply.headersSent) {
      exchange.cause ??= "the timeout of the route is over"
      cutOff(exchange)
    } else if (isBodyLate)
      this.#fail(
        problem("request-timeout", { cause: "the body did not arrive within the timeout of the route" }),
      )
    else
      this.#fail(problem("gateway-timeout", { reason: "Timeout", cause: "the timeout of the route is over" }))
  }

  /** The certificate has expired, was revoked or has lost its authority since the exchange began. */
  judge(): void {
    const exchange = this.#exchange
    const { request, reply, listener, peer } = exchange
    // A listener that no longer verifies certificates says nothing about them.
    if (peer?.fault === undefined || listener.transport.tls?.trustOf(request.socket) === undefined) return
    const cause = `the client certificate is no longer accepted: ${peer.fault}`
    if (this.#tunnel !== undefined) {
      exchange.cause ??= cause
      this.#tunnel.close()
    } else if (reply.headersSent) {
      exchange.cause ??= cause
      exchange.cut = true
      exchange.failed = true
      exchange.dropUpstream()
      cutOff(exchange)
    } else if (exchange.reading && !request.complete) {
      exchange.dropUpstream(false)
      this.#fail(certificateFault({ name: "certificate-required", cause }))
    }
  }

  /** A bug in the gateway: only this request fails, and the log has the reason. */
  broke(error: unknown): void {
    const exchange = this.#exchange
    exchange.problem = "internal-error"
    exchange.cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    exchange.failed = true
    exchange.dropUpstream()
    if (exchange.reply.headersSent) cutOff(exchange)
    else sendDirect(exchange, asAnswer(problem("internal-error"), exchange))
  }

  /** Admits a request to its route: limits that need no body are checked before any step. */
  #admit(route: LiveRoute): void {
    const { intake, generation } = this.#exchange
    const refusal = intake.wantsWebSocket
      ? upgradeRefusal(this.#exchange, this.#exchange.webSocket, this.#exchange.upgrade !== undefined)
      : undefined
    if (refusal !== undefined) {
      this.#fail(refusal)
      return
    }
    if (typeof intake.body === "number" && intake.body > generation.bodyBytesMax) {
      this.#fail(problem("body-too-large", { cause: `a body of ${intake.body} bytes` }))
      return
    }
    const timeoutMs = timeoutOf(this.#exchange, route.plan.timeoutMs)
    if (timeoutMs !== null) this.#deadline = this.#context.deadlines.set(this, timeoutMs)
    this.#after(runSteps(route.inbound, this.#exchange), () => this.#toBackend(route))
  }

  #toBackend(route: LiveRoute): void {
    this.#exchange.section = "backend"
    this.#after(runSteps(route.backend, this.#exchange), () =>
      this.#after(this.#exchange.arrived(), () => this.#toClient(route)),
    )
  }

  /** `from`: index of the first outbound step to run. */
  #toClient(route: LiveRoute, from = 0): void {
    const exchange = this.#exchange
    exchange.section = "outbound"
    // A backend section that forwards nothing leaves an empty 200 response for the outbound steps, as in Azure API Management.
    if (exchange.response === undefined)
      exchange.respondWith({ status: 200, headers: new HeaderList(), body: undefined })
    this.#after(runSteps(route.outbound, exchange, from), this.#respond)
  }

  #found(): void {
    const { route, section } = this.#exchange
    if (route === undefined || section === "outbound") this.#respond()
    else this.#toClient(route, route.afterStore)
  }

  /** Sends the response as the steps left it. */
  readonly #respond = (): void => {
    const exchange = this.#exchange
    const { response } = exchange
    if (response?.stream === undefined) {
      this.#sendWhole()
      return
    }
    const found = response.stream.relay()
    if (found !== undefined) this.#fail(found)
  }

  /** Sends a response that was read completely. Its length is that of the body, whatever the backend said. */
  #sendWhole(): void {
    const exchange = this.#exchange
    const { response } = exchange
    if (response === undefined) return
    if (response.status < 200) {
      this.#fail(
        problem("bad-gateway", { cause: "a step changed the body of a response that opens a tunnel" }),
      )
      return
    }
    const { status, reason, headers, body } = response
    response.drop()
    headers.remove("content-length")
    sendAnswer(exchange, { kind: "answer", status, reason, headers: headers.flat, body: body.outgoing })
  }

  /** Continues when no step ended the section; waits only for promises. */
  #after(outcome: Outcome | Promise<Outcome>, next: () => void): void {
    if (outcome instanceof Promise) {
      outcome.then((late) => this.#settle(late, next)).catch((error: unknown) => this.broke(error))
    } else this.#settle(outcome, next)
  }

  /** Continues after a section, or ends the request with its outcome. */
  #settle(outcome: Outcome, next: () => void): void {
    const exchange = this.#exchange
    if (exchange.over || exchange.failed || exchange.reply.headersSent) return
    if (outcome === undefined) next()
    else if (outcome.kind === "problem") this.#fail(outcome)
    else if (outcome.kind === "found") this.#found()
    else {
      exchange.cause ??= outcome.cause
      exchange.dropUpstream()
      sendDirect(exchange, outcome)
    }
  }

  /** Runs the on-error section for the problem and sends the result. */
  #fail(found: Problem, onError = this.#exchange.route?.onError ?? []): void {
    const exchange = this.#exchange
    if (exchange.over || exchange.reply.headersSent) return
    exchange.failed = true
    exchange.problem = found.name
    exchange.problemMessage = found.message
    exchange.reason = found.reason
    exchange.cause = found.cause
    exchange.failurePlace = placeOf(exchange.generation.plan, exchange, found.expression)
    exchange.dropUpstream()
    if (onError.length === 0) {
      sendDirect(exchange, asAnswer(found, exchange))
      return
    }
    exchange.error = errorOf(found, exchange)
    exchange.section = "on-error"
    const { status, headers, body } = rendered(found, exchange)
    exchange.respondWith({ status, headers: new HeaderList(headers), body })
    const outcome = runSteps(onError, exchange)
    if (outcome instanceof Promise)
      outcome.then((late) => this.#sendFailure(late, found)).catch((error: unknown) => this.broke(error))
    else this.#sendFailure(outcome, found)
  }

  /** The response after `on-error`. A failure in `on-error` itself is reported as it is: it must not run again. */
  #sendFailure(outcome: Outcome, found: Problem): void {
    const exchange = this.#exchange
    if (exchange.over || exchange.reply.headersSent) return
    if (outcome === undefined) {
      this.#sendWhole()
      return
    }
    if (outcome.kind === "problem") {
      exchange.cause = `${found.cause ?? found.name}; then in on-error: ${outcome.cause ?? outcome.name}`
      sendDirect(exchange, asAnswer(found, exchange))
    } else if (outcome.kind === "found") this.#sendWhole()
    else sendDirect(exchange, outcome)
  }

  /** The tunnel is open. It no longer needs the plan, so the generation can be released. */
  tunnelOpened(tunnel: OpenTunnel): void {
    const { route } = this.#exchange
    this.#tunnel = tunnel
    this.#context.deadlines.cancel(this.#deadline)
    const closeWhenRemoved = this.#exchange.webSocket?.closeWhenRemoved === true
    this.#context.tunnels.add({ tunnel, routeKey: route?.key ?? "", closeWhenRemoved })
    const { observer } = this.#context
    observer.opened?.(finishedOf(this.#exchange, false))
    this.#leave()
  }

  tunnelEnded(tunnel: OpenTunnel): void {
    this.#context.tunnels.remove(tunnel)
    this.#closed()
  }

  #leave(): void {
    if (!this.#holdsGeneration) return
    this.#holdsGeneration = false
    this.#exchange.generation.leave()
  }

  /** The connection of the response is closed: the exchange is over, complete or not. */
  #closed(): void {
    const exchange = this.#exchange
    if (exchange.over) return
    this.#context.deadlines.cancel(this.#deadline)
    this.#context.certified.delete(this)
    const complete = (exchange.status === 101 || exchange.reply.writableFinished) && !exchange.cut
    exchange.end()
    const finished = finishedOf(exchange, !complete)
    this.#context.observer.finished(finished)
    if (exchange.recording !== undefined) endRecord(exchange, exchange.recording, finished)
    if (exchange.trace !== undefined) endTrace(exchange, finished)
    this.#leave()
  }
}

/** The error for on-error steps: for an expression of a document its own message, otherwise the text for clients; never the text of the log. */
function errorOf(found: Problem, exchange: LiveExchange): ExchangeError {
  const { answeredBy, section, generation } = exchange
  const element = elementOf(generation.plan, exchange)
  return {
    source: element?.source ?? answeredBy?.kind ?? "configuration",
    reason: found.reason ?? found.name,
    message: found.failure ?? apimMessage(found),
    section,
    scope: element?.scope ?? "",
    path: element?.path ?? "",
    policyId: element?.id ?? "",
    status: problemStatus(found),
  }
}

function certificateFault({ name, cause }: RequestFault): Problem {
  const headers = name === "certificate-required" ? ["www-authenticate", certificateChallenge] : undefined
  return problem(name, { cause, headers })
}

const httpsPort = 443

/** The same URL with `https:`. A Host without a name, as HTTP/1.0 allows, has no URL to redirect to. */
function redirectToHttps({ authority, path, query }: Intake, port: number): Outcome {
  if (authority === "") return problem("https-required", { cause: "plain HTTP without Host" })
  const host = authority.replace(/:\d*$/, "")
  const location = `https://${host}${port === httpsPort ? "" : `:${port}`}${path}${query === "" ? "" : `?${query}`}`
  return { kind: "answer", status: 308, headers: ["location", location], body: undefined }
}

/** A write after the client has disconnected also emits `close`, which is handled; without a listener the error would end the process. */
function ignore(): void {}

/** What is reported about a request, for the log, metrics and usage. */
function finishedOf(exchange: LiveExchange, aborted: boolean): Parameters<Observer["finished"]>[0] {
  const { route, claims, cause } = exchange
  const subject = claims?.["sub"]
  return {
    id: exchange.id,
    startedAtMs: exchange.startedAtMs,
    durationMs: exchange.monotonic() - exchange.started,
    upstreamMs: exchange.upstreamMs,
    protocol: protocolOf(exchange.request),
    method: exchange.method,
    path: exchange.path,
    route: route?.key,
    api: route?.plan.api,
    version: route?.plan.version ?? undefined,
    operation: route?.plan.operation,
    status: exchange.status,
    grpcStatus: exchange.isGrpc ? (exchange.grpcStatus ?? null) : undefined,
    problem: exchange.problem,
    reason: exchange.reason,
    cause: cause === undefined ? undefined : withOrigin(exchange, cause),
    ip: exchange.ip,
    user: typeof subject === "string" ? subject : undefined,
    subscription: exchange.subscriber?.name || undefined,
    product: exchange.subscriber?.product,
    backend: exchange.backend?.name,
    target: exchange.target,
    targetPath: exchange.targetPath,
    host: exchange.target === undefined ? undefined : exchange.host,
    bytesReceived: exchange.bytesReceived,
    bytesSent: exchange.bytesSent,
    decision: exchange.decision,
    answeredBy: answererOf(exchange.generation.plan, exchange),
    traceparent: exchange.intake.context?.traceparent,
    trace: exchange.trace,
    aborted,
    retried: exchange.retried,
    plan: exchange.generation.plan.digest,
  }
}

/** A call of gRPC brings its own deadline, which can only be earlier than that of the route. */
function timeoutOf({ isGrpc, headers }: LiveExchange, routeMs: number | null): number | null {
  const askedMs = isGrpc ? grpcTimeoutMs(headers.get("grpc-timeout")) : undefined
  return askedMs === undefined ? routeMs : Math.min(askedMs, routeMs ?? askedMs)
}

function protocolOf({
  isHttp2,
  httpVersionMajor,
  httpVersionMinor,
}: LiveExchange["request"]): Protocol | undefined {
  if (isHttp2 === true) return "HTTP/2"
  if (httpVersionMajor !== 1) return undefined
  return httpVersionMinor === 0 ? "HTTP/1.0" : "HTTP/1.1"
}

/** `gateway.conf:41: …` when the plan has the place. */
function withOrigin({ route, generation, failurePlace }: LiveExchange, cause: string): string {
  const origin =
    failurePlace ?? (route === undefined ? undefined : generation.plan.origins[`routes.${route.key}`])
  return origin === undefined ? cause : `${origin}: ${cause}`
}
