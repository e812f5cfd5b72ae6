import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2"

/** What a stream brought until it closed. */
export interface Http2Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly trailers: IncomingHttpHeaders
  /** Code of RST_STREAM; 0: none, or no error. */
  readonly reset: number
}

/** An HTTP/2 connection without TLS, whose errors are only seen by its streams. */
export function http2Session(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on("error", () => undefined)
  return session
}

/** Sends a request and waits until its stream closes. */
export function askHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return answerOf(stream)
}

/** Reads a stream until it closes. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let headers: IncomingHttpHeaders = {}
    let trailers: IncomingHttpHeaders = {}
    stream.on("response", (fields) => {
      headers = fields
    })
    stream.on("trailers", (fields) => {
      trailers = fields
    })
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.on("error", () => undefined)
    stream.on("close", () => {
      const status = Number(headers[":status"] ?? 0)
      resolve({ status, headers, body: Buffer.concat(chunks), trailers, reset: stream.rstCode ?? 0 })
    })
  })
}
