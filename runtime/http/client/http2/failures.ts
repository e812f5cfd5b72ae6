import { closedFailure, UpstreamError } from "../connections.ts"

/** Names of the codes of RST_STREAM and GOAWAY (RFC 9113 §7), by their number. */
const codes: readonly string[] = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
]
const protocolError = 1

/** The error for an invalid response. */
export function malformedHttp2(what: string): UpstreamError {
  return new UpstreamError("protocol", `the response of the backend is not HTTP/2: ${what}`)
}

/** The error of a stream that was reset before the response was complete. nghttp2 resets streams with a malformed response itself, with PROTOCOL_ERROR. */
export function resetFailure(code: number): UpstreamError {
  if (code === protocolError) return malformedHttp2("the stream ended with PROTOCOL_ERROR")
  return new UpstreamError("closed", `the backend reset the stream: ${codeName(code)}`)
}

/** The error of a connection that was ended by GOAWAY with an error. `data`: what the backend says about it, if anything. */
export function goawayFailure(code: number, data: Uint8Array | undefined): UpstreamError {
  const text =
    data === undefined
      ? ""
      : Buffer.from(data)
          .toString("latin1")
          .replace(/[^\x20-\x7e]/g, "")
  const said = text === "" ? "" : ` (${text.slice(0, 100)})`
  return new UpstreamError("closed", `the backend closed the connection: ${codeName(code)}${said}`)
}

/** An error of Node's HTTP/2 session as one of this client. */
export function sessionFailure(error: NodeJS.ErrnoException): UpstreamError {
  return error.code === "ERR_HTTP2_ERROR" ? malformedHttp2(error.message) : closedFailure(error, false)
}

function codeName(code: number): string {
  return codes[code] ?? `code ${code}`
}
