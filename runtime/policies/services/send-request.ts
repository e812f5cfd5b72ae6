import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingRequest,
  type OutgoingResponse,
} from "../../http/client/http-client.ts"
import { NoToken } from "../../identity/token-client.ts"
import { connectionFields } from "../../plan/http-syntax.ts"
import type { StepOf } from "../../plan/steps.ts"
import { CallSpan } from "../../tracing/call-span.ts"
import { compileContent } from "../bodies/body-content.ts"
import { compileAuthentication, noTokenProblem } from "../credentials/authentication.ts"
import { type Exchange, requestBody, type StoredResponse } from "../exchange.ts"
import { problem, Refused } from "../messages/answer.ts"
import { compileHeaderLine } from "../messages/header-line.ts"
import { HeaderList } from "../messages/header-list.ts"
import { compileUrl } from "../messages/url-text.ts"
import type { Outcome, Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount, compileFlag } from "../values/value.ts"

/** Methods of requests that the gateway itself makes: a valid name (RFC 9110 §9.1), without CONNECT and TRACE. */
const methodName = /^(?!CONNECT$|TRACE$)[A-Z][A-Z0-9_-]{0,31}$/

/** Sends a request of the gateway's own and stores its response in a variable. A request whose response is not awaited cannot fail. */
export const sendRequest: Policy<"send-request"> = (plan, provision) => {
  const http = provision.http()
  const make = compileRequest(plan, provision)
  const authenticated = compileSending(plan.authentication, provision, http)
  const ignoreError = compileFlag(plan.ignoreError, provision)
  const { variable, wait } = plan
  const send = async (exchange: Exchange, request: OutgoingRequest): Promise<Outcome> => {
    const { trace } = exchange
    const span = trace?.recording === true ? new CallSpan(trace, request.method, request.url) : undefined
    try {
      const response = await authenticated(exchange, traced(request, trace, span?.spanId))
      span?.end(response.status)
      if (variable !== undefined) exchange.variables.set(variable, stored(response))
      return undefined
    } catch (error) {
      span?.end(undefined, error instanceof OutgoingError ? error.reason : "token")
      if (!(error instanceof OutgoingError) && !(error instanceof NoToken)) throw error
      if (!ignoreError(exchange)) return error instanceof NoToken ? noTokenProblem(error) : failed(error)
      if (variable !== undefined) exchange.variables.set(variable, null)
      return undefined
    }
  }
  const begin = (exchange: Exchange, request: OutgoingRequest): Promise<Outcome> | undefined => {
    if (wait) {
      const ending = new AbortController()
      exchange.whenOver(() => ending.abort())
      return send(exchange, { ...request, signal: ending.signal })
    }
    // It may end after the trace, so it has no span.
    authenticated(exchange, traced(request, exchange.trace, undefined)).catch(() => undefined)
    return undefined
  }
  return (exchange) => {
    const request = make(exchange)
    return request instanceof Promise
      ? request.then((late) => begin(exchange, late))
      : begin(exchange, request)
  }
}

/** Puts the trace into a request; in place of the client's, which the fields of a copy contain. */
function traced(
  request: OutgoingRequest,
  trace: Exchange["trace"],
  spanId: string | undefined,
): OutgoingRequest {
  if (trace === undefined) return request
  const headers = new HeaderList(request.headers.slice())
  headers.set("traceparent", trace.traceparent(spanId))
  return { ...request, headers: headers.flat }
}

/** Sends with the gateway's credentials. When the token is refused, sends once more with a new token, if the request may be repeated. */
function compileSending(
  plan: StepOf<"send-request">["authentication"],
  provision: Provision,
  http: OutgoingHttp,
): (exchange: Exchange, request: OutgoingRequest) => Promise<OutgoingResponse> {
  if (plan === undefined) return (_, request) => http.send(request)
  const { authorization, certificate, source } = compileAuthentication(plan, provision)
  if (authorization === undefined)
    return (_, request) => http.send(certificate === undefined ? request : { ...request, certificate })
  const sendWith = (request: OutgoingRequest, value: string) => {
    const headers = new HeaderList(request.headers.slice())
    headers.set("authorization", value)
    return http.send({ ...request, headers: headers.flat })
  }
  return async (exchange, request) => {
    const value = await authorization(exchange)
    const response = await sendWith(request, value)
    if (response.status !== 401 || source === undefined) return response
    const mayRenew = source.renew(value.slice("Bearer ".length))
    return mayRenew && repeatable.has(request.method)
      ? sendWith(request, await authorization(exchange))
      : response
  }
}

/** The form in which variables hold responses. */
function stored({ status, fields, body }: OutgoingResponse): StoredResponse {
  return { status, reason: "", headers: new HeaderList(fields), body }
}

/** RFC 9110 §9.2.2. */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])

/** Compiles the request. */
function compileRequest(
  plan: StepOf<"send-request">,
  provision: Provision,
): (exchange: Exchange) => OutgoingRequest | Promise<OutgoingRequest> {
  const copies = plan.mode === "copy"
  if (plan.url === undefined) throw new Error("`send` has no URL")
  const url = compileUrl(plan.url, provision)
  const method = plan.method === undefined ? undefined : compileText(plan.method, provision, anyText)
  const lines = plan.headers.map((line) => compileHeaderLine(line, provision))
  const body = plan.body === undefined ? undefined : compileContent(plan.body, "request", provision)
  if (copies && body === undefined) provision.need(requestBody)
  const timeout = compileCount(plan.timeoutSeconds, provision)
  const { media } = plan
  return (exchange) => {
    const name = method?.of(exchange) ?? (copies ? (exchange.sentMethod ?? exchange.method) : "GET")
    if (!methodName.test(name))
      throw new Refused(
        problem("invalid-request", { cause: "the expression did not yield a valid HTTP method" }),
      )
    const request = (content: Buffer | undefined): OutgoingRequest => {
      const headers = new HeaderList(copies ? copiedFields(exchange.headers) : [])
      if (body !== undefined && media !== null) headers.set("content-type", media)
      for (const line of lines) line(headers, exchange)
      const timeoutMs = Math.min(timeout(exchange) * 1000, timerMaxMs)
      return { url: url.of(exchange), method: name, headers: headers.flat, body: content, timeoutMs }
    }
    const made =
      body?.(exchange) ?? (copies && exchange.requestBody.present ? exchange.requestBody.content : undefined)
    return made instanceof Promise ? made.then(request) : request(made)
  }
}

/** A longer timer in Node fires at once. */
const timerMaxMs = 2_147_483_647

const notCopied: ReadonlySet<string> = new Set(["host", "content-encoding", "accept-encoding"])

/** The client's fields without those of its connection, the content coding (the body is decoded) and Host (a set Host is for the backend). */
function copiedFields({ flat }: HeaderList): string[] {
  const copied: string[] = []
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] as string
    if (connectionFields.has(name) || notCopied.has(name)) continue
    copied.push(name, flat[at + 1] as string)
  }
  return copied
}

/** The reasons that Azure API Management uses for these requests as well as for requests to the backend. */
const reasons: Readonly<Partial<Record<OutgoingError["reason"], string>>> = {
  timeout: "Timeout",
  unreachable: "BackendConnectionFailure",
}

function failed(error: OutgoingError): Outcome {
  const cause = `\`send\`: ${error.message}`
  return problem(error.reason === "timeout" ? "gateway-timeout" : "bad-gateway", {
    cause,
    reason: reasons[error.reason] ?? "SendRequestFailure",
  })
}
