import { randomBytes } from "node:crypto"
import type { Socket } from "node:net"
import { sendRaw } from "../http/server/connection-errors.ts"
import { endWhole } from "../http/server/end-whole.ts"
import type { IncomingRequest, Reply } from "../http/server/incoming.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import { ApiError, apiErrorOf, streamError } from "./api-error.ts"
import type { Reports } from "./ports.ts"
import { pathOf } from "./request-target.ts"

/** Request ids: unique across processes by a random prefix, cheap by a counter. */
const prefix = randomBytes(10).toString("hex")
let count = 0

/** A fresh `X-Request-Id`. */
export function newRequestId(): string {
  count = (count + 1) % 0x1_0000_0000_0000
  return `${prefix}${count.toString(16).padStart(12, "0")}`
}

/** Ids from clients that their responses must repeat. */
const echoed = new WeakMap<Reply, string>()

/** AuthZEN's responses always repeat the id of their request; OpenFGA's always have a new one. */
export function echoRequestId({ headers, url = "" }: IncomingRequest, response: Reply): void {
  const given = headers["x-request-id"]
  if (typeof given === "string" && url.includes("/access/v1/")) echoed.set(response, given)
}

function requestIdOf(response: Reply): string {
  return echoed.get(response) ?? newRequestId()
}

/** Sends a response; `extra` are headers of the listener. */
export function sendAnswer(response: Reply, answer: ApiResponse, extra: AnswerHeaders): void {
  const { status, body, bytes, text, pieces, lines, events, headers = noHeaders } = answer
  const all = extra.length === 0 ? headers : [...headers, ...extra]
  if (body !== undefined)
    sendJson(response, status, typeof body === "string" ? body : JSON.stringify(body), all)
  else if (bytes !== undefined) send(response, status, "application/json", bytes, all, requestIdOf(response))
  else if (text !== undefined)
    send(response, status, "text/plain; charset=utf-8", text, all, requestIdOf(response))
  else if (pieces !== undefined) sendPieces(response, status, "application/json", pieces, all)
  else if (lines !== undefined) sendPieces(response, status, "application/x-ndjson", lines, all)
  else if (events !== undefined) {
    const id = requestIdOf(response)
    response.writeHead(status, ["Content-Type", "text/event-stream", "X-Request-Id", id, ...all])
    events(response)
  } else {
    response.writeHead(status, ["X-Request-Id", requestIdOf(response), ...all])
    response.end()
  }
}

const noHeaders: AnswerHeaders = []

function sendPieces(
  response: Reply,
  status: number,
  contentType: string,
  pieces: Iterable<string | Uint8Array>,
  headers: AnswerHeaders,
): void {
  response.writeHead(status, ["Content-Type", contentType, "X-Request-Id", requestIdOf(response), ...headers])
  sendLines(response, pieces)
}

/** Sends finished JSON. */
function sendJson(
  response: Reply,
  status: number,
  json: string,
  headers: AnswerHeaders,
  requestId = requestIdOf(response),
): void {
  send(response, status, "application/json", json, headers, requestId)
}

function send(
  response: Reply,
  status: number,
  contentType: string,
  content: string | Uint8Array,
  headers: AnswerHeaders,
  requestId: string,
): void {
  response.writeHead(status, [
    "Content-Type",
    contentType,
    "Content-Length",
    String(Buffer.byteLength(content)),
    "X-Request-Id",
    requestId,
    ...headers,
  ])
  endWhole(response, content)
}

/** The form of a failure. `stream`: as the first line of a stream. */
export type FailureForm = "plain" | "stream"

/** Sends a failure as `{code, message}`, or in the form of a stream. */
export function sendError(
  response: Reply,
  error: unknown,
  reports: Reports,
  headers: AnswerHeaders = noHeaders,
  form: FailureForm = "plain",
): void {
  const requestId = requestIdOf(response)
  const failure = noteFailure(response, error, reports, requestId)
  const { status, code, message } = failure
  const own = status === 503 ? retryAfter : status === 401 ? challengeOf(code) : noHeaders
  const all = own.length === 0 ? headers : [...headers, ...own]
  const body = form === "stream" ? streamError(failure) : { code, message }
  sendJson(response, status, JSON.stringify(body), all, requestId)
}

/** Logs faults of ours and refused callers. Returns the failure as the client may see it. */
export function noteFailure(response: Reply, error: unknown, reports: Reports, requestId: string): ApiError {
  const known = apiErrorOf(error)
  if (known === undefined) reports.logFault(error, requestId)
  else if ([401, 403, 421].includes(known.status)) tell(reports, response, known, requestId)
  return known ?? new ApiError("internal_error", "Internal Server Error")
}

/** The same on a connection without a request; ends the connection. */
export function sendRawError(socket: Socket, { status, code, message }: ApiError): void {
  const headers = ["content-type", "application/json", "x-request-id", newRequestId()]
  sendRaw(socket, { status, headers, body: Buffer.from(JSON.stringify({ code, message })) })
}

function tell(
  { logRefusal }: Reports,
  { req }: Reply,
  { code, message, caller }: ApiError,
  requestId: string,
): void {
  const client = req.socket.remoteAddress ?? ""
  logRefusal({ code, message, caller, client, method: req.method ?? "", path: pathOf(req), requestId })
}

const retryAfter: AnswerHeaders = ["Retry-After", "1"]

/** RFC 6750 section 3: without a credential the challenge contains no error. */
function challengeOf(code: string): AnswerHeaders {
  return ["WWW-Authenticate", code === "bearer_token_missing" ? "Bearer" : 'Bearer error="invalid_token"']
}

/** Writes pieces as fast as the client reads. While its socket is full, and after it has closed, nothing is taken from the source. */
export function sendLines(response: Reply, pieces: Iterable<string | Uint8Array>): void {
  const source = pieces[Symbol.iterator]()
  const pump = () => {
    while (!response.destroyed) {
      const piece = source.next()
      if (piece.done === true) {
        response.end()
        return
      }
      if (!response.write(piece.value)) return
    }
  }
  // In a new turn: otherwise, while the socket accepts everything, this loop would block the event loop.
  response.on("drain", () => setImmediate(pump))
  pump()
}
