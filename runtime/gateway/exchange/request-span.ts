import type { HeaderList } from "../../policies/messages/header-list.ts"
import {
  firstAttribute,
  flagAttribute,
  lastKept,
  textAttribute,
  wholeAttribute,
} from "../../tracing/attributes.ts"
import { noCaller, type WholeRequest } from "../../tracing/request-trace.ts"
import type { Tracer } from "../../tracing/tracer.ts"
import type { LiveRoute } from "../generation/generation.ts"
import type { Finished } from "../observer.ts"
import type { ExchangeState } from "./exchange-state.ts"
import { grpcError, grpcStatusOf, isServerFailure } from "./grpc.ts"

/** Methods that may be the value of `http.request.method`; others are `_OTHER`, because clients can send any. */
const knownMethods: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"],
])

/** A method as an attribute; also the name of a client's span. */
export function methodName(method: string): string {
  return knownMethods.has(method) ? method : "_OTHER"
}

const requestMethod = firstAttribute("http.request.method")
const originalMethod = textAttribute("http.request.method_original")

/** The attributes of a method; also the method as sent, if it is an unusual one. They begin a list. */
export const methodAttributes = lastKept((method: string) => {
  const name = methodName(method)
  return requestMethod(name) + originalMethod(name === method ? undefined : method)
})

/** Begins the trace of a request. Of the caller's context, the backend gets what is valid. */
export function beginTrace(exchange: ExchangeState, tracer: Tracer, api: string | undefined): void {
  const { headers, intake } = exchange
  let caller = noCaller
  if (intake.context !== undefined) {
    caller = tracer.read(intake.context)
    if (caller.parent === undefined) headers.remove("traceparent")
    keepValid(headers, "tracestate", caller.traceState)
    keepValid(headers, "baggage", caller.baggage)
  }
  exchange.trace = tracer.begin(caller, intake.trusted, api)
}

/** Removes a field that is not valid. Several valid lines become one, as W3C Trace Context recommends (section 3.3.1). */
function keepValid(headers: HeaderList, name: string, value: string | undefined): void {
  if (value === undefined) headers.remove(name)
  else if (headers.count(name) > 1) headers.set(name, value)
}

/** Ends the trace of a request, and exports it if it is to be kept. */
export function endTrace(exchange: ExchangeState, finished: Finished): void {
  const { trace, generation } = exchange
  const { tracer } = generation
  if (trace === undefined || tracer === undefined) return
  const failed = hasFailed(exchange, finished)
  if (tracer.keeps(trace, finished.durationMs, failed)) tracer.end(trace, wholeOf(exchange, finished, failed))
}

/**
 * The rule `always errors`: the gateway or the backend failed, or the response was cut off. A call of gRPC fails with status 200, by `grpc-status`, which
 * is usually in the trailers.
 */
function hasFailed(exchange: ExchangeState, finished: Finished): boolean {
  if (finished.status >= 500 || finished.aborted) return true
  return exchange.isGrpc && isServerFailure(grpcStatusFor(exchange, finished))
}

/** The span of a request, with the attributes of OpenTelemetry's conventions for HTTP servers. */
function wholeOf(exchange: ExchangeState, finished: Finished, failed: boolean): WholeRequest {
  const { route, started, startedAtMs } = exchange
  const method = methodName(finished.method)
  return {
    spanName:
      (exchange.isGrpc ? rpcName(finished.path) : undefined) ??
      (route === undefined ? method : `${method} ${route.plan.path}`),
    startedAtMs,
    started,
    ended: started + finished.durationMs,
    error: failed ? errorType(exchange, finished) : undefined,
    attributes: () => serverAttributes(exchange, finished, failed),
  }
}

const urlScheme = textAttribute("url.scheme")
const urlPath = textAttribute("url.path")
const serverAddress = textAttribute("server.address")
const serverPort = wholeAttribute("server.port")
const clientAddress = textAttribute("client.address")
const protocolName = textAttribute("network.protocol.name")
const protocolVersion = textAttribute("network.protocol.version")
const userAgent = textAttribute("user_agent.original")
const httpRoute = textAttribute("http.route")
const responseStatus = wholeAttribute("http.response.status_code")
const requestSize = wholeAttribute("http.request.body.size")
const responseSize = wholeAttribute("http.response.body.size")
const errorKind = textAttribute("error.type")
const requestId = textAttribute("sallyport.request_id")
const apiName = textAttribute("sallyport.api")
const versionName = textAttribute("sallyport.version")
const operationName = textAttribute("sallyport.operation")
const problemName = textAttribute("sallyport.problem")
const reasonName = textAttribute("sallyport.reason")
const stepName = textAttribute("sallyport.step")
const decisionAllowed = flagAttribute("sallyport.decision.allowed")
const decisionRelation = textAttribute("sallyport.decision.relation")

