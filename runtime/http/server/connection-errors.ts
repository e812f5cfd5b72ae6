import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { FaultName, RequestFault } from "./request-fault.ts"

/** Answers on a connection that has no request, and closes it. */
export type RawAnswerer = (socket: Socket, fault: RequestFault) => void

/** Has a server hand on what Node would answer, or cut, on its own. */
export function takeAllRequests(server: Server, answerRaw: RawAnswerer): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    refuseConnection(error, socket as Socket, answerRaw),
  )
  // 0: no limit here. Node's own truncates silently; the fields are counted, and refused, by whoever reads the head.
  server.maxHeadersCount = 0
  // Node would say 100 Continue before anybody has looked at the credentials, and 417 with nothing in it or in the log.
  for (const event of ["checkContinue", "checkExpectation"])
    server.on(event, (request: IncomingMessage, response: ServerResponse) =>
      server.emit("request", request, response),
    )
  server.on("connect", (_request: IncomingMessage, socket: Socket) =>
    answerRaw(socket, { name: "method-not-allowed", cause: "CONNECT is never served" }),
  )
}

/** The newest answer of a connection, for errors that come while it is on its way. */
const latest = Symbol("latest answer")
type Tagged = Socket & { [latest]?: ServerResponse }

/** To be called with each request, for `refuseConnection`. */
export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  ;(request.socket as Tagged)[latest] = response
}

/** Answers what llhttp refused, before there is a request (RFC 9112 §2.2, 5.1, 6.3; RFC 6585 §5). */
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
  // Bytes after `Connection: close` are no request and take nothing from the one before them.
  if (error.code === "HPE_CLOSED_CONNECTION") return
  if (answer.req.complete) {
    // The requests before the rubbish are whole: they get their answers first.
    answer.once("close", () => {
      if (socket.writable) answerRaw(socket, fault)
    })
  } else if (answer.headersSent) {
    // An answer has begun: a second one in its middle would be taken for its body, or for the answer to another request.
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

/** An answer written by hand. */
export interface RawAnswer {
  readonly status: number
  /** Names and values in turn; Content-Length and Connection are added. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

/** Sends an answer on a connection that has no request, and ends it. */
export function sendRaw(socket: Socket, { status, headers, body }: RawAnswer): void {
  const lines = [`HTTP/1.1 ${status} Refused`, `content-length: ${body.length}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  lines.push("connection: close", "", "")
  socket.on("error", () => undefined)
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), body]), () => socket.destroy())
}
