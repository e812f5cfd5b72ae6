import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { DevError } from "./dev-error.ts"

/** A listening HTTP server. */
export interface DevListener {
  /** Without a trailing `/`. */
  readonly url: string
  /** Stops listening and cuts open connections. */
  close(): Promise<void>
}

/**
 * Opens a server; `port` 0 takes a free one. `what` names the service in errors. `answerAt` gets the address, which is known only now, and
 * returns the request handler.
 */
export async function listen(
  what: string,
  host: string,
  port: number,
  answerAt: (url: string) => RequestListener,
): Promise<DevListener> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(what, host, port, error)))
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const shownHost = address.family === "IPv6" ? `[${address.address}]` : address.address
  const url = `http://${shownHost}:${address.port}`
  server.on("request", answerAt(url))
  return { url, close: () => close(server) }
}

function explain(what: string, host: string, port: number, error: NodeJS.ErrnoException): DevError {
  const address = `${host}:${port}`
  if (error.code === "EADDRINUSE")
    return new DevError(
      `${what} cannot listen on ${address}: the address is in use`,
      `Stop the process that uses it (\`ss -ltnp 'sport = :${port}'\` shows it), or choose another address.`,
    )
  if (error.code === "EACCES")
    return new DevError(`${what} cannot listen on ${address}: not allowed`, "Choose a port above 1023.")
  return new DevError(
    `${what} cannot listen on ${address}: ${error.message}`,
    "Choose an address of this machine.",
  )
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
