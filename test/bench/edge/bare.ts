import { readFileSync } from "node:fs"
import { createServer, type OutgoingHttpHeaders } from "node:http"
import { connect, createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2"
import { createServer as createTlsServer } from "node:tls"
import type { Settings } from "../gateway/servers.ts"
import type { EdgeSettings } from "./peers.ts"

/** A response as the gateway sent it: its head without the fields of one connection, and its body. */
export interface SentAnswer {
  readonly status: number
  readonly head: OutgoingHttpHeaders
  readonly body: string
}

/** `port` is that of TLS, `plainPort` that of HTTP without it. */
export interface BareSettings extends EdgeSettings {
  readonly plainPort: number
  readonly sent: SentAnswer
}

/** Asks the gateway once, for what a bare server then sends to every request. */
export async function askOnce(url: string): Promise<SentAnswer> {
  const response = await fetch(url)
  const { connection: _connection, "keep-alive": _keptAlive, ...head } = Object.fromEntries(response.headers)
  return { status: response.status, head, body: await response.text() }
}

/**
 * `node:http`, `node:tls` and `node:http2` with nothing else: each request gets the gateway's response, without a backend, and each call of gRPC is passed
 * on. What TLS and HTTP/2 add here, they add to every server of Node.
 */
export async function bare(settings: Settings): Promise<void> {
  const { port, plainPort, callPort, cert, key, sent } = settings as BareSettings
  const { status, head, body } = sent
  const http = createServer((_request, response) => {
    response.writeHead(status, head)
    response.end(body)
  })
  const calls = connect(`http://127.0.0.1:${callPort}`)
  const http2 = createHttp2Server()
  http2.on("stream", (stream, fields) => {
    stream.on("error", () => {})
    if (fields["content-type"] === "application/grpc") {
      passCall(stream, calls.request({ ...fields, ":authority": `127.0.0.1:${callPort}`, ":scheme": "http" }))
      return
    }
    stream.respond({ ":status": status, ...head })
    stream.end(body)
  })
  const files = { cert: readFileSync(cert), key: readFileSync(key) }
  const tls = createTlsServer({ ...files, ALPNProtocols: ["h2", "http/1.1"] }, (socket) =>
    (socket.alpnProtocol === "h2" ? http2 : http).emit("connection", socket),
  )
  await new Promise<void>((resolve) => http.listen(plainPort, "127.0.0.1", resolve))
  await new Promise<void>((resolve) => tls.listen(port, "127.0.0.1", resolve))
}

function passCall(stream: ServerHttp2Stream, call: ReturnType<ReturnType<typeof connect>["request"]>): void {
  let trailers: OutgoingHttpHeaders = {}
  call.on("error", () => stream.destroy())
  call.on("response", (fields) => stream.respond(fields, { waitForTrailers: true }))
  call.on("trailers", (fields) => {
    trailers = fields
  })
  stream.once("wantTrailers", () => stream.sendTrailers(trailers))
  stream.pipe(call)
  call.pipe(stream)
}
