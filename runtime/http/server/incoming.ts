import type { IncomingHttpHeaders } from "node:http"
import type { Socket } from "node:net"
import type { ByteSocket } from "../byte-socket.ts"
import type { RequestFault } from "./request-fault.ts"
import type { ListenerTls } from "./tls.ts"

/** A request as its handler gets it: that of `node:http`, or one of HTTP/2 in the same form (`http2/http2-request.ts`). */
export interface IncomingRequest {
  readonly method?: string | undefined
  /** The request target as sent. */
  readonly url?: string | undefined
  /** The version in the request line: one of HTTP/1.1 may claim another. */
  readonly httpVersionMajor: number
  readonly httpVersionMinor: number
  /** The request came by HTTP/2. */
  readonly isHttp2?: true
  /** Names and values alternate; of HTTP/2 without pseudo-header fields, and `:authority` is `host`. */
  readonly rawHeaders: string[]
  readonly headers: IncomingHttpHeaders
  /** Why the head is refused, if its size is the reason; HTTP/1.1 never gets that far. */
  readonly headFault?: RequestFault | undefined
  /** The whole request has arrived. */
  readonly complete: boolean
  readonly socket: Socket
  on(event: "data", listener: (chunk: Buffer) => void): unknown
  on(event: "end" | "close" | "error", listener: () => void): unknown
  once(event: "end" | "close" | "error", listener: () => void): unknown
  off(event: "data", listener: (chunk: Buffer) => void): unknown
  off(event: "end" | "close", listener: () => void): unknown
  removeAllListeners(event: "data" | "end"): unknown
  pause(): unknown
  resume(): unknown
}

/** The response as its handler writes it: that of `node:http`, or one of HTTP/2 in the same form (`http2/http2-reply.ts`). */
export interface Reply {
  readonly req: IncomingRequest
  /** The head is set; it may not have been sent yet. */
  readonly headersSent: boolean
  readonly writableEnded: boolean
  /** The whole response was given to the connection. */
  readonly writableFinished: boolean
  readonly destroyed: boolean
  /** False: the connection ends with this response. HTTP/2 ignores it. */
  shouldKeepAlive: boolean
  writeHead(status: number, lines: string[]): unknown
  writeHead(status: number, reason: string, lines: string[]): unknown
  writeContinue(): void
  flushHeaders(): void
  /** False: wait for `drain`. */
  write(content: Uint8Array | string): boolean
  addTrailers(lines: [name: string, value: string][]): void
  end(content?: Uint8Array | string): unknown
  destroy(): unknown
  on(event: "drain" | "error" | "close", listener: () => void): unknown
  once(event: "drain" | "close", listener: () => void): unknown
  off(event: "drain" | "close", listener: () => void): unknown
}

/** Cuts a response off, because the client must see that it is incomplete: HTTP/1.1 can show this only by closing the connection. */
export function cutOff({
  request,
  reply,
}: {
  readonly request: IncomingRequest
  readonly reply: Reply
}): void {
  if (request.isHttp2 === true) reply.destroy()
  else request.socket.destroy()
}

/** The connection of a client that waits for its WebSocket. */
export interface WaitingSocket {
  readonly socket: ByteSocket
  /** Takes the connection from the response: from now on the caller writes to the socket. */
  detach(): void
  /** Ends the waiting: from now on the caller reads the socket. Returns the bytes that arrived before. */
  takeOver(): Buffer
}

/** How clients reach a listener. */
export interface Transport {
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls | undefined
  /** Whether connections from this address begin with a header of the PROXY protocol. Absent: none does. */
  readonly isProxy?: ((address: string) => boolean) | undefined
  /** Without TLS: HTTP/2 too, with clients that know it beforehand (RFC 9113 §3.3). */
  readonly h2c?: boolean | undefined
  /** Requests are calls of gRPC. They may name any host, because no page of a browser can send them. */
  readonly grpc?: boolean | undefined
  /** Requests by plain HTTP are redirected to this port, with `https:`. Absent: they are served. */
  readonly redirectPort?: number | undefined
  /** Value of the Strict-Transport-Security field of every response (RFC 6797 §6.1). Absent: none. */
  readonly strictTransport?: string | undefined
}

/** The state of a listener for its requests. `closing`: responses close their connections, so that no other request follows. */
export interface ListenerState {
  readonly closing: boolean
  readonly transport: Transport
}

/** As `ListenerState`, and which connections it serves. */
export interface ListenerDoor extends ListenerState {
  /**
   * Whether the listener serves connections to `local`, an address of this machine. Until `activate` it serves only those of the listeners that
   * released their address for it.
   */
  serves(local: string | undefined): boolean
}

/** A request and its response. */
export interface IncomingExchange {
  readonly request: IncomingRequest
  readonly reply: Reply
  readonly listener: ListenerState
  /** The connection of a request that asks for a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
}

/** Handles a request. `target`: the request target as sent. */
export type Handle = (
  incoming: IncomingExchange & { readonly listener: ListenerDoor },
  target: string,
) => void
