import { firstAttribute, lastKept, textAttribute, wholeAttribute } from "../tracing/attributes.ts"
import { noCaller } from "../tracing/request-trace.ts"
import { addReads } from "../tracing/tuple-spans.ts"
import type { AuthzApi } from "./api.ts"
import type { EngineOutcome } from "./observed.ts"
import type { ApiRequest } from "./route.ts"

/**
 * Begins the trace of a request, below the span of the caller. Its sampled flag decides, because the listener is internal. What the engine reads for the
 * request is recorded from now on.
 */
export function beginTrace(api: AuthzApi, asked: ApiRequest): void {
  const tracer = api.tracer()
  if (tracer === undefined) return
  const { traceparent, tracestate } = asked.headers
  const caller =
    traceparent === undefined && tracestate === undefined
      ? noCaller
      : tracer.read({ traceparent: lineOf(traceparent), tracestate: lineOf(tracestate), baggage: undefined })
  const trace = tracer.begin(caller, true, undefined)
  if (trace.recording) asked.work.reads = []
  asked.traced = { trace, tracer }
}

/** Ends the trace of a request, if it has one. `status`: that of the response. */
export function endTrace(asked: ApiRequest, outcome: EngineOutcome, status: number): void {
  if (asked.traced === undefined) return
  const { trace, tracer } = asked.traced
  const ended = performance.now()
  const failed = status >= 500
  if (!tracer.keeps(trace, ended - asked.startedMs, failed)) return
  addReads(trace, undefined, asked.work.reads)
  const { startedMs: started } = asked
  tracer.end(trace, {
    spanName: nameOf(asked),
    ...{ started, ended, startedAtMs: Date.now() - (ended - started) },
    error: failed ? outcome : undefined,
    attributes: () => attributesOf(asked, outcome, status),
  })
}

function nameOf({ httpMethod, routePath, rpc }: ApiRequest): string {
  if (routePath === undefined) return httpMethod
  return rpc === undefined ? `${httpMethod} ${routePath}` : routePath.slice(1)
}

const rpcSystem = textAttribute("rpc.system")("grpc")
const rpcService = textAttribute("rpc.service")
const rpcMethod = textAttribute("rpc.method")
const rpcStatus = wholeAttribute("rpc.grpc.status_code")
const requestMethod = lastKept(firstAttribute("http.request.method"))
const httpRoute = textAttribute("http.route")
const responseStatus = lastKept(wholeAttribute("http.response.status_code"))
const errorKind = textAttribute("error.type")
const clientAddress = textAttribute("client.address")
const requestId = textAttribute("sallyport.request_id")
const engineMethod = textAttribute("sallyport.engine.method")
const storeName = lastKept(textAttribute("sallyport.engine.store"))
const modelId = lastKept(textAttribute("sallyport.engine.model"))
const outcomeName = textAttribute("sallyport.engine.outcome")
const steps = wholeAttribute("sallyport.engine.steps")
const pagesUsed = wholeAttribute("sallyport.engine.pages_used")
const pagesRead = wholeAttribute("sallyport.engine.pages_read")

/** No user, relation or object: they are data of customers. */
function attributesOf(asked: ApiRequest, outcome: EngineOutcome, status: number): string {
  const { route, rpc, work, store, model } = asked
  return (
    requestMethod(asked.httpMethod) +
    // The status of a call of gRPC is that of HTTP only by name: HTTP responds with 200.
    (rpc === undefined
      ? httpRoute(asked.routePath) + responseStatus(status)
      : rpcSystem + rpcService(rpc.service) + rpcMethod(rpc.method) + rpcStatus(rpc.code)) +
    (status >= 500 ? errorKind(outcome) : "") +
    clientAddress(asked.clientAddress) +
    requestId(lineOf(asked.headers["x-request-id"])) +
    engineMethod(route?.name) +
    (store === "" ? "" : storeName(store)) +
    modelId(model) +
    outcomeName(outcome) +
    steps(work.steps) +
    pagesUsed(work.pagesUsed) +
    pagesRead(work.pagesRead)
  )
}

/** Several lines of one field are joined. */
function lineOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "object" ? value.join(", ") : value
}
