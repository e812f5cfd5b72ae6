import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { FaultName, RequestFault } from "./request-fault.ts"

/** Responds on a connection without a valid request, and closes it. */
export type RawAnswerer = (socket: Socket, fault: RequestFault) => void

/** Makes a server pass on the requests that Node would otherwise answer or truncate on its own. */
export function takeAllRequests(server: Server, answerRaw: RawAnswerer): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    refuseConnection(error, socket as Socket, answerRaw),
  )
  // 0: no limit here. Node's own limit drops fields silently; the code that reads the head counts the fields and refuses too many.
  server.maxHeadersCount = 0
  // Otherwise Node would send 100 Continue before credentials are checked, and a 417 without a body or a log line.
  for (const event of ["checkContinue", "checkExpectation"])
    server.on(event, (request: IncomingMessage, response: ServerResponse) =>
      server.emit("request", request, response),
    )
  server.on("connect", (_request: IncomingMessage, socket: Socket) =>
    answerRaw(socket, { name: "method-not-allowed", cause: "CONNECT is never served" }),
  )
}

/** The latest response of a connection, for errors that occur while it is being sent. */
const latest = Symbol("latest answer")
type Tagged = Socket & { [latest]?: ServerResponse }

/** Must be called with each request, for `refuseConnection`. */
export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  ;(request.socket as Tagged)[latest] = response
}

/** Responds to bytes that llhttp refused before there was a request (RFC 9112 §2.2, 5.1, 6.3; RFC 6585 §5). */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, answerRaw: RawAnswerer): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = (socket as Tagged)[latest]
  const fault = faultOf(error)
  if (answer === undefined || answer.writableFinished) {
    answerRaw(socket, fault)
    return
  }
  // Bytes after `Connection: close` are not a request, and must not affect the previous one.
  if (error.code === "HPE_CLOSED_CONNECTION") return
  if (answer.req.complete) {
    // The requests before the invalid bytes are complete, so their responses are sent first.
    answer.once("close", () => {
      if (socket.writable) answerRaw(socket, fault)
    })
  } else if (answer.headersSent) {
    // A response has begun: a second one inside it would be read as its body, or as the response to another request.
    answer.end()
    socket.destroySoon()
  } else answerRaw(socket, fault)
}

const faults: Readonly<Record<string, FaultName>> = {
  HPE_HEADER_OVERFLOW: "header-too-large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "body-too-large",
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
}

function faultOf({ code, message }: NodeJS.ErrnoException): RequestFault {
  return { name: faults[code ?? ""] ?? "invalid-request", cause: message }
}

/** A response that is written directly to the socket. */
export interface RawAnswer {
  readonly status: number
  /** Names and values alternate; Content-Length and Connection are added. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

/** Sends a response on a connection without a valid request, and closes it. */
export function sendRaw(socket: Socket, { status, headers, body }: RawAnswer): void {
  const lines = [`HTTP/1.1 ${status} Refused`, `content-length: ${body.length}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  lines.push("connection: close", "", "")
  socket.on("error", () => undefined)
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), body]), () => socket.destroy())
}