const schemeAttribute = lastKept((scheme: string) => urlScheme(scheme) + protocolName("http"))
const versionAttribute = lastKept(protocolVersion)
const userAgentAttribute = lastKept(userAgent)
const statusAttribute = lastKept((status: number) => responseStatus(status === 0 ? undefined : status))

const authorityAttributes = lastKept((authority: string) => {
  const { host, port } = splitAuthority(authority)
  return serverAddress(host) + serverPort(port)
})

/** The attributes that every request of a route has. */
const routeTexts = new WeakMap<LiveRoute, string>()

function routeAttributes(route: LiveRoute): string {
  let text = routeTexts.get(route)
  if (text === undefined) {
    const { path, api, version, operation } = route.plan
    text =
      httpRoute(path) +
      apiName(api) +
      versionName(version ?? undefined) +
      operationName(operation ?? undefined)
    routeTexts.set(route, text)
  }
  return text
}

/** The query is left out, because it may contain keys; so are all headers except User-Agent. */
function serverAttributes(exchange: ExchangeState, finished: Finished, failed: boolean): string {
  const { intake, route, request, headers } = exchange
  const { status, bytesReceived, bytesSent } = finished
  return (
    methodAttributes(finished.method) +
    schemeAttribute(intake.scheme) +
    versionAttribute(versionOf(request)) +
    authorityAttributes(intake.authority) +
    urlPath(finished.path) +
    clientAddress(finished.ip) +
    userAgentAttribute(headers.get("user-agent")) +
    (route === undefined ? "" : routeAttributes(route)) +
    statusAttribute(status) +
    requestId(finished.id) +
    (bytesReceived === 0 ? "" : requestSize(bytesReceived)) +
    responseSize(bytesSent) +
    (failed ? errorKind(errorType(exchange, finished)) : "") +
    outcomeAttributes(finished) +
    (exchange.isGrpc ? rpcAttributes(finished.path, grpcStatusFor(exchange, finished)) : "")
  )
}

const rpcSystem = textAttribute("rpc.system")("grpc")
const rpcService = textAttribute("rpc.service")
const rpcMethod = textAttribute("rpc.method")
const rpcStatus = wholeAttribute("rpc.grpc.status_code")
const rpcPath = /^\/(.+)\/([^/]+)$/

/** The attributes of a call of gRPC; its path is `/package.Service/Method`. `status`: undefined if there was none. */
export function rpcAttributes(path: string, status: number | undefined): string {
  const [, service, method] = rpcPath.exec(path) ?? []
  return rpcSystem + rpcService(service) + rpcMethod(method) + rpcStatus(status)
}

/** `package.Service/Method`; undefined for another path. */
export function rpcName(path: string | undefined): string | undefined {
  return path !== undefined && rpcPath.test(path) ? path.slice(1) : undefined
}

/** The gateway's own responses are those with a problem. */
function grpcStatusFor({ grpcStatus }: ExchangeState, { problem, status }: Finished): number | undefined {
  return problem === undefined ? grpcStatus : grpcStatusOf(status)
}

/** Why the response is not simply that of the backend. */
function outcomeAttributes(finished: Finished): string {
  const { problem, reason, answeredBy, decision } = finished
  return (
    (problem === undefined ? "" : problemName(problem) + reasonName(reason)) +
    stepName(answeredBy?.kind) +
    (decision === undefined ? "" : decisionAllowed(decision.allowed) + decisionRelation(decision.relation))
  )
}

/** As OpenTelemetry's conventions write it: without a minor version where the protocol has none. */
function versionOf({ isHttp2, httpVersionMajor, httpVersionMinor }: ExchangeState["request"]): string {
  return isHttp2 === true ? "2" : httpVersionMinor === 1 ? "1.1" : `${httpVersionMajor}.${httpVersionMinor}`
}

/** The problem is more precise than the status. */
function errorType(exchange: ExchangeState, finished: Finished): string {
  const { problem, status, aborted } = finished
  if (problem !== undefined) return problem
  if (aborted) return "aborted"
  return status < 500 && exchange.isGrpc ? grpcError(exchange.grpcStatus) : String(status)
}

/** Host and port of a Host field; no port: undefined. */
function splitAuthority(authority: string): { host: string | undefined; port: number | undefined } {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? []
  return {
    host: host === undefined || host === "" ? undefined : host.replace(/^\[|\]$/g, ""),
    port: port === undefined ? undefined : Number(port),
  }
}
