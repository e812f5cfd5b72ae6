import { Http2ServerRequest, Http2ServerResponse } from "node:http2"
import type { Http2Request } from "./http2-request.ts"

/**
 * A request of HTTP/2 and its response as the streams of `node:http2`, which Fastify needs. They have the fields and the socket of `request`, so that
 * its callers see the same as before.
 */
export function nodePair(request: Http2Request): [Http2ServerRequest, Http2ServerResponse] {
  const { stream, headers, rawHeaders, socket } = request
  const message = new Http2ServerRequest(stream, headers, {}, rawHeaders)
  // Node's own is a proxy, and certificates of clients are known by their socket.
  Object.defineProperty(message, "socket", { value: socket })
  return [message, new Http2ServerResponse(stream)]
}
