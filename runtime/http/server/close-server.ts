import type { Server, ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"

/** How long connections wait for one more request, and the part of the time there is to end that may be spent so. */
const lingerMsMax = 1_000
const lingerPart = 0.1
/** How often it is looked for connections whose last request is answered. */
const idleLookMs = 50

/**
 * Ends an HTTP/1.1 server: no new connections from now on; those there are end with the answer they wait for or with the next one, at the latest after
 * `graceMs`. A client that has a connection may be sending its next request just now, and would find it reset (RFC 9112 §9.3.1, §9.6): for a moment idle
 * connections stay, and answers to what comes on them say that they are the last. Answers under way when it begins are the caller's to mark.
 */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  server.prependListener("request", (_request: unknown, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  const lingerMs = Math.min(lingerMsMax, graceMs * lingerPart)
  if (lingerMs > 0) await stopListening(server, lingerMs)
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  // Those that become idle later are not closed by Node before their keep-alive time is over.
  const idle = setInterval(() => server.closeIdleConnections(), idleLookMs)
  const force = setTimeout(() => server.closeAllConnections(), graceMs - lingerMs)
  await closed
  clearInterval(idle)
  clearTimeout(force)
}

/** Resolves when the last connection has ended, at the latest after `ms`. */
function stopListening(server: Server, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const over = setTimeout(resolve, ms)
    // The HTTP server's own `close` would end idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(over)
      resolve()
    })
  })
}
