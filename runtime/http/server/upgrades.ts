import { type IncomingMessage, type Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { WaitingSocket } from "./incoming.ts"

/** Handles a request for a WebSocket. */
export type HandleUpgrade = (request: IncomingMessage, reply: ServerResponse, upgrade: WaitingSocket) => void

const dropped: ReadonlySet<string> = new Set(["upgrade", "http2-settings"])

/**
 * Takes over connections that ask for an upgrade. A WebSocket (RFC 6455 §4.2.1) goes to `handle`. Every other protocol is ignored, and the request is
 * handled as if it had not asked (RFC 9110 §7.8), because some clients always offer `h2c`.
 */
export function takeUpgrades(server: Server, handle: HandleUpgrade): void {
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!asksForWebSocket(request.method, request.headers.upgrade)) {
      serveWithout(server, request, socket, head)
      return
    }
    const reply = new ServerResponse(request)
    reply.shouldKeepAlive = false
    reply.assignSocket(socket)
    // After a response without an upgrade the connection is closed.
    reply.once("finish", () => {
      reply.detachSocket(socket)
      socket.destroySoon()
      reply.emit("close")
    })
    socket.on("error", () => socket.destroy())
    handle(request, reply, new WaitingClient(reply, socket, head))
  })
}

/** Maximum number of bytes to read before the response; then reading pauses. */
const earlyBytesMax = 64 * 1024

/** It reads while it waits, because only reading shows that the client has disconnected. */
class WaitingClient implements WaitingSocket {
  readonly socket: Socket
  readonly #reply: ServerResponse
  #early: Buffer[]
  #bytes: number

  constructor(reply: ServerResponse, socket: Socket, head: Buffer) {
    this.#reply = reply
    this.socket = socket
    this.#early = [head]
    this.#bytes = head.length
    socket.on("data", this.#keep)
    socket.once("end", this.#gone)
  }

  detach(): void {
    this.#reply.detachSocket(this.socket)
  }

  takeOver(): Buffer {
    this.socket.off("data", this.#keep)
    this.socket.off("end", this.#gone)
    const early = Buffer.concat(this.#early)
    this.#early = []
    return early
  }

  readonly #keep = (bytes: Buffer): void => {
    this.#early.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= earlyBytesMax) this.socket.pause()
  }

  readonly #gone = (): void => {
    this.socket.destroy()
  }
}

/** Whether a request that asks for an upgrade asks for a WebSocket. `upgrade`: the value of its field. */
export function asksForWebSocket(method: string | undefined, upgrade: string | undefined): boolean {
  return method === "GET" && /(?:^|,)\s*websocket\s*(?:,|$)/i.test(upgrade ?? "")
}

/** The fields of a request without those that ask for an upgrade. Names and values alternate. */
export function withoutUpgrade(rawHeaders: readonly string[]): string[] {
  const fields: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const value = rawHeaders[at + 1] as string
    if (dropped.has(name.toLowerCase())) continue
    if (name.toLowerCase() !== "connection") fields.push(name, value)
    else {
      const kept = value.split(",").filter((option) => !dropped.has(option.trim().toLowerCase()))
      if (kept.length > 0) fields.push(name, kept.join(",").trim())
    }
  }
  return fields
}

/** Returns the connection to the server with the same request, without the fields that ask for the upgrade. */
function serveWithout(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  const fields = withoutUpgrade(rawHeaders)
  for (let at = 0; at < fields.length; at += 2) lines.push(`${fields[at]}: ${fields[at + 1]}`)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]))
  server.emit("connection", socket)
}
