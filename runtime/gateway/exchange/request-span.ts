import type { WholeRequest } from "../../tracing/request-trace.ts"
import type { Attributes } from "../../tracing/span.ts"
import type { Tracer } from "../../tracing/tracer.ts"
import type { Finished } from "../observer.ts"
import type { ExchangeState } from "./exchange-state.ts"

/** Methods that may be the value of `http.request.method`; others are `_OTHER`, because clients can send any. */
const knownMethods: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"],
])

/** A method as an attribute; also the name of a client's span. */
export function methodName(method: string): string {
  return knownMethods.has(method) ? method : "_OTHER"
}

/** The method as sent, when `methodName` does not show it. */
export function originalMethod(method: string): string | undefined {
  return knownMethods.has(method) ? undefined : method
}

/** Begins the trace of a request. Fields that are not valid are removed, so that the backend does not get them. */
export function beginTrace(exchange: ExchangeState, tracer: Tracer, api: string | undefined): void {
  const { headers, intake } = exchange
  const fields = {
    traceparent: intake.traceparent,
    tracestate: headers.get("tracestate"),
    baggage: headers.get("baggage"),
  }
  const { trace, invalid } = tracer.begin(fields, intake.trusted, api)
  for (const name of invalid) headers.remove(name)
  exchange.trace = trace
}

/** Whether the rule `always errors` keeps the request: the gateway or the backend failed, or the response was cut off. */
export function isFailed({ status, aborted }: Finished): boolean {
  return status >= 500 || aborted
}

/** The span of a request, with the attributes of OpenTelemetry's conventions for HTTP servers. */
export function wholeOf(exchange: ExchangeState, finished: Finished): WholeRequest {
  const { route } = exchange
  const method = methodName(finished.method)
  const { started, startedAtMs } = exchange
  return {
    spanName: route === undefined ? method : `${method} ${route.plan.path}`,
    ...{ started, startedAtMs, ended: started + finished.durationMs },
    error: finished.status >= 500 || finished.aborted ? errorType(finished) : undefined,
    attributes: () => serverAttributes(exchange, finished),
  }
}

/** As OpenTelemetry's conventions write it: without a minor version where the protocol has none. */
function versionOf({ isHttp2, httpVersionMajor, httpVersionMinor }: ExchangeState["request"]): string {
  return isHttp2 === true ? "2" : `${httpVersionMajor}.${httpVersionMinor}`
}

/** The query is left out, because it may contain keys; so are all headers except User-Agent. */
function serverAttributes(exchange: ExchangeState, finished: Finished): Attributes {
  const { intake, route, request, headers } = exchange
  const { method, status, decision } = finished
  const { host, port } = splitAuthority(intake.authority)
  return [
    ...["http.request.method", methodName(method), "http.request.method_original", originalMethod(method)],
    ...["url.scheme", intake.scheme, "url.path", finished.path],
    ...["server.address", host, "server.port", port],
    ...["client.address", finished.ip],
    ...["network.protocol.name", "http", "network.protocol.version", versionOf(request)],
    ...["user_agent.original", headers.get("user-agent")],
    ...["http.route", route?.plan.path],
    ...["http.response.status_code", status === 0 ? undefined : status],
    ...["error.type", status >= 500 || finished.aborted ? errorType(finished) : undefined],
    ...["sallyport.request_id", finished.id],
    ...["sallyport.api", finished.api, "sallyport.version", finished.version],
    ...["sallyport.operation", finished.operation],
    ...["sallyport.problem", finished.problem, "sallyport.reason", finished.reason],
    ...["sallyport.step", finished.answeredBy?.kind],
    ...["sallyport.decision.allowed", decision?.allowed, "sallyport.decision.relation", decision?.relation],
    ...["http.request.body.size", finished.bytesReceived, "http.response.body.size", finished.bytesSent],
  ]
}

/** The problem is more precise than the status. */
function errorType({ problem, status, aborted }: Finished): string {
  return problem ?? (aborted ? "aborted" : String(status))
}

/** Host and port of a Host field; no port: undefined. */
function splitAuthority(authority: string): { host: string | undefined; port: number | undefined } {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? []
  return {
    host: host === undefined || host === "" ? undefined : host.replace(/^\[|\]$/g, ""),
    port: port === undefined ? undefined : Number(port),
  }
}
