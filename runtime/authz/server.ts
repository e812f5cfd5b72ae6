import type { IncomingMessage, ServerResponse } from "node:http"
import { internalLimits, refusalOf } from "../http/server/internal-guard.ts"
import type { ListenerSettings } from "../http/server/listener.ts"
import { OwnNames } from "../http/server/own-names.ts"
import { admit } from "./admission.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, bodyTooLarge, refusalError } from "./api-error.ts"
import { isPreflight, originHeaders, preflightHeaders } from "./origin.ts"
import { readBody } from "./read-body.ts"
import { pathOf, queryOf } from "./request-target.ts"
import { ApiRequest, type ApiRoute } from "./route.ts"
import { Router } from "./router.ts"
import { routes } from "./routes.ts"
import { echoRequestId, type FailureForm, sendAnswer, sendError, sendRawError } from "./send-answer.ts"

/** Time for a whole request to arrive. */
const requestArrivesMs = 15_000

const router = new Router(routes)
const noHeaders: AnswerHeaders = []

/** What a listener of the engine at an address with this host is opened with. */
export function engineListener(
  api: AuthzApi,
  host: string,
  serving: (local: string | undefined) => boolean = () => true,
): ListenerSettings {
  return {
    limits: { ...internalLimits, requestMs: requestArrivesMs },
    service: {
      kind: "bare-handler",
      handle: ({ request, reply }) => take(api, serving, request, reply),
    },
    guard: {
      names: new OwnNames(host, () => api.hosts),
      refuse: (request, response, refusal) => {
        echoRequestId(request, response)
        sendError(response, refusalError(refusal), api)
      },
    },
    answerRaw: (socket, fault) => sendRawError(socket, refusalError(refusalOf(fault))),
  }
}

function take(
  api: AuthzApi,
  serving: (local: string | undefined) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  let headers = noHeaders
  try {
    echoRequestId(request, response)
    if (!serving(request.socket.localAddress))
      throw new ApiError("unavailable", "this listener does not serve; try again shortly")
    headers = originHeaders(request, api.cors)
    if (isPreflight(request)) {
      const allowed = preflightHeaders(request, api.cors())
      sendAnswer(response, { status: 204, headers: allowed }, headers)
      return
    }
    receive(api, request, response, headers)
  } catch (error) {
    sendError(response, error, api, headers)
  }
}

function receive(
  api: AuthzApi,
  request: IncomingMessage,
  response: ServerResponse,
  headers: AnswerHeaders,
): void {
  const { method = "" } = request
  const path = pathOf(request)
  const match = router.find(method, path)
  const store = match?.route.ofDefaultStore ? (api.authzen().store ?? "") : (match?.store ?? "")
  const fail = (error: unknown) => sendError(response, error, api, headers, formOf(match?.route))
  let admitted: Promise<void> | undefined
  try {
    admitted = admit(api, match?.route.right ?? nowhere, store, request.headers.authorization)
  } catch (error) {
    fail(error)
    return
  }
  const asked = new ApiRequest(store, match?.id ?? "", queryOf(request), request, response)
  const incoming: Incoming = { route: match?.route, asked, request, response, headers }
  if (admitted === undefined) read(api, incoming)
  else admitted.then(() => read(api, incoming)).catch(fail)
}

const formOf = (route: ApiRoute | undefined): FailureForm => (route?.streams === true ? "stream" : "plain")

/** Only those who may ask anything learn what there is not. */
const nowhere = "caller"

interface Incoming {
  readonly route: ApiRoute | undefined
  readonly asked: ApiRequest
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: AnswerHeaders
}

function read(api: AuthzApi, incoming: Incoming): void {
  const { route, asked, request, response, headers } = incoming
  if (route === undefined)
    throw router.hasPath(pathOf(request))
      ? new ApiError("unimplemented", "Method Not Allowed")
      : new ApiError("undefined_endpoint", "Not Found")
  if (route.method === "GET" || route.method === "DELETE") {
    respond(api, route, incoming)
    return
  }
  const { bodyBytesMax } = api.limits()
  if (request.headers.expect !== undefined) response.writeContinue()
  readBody(request, bodyBytesMax, (bytes) => {
    if (bytes !== undefined) {
      asked.bytes = bytes
      respond(api, route, incoming)
      return
    }
    // The rest is not read: the connection has to end.
    response.shouldKeepAlive = false
    sendError(response, bodyTooLarge(bodyBytesMax), api, headers)
    request.resume()
  })
}

/** Asks the resource. An answer that is there at once is sent in the same turn of the event loop. */
function respond(api: AuthzApi, route: ApiRoute, { asked, response, headers }: Incoming): void {
  let form: FailureForm = "plain"
  try {
    // A body that can't be read fails before there is a stream.
    if (route.streams && asked.body !== undefined) form = "stream"
    const answer = route.handler(api, asked)
    if (answer instanceof Promise) settle(api, route, answer, response, headers)
    else sendAnswer(response, answer, headers)
  } catch (error) {
    sendError(response, error, api, headers, form)
  }
}

/** An answer that takes its time, but not for ever. What comes after the deadline is thrown away. */
function settle(
  api: AuthzApi,
  route: ApiRoute,
  answer: Promise<ApiResponse>,
  response: ServerResponse,
  headers: AnswerHeaders,
): void {
  const fail = (error: unknown) => {
    if (!response.headersSent) sendError(response, error, api, headers, formOf(route))
  }
  const late = () => fail(new ApiError("deadline_exceeded", "Request Deadline Exceeded"))
  const timer = route.patient ? undefined : setTimeout(late, api.limits().requestMs)
  answer
    .then((given) => {
      if (!response.headersSent) sendAnswer(response, given, headers)
    })
    .catch(fail)
    .finally(() => clearTimeout(timer))
}
