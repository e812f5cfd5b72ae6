import { grpcTimeoutMs, isGrpcMedia } from "../../http/grpc.ts"
import type { IncomingRequest, Reply } from "../../http/server/incoming.ts"
import { authorize, identify } from "../admission.ts"
import type { AnswerHeaders, ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { ApiError, apiErrorOf } from "../api-error.ts"
import { modelOf, report } from "../ending.ts"
import { beginTrace } from "../engine-span.ts"
import { outcomeOfError } from "../observed.ts"
import { pathOf } from "../request-target.ts"
import type { ApiExchange } from "../route.ts"
import { sendError } from "../send-answer.ts"
import { FrameReader, frameOf } from "./frames.ts"
import { GrpcRequest } from "./grpc-request.ts"
import { checkHealth } from "./health.ts"
import { type GrpcMethod, methods, type OwnMethod, type ResourceMethod } from "./methods.ts"
import { reflect } from "./reflection.ts"
import { endMessages, framed, sendFailure, sendMessage, sendMessages, streamLines } from "./send-messages.ts"
import { callStatusOf, clientDeadline, protocolError, unimplemented } from "./status.ts"

/** A call that is open, with its method once that is known to exist. */
interface OpenCall {
  readonly api: AuthzApi
  readonly request: IncomingRequest
  readonly reply: Reply
  readonly asked: GrpcRequest
  /** What the answer says beside its message, once there is one: the model and the revision. */
  sent: AnswerHeaders | undefined
  isOver: boolean
}

const truncated: [name: string, value: string][] = [["sallyport-truncated", "true"]]

/** Longest delay of a timer of Node. */
const timerMsMax = 2 ** 31 - 1

/** Takes a request on a listener of gRPC, and runs it as a call. `serving`: as in `AuthzOptions`. */
export function takeCall(
  api: AuthzApi,
  serving: (local: string | undefined) => boolean,
  exchange: ApiExchange,
): void {
  const { request, reply } = exchange
  const method = methods.get(pathOf(request))
  const asked = new GrpcRequest(exchange, method)
  const call: OpenCall = { api, request, reply, asked, sent: undefined, isOver: false }
  const notGrpc = httpFault(request)
  if (notGrpc !== undefined) {
    reply.shouldKeepAlive = false
    sendError(reply, notGrpc, api)
    report(api, call.asked, "invalid", notGrpc.status)
    return
  }
  beginTrace(api, call.asked)
  attempt(call, () => {
    if (!serving(request.socket.localAddress))
      throw new ApiError("unavailable", "this listener waits for a new plan to run; try again shortly")
    const right = method?.kind.startsWith("health") ? "open" : "caller"
    return then(identify(api, right, request.headers.authorization), (caller) => {
      call.asked.caller = caller
      receive(call, method)
    })
  })
}

/** Refuses a call that the listener does not pass on. */
export function refuseCall(reply: Reply, error: unknown, api: AuthzApi): void {
  sendFailure(reply, error, api)
}

/** Why a request is no call of gRPC: it gets a response of HTTP. */
function httpFault({ isHttp2, headers }: IncomingRequest): ApiError | undefined {
  if (isHttp2 !== true)
    return new ApiError(
      "version_not_supported",
      "this port serves gRPC, which needs HTTP/2; the HTTP API is at the other addresses of `listen` in `authz`",
    )
  if (!isGrpcMedia(headers["content-type"]))
    return new ApiError(
      "unsupported_media_type",
      "this port serves gRPC: the Content-Type must be `application/grpc`",
    )
  return undefined
}

/** Runs a step of a call. Any failure of it, now or later, ends the call. */
function attempt(call: OpenCall, step: () => unknown): void {
  try {
    const done = step()
    if (done instanceof Promise) done.catch((error: unknown) => fail(call, error))
  } catch (error) {
    fail(call, error)
  }
}

/** Calls `next` with a value, at once if the value is there. */
function then<Value>(value: Value | Promise<Value>, next: (value: Value) => unknown): unknown {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Checks the head of a call and reads its messages. Only authenticated callers learn that a method does not exist. */
function receive(call: OpenCall, method: GrpcMethod | undefined): void {
  const { api, request, reply } = call
  if (method === undefined) throw unimplemented(`unknown method ${pathOf(request)}`)
  if (method.kind === "health watch") throw unimplemented("unimplemented streaming endpoint")
  requireForm(request)
  const reader = new FrameReader(api.limits().bodyBytesMax)
  let only: Buffer | undefined
  const take = (message: Buffer): void => {
    if (method.kind === "reflection") sendMore(call, method, message)
    else if (only === undefined) only = message
    else throw protocolError("the call has more than one message")
  }
  request.on("data", (piece) => {
    if (!call.isOver) attempt(call, () => reader.push(piece, take))
  })
  request.on("end", () => {
    if (call.isOver) return
    attempt(call, () => {
      reader.end()
      if (method.kind === "reflection") finish(call, () => endMessages(reply))
      else if (only === undefined) throw protocolError("the call has no message")
      else return run(call, method, only)
      return undefined
    })
  })
}

function requireForm({ headers }: IncomingRequest): void {
  const media = headers["content-type"]
  if (media !== "application/grpc" && !/^application\/grpc(\+proto)?\s*(;|$)/i.test(media ?? ""))
    throw unimplemented("only messages in the binary form of protobuf are supported")
  // Without it, a status after a message could not be sent.
  if (headers.te !== "trailers") throw protocolError("the call has no field `te: trailers`")
}

/** Answers one message of a stream. The next one is read when the client has taken the response. */
function sendMore(
  { reply, request }: OpenCall,
  { request: asked, response }: OwnMethod,
  message: Buffer,
): void {
  if (sendMessages(reply, frameOf(response.encode(reflect(asked.decode(message)))))) return
  request.pause()
  reply.once("drain", () => request.resume())
}

/** Runs a call of one message. */
function run(call: OpenCall, method: ResourceMethod | OwnMethod, message: Buffer): unknown {
  const { api, asked } = call
  if (method.kind !== "resource") {
    asked.take(method.request.decode(message), { store: "", id: "" })
    return settle(call, checkHealth(api, asked), (json) =>
      sendMessage(call.reply, frameOf(method.response.encode(json)), []),
    )
  }
  const { route } = method
  const { fields, path } = method.read(message)
  asked.take(fields, path)
  return then(authorize(api, asked.caller, route.right, asked.store), () =>
    settle(call, route.handler(api, asked), (answer) => sendAnswer(call, method, answer)),
  )
}

/** Sends what a call has found. A promise has time until the deadline of the server or the client; what comes later is discarded. */
function settle<Found>(call: OpenCall, found: Found | Promise<Found>, send: (found: Found) => void): unknown {
  if (!(found instanceof Promise)) {
    finish(call, () => send(found))
    return undefined
  }
  const timer = deadlineOf(call)
  return found
    .then((given) => {
      if (!call.isOver) finish(call, () => send(given))
    })
    .finally(() => clearTimeout(timer))
}

function deadlineOf(call: OpenCall): NodeJS.Timeout | undefined {
  const { api, asked, request } = call
  const { "grpc-timeout": text } = request.headers
  const ownMs = asked.route?.patient === true ? undefined : api.limits().requestMs
  const clientMs = typeof text === "string" ? grpcTimeoutMs(text) : undefined
  const leftMs = clientMs === undefined ? undefined : clientMs - (performance.now() - asked.startedMs)
  const isClients = leftMs !== undefined && (ownMs === undefined || leftMs < ownMs)
  const ms = isClients ? leftMs : ownMs
  if (ms === undefined || ms > timerMsMax) return undefined
  const late = isClients
    ? clientDeadline
    : () => new ApiError("deadline_exceeded", "Request Deadline Exceeded")
  return setTimeout(() => fail(call, late()), ms)
}

/** Sends the response of a resource; a stream of lines as a stream of messages. */
function sendAnswer(call: OpenCall, { response }: ResourceMethod, answer: ApiResponse): void {
  const { reply, asked } = call
  const { headers = [], lines } = answer
  call.sent = headers
  if (asked.traced !== undefined) asked.model = modelOf(answer)
  if (lines !== undefined) streamLines(reply, lines, response, headers)
  // The messages of lists have no field for it.
  else sendMessage(reply, framed(response, answer), headers, asked.outcome === "truncated" ? truncated : [])
}

/** Ends a call with a response. */
function finish(call: OpenCall, send: () => void): void {
  const { api, asked, reply } = call
  send()
  call.isOver = true
  const { sent } = call
  if (reply.writableEnded) report(api, asked, asked.outcome, 200, sent)
  else
    reply.once("close", () =>
      report(api, asked, reply.writableFinished ? asked.outcome : "cancelled", 200, sent),
    )
  asked.end()
}

/** Ends a call with the status of an error. */
function fail(call: OpenCall, error: unknown): void {
  if (call.isOver) return
  const { api, asked, reply } = call
  call.isOver = true
  sendFailure(reply, error, api)
  asked.code = callStatusOf(error).code
  report(api, asked, outcomeOfError(error), apiErrorOf(error)?.status ?? 500)
  asked.end()
}
