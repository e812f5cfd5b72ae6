import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from "node:net"
import type { Readable } from "node:stream"
import { connect as connectTls } from "node:tls"
import { type HostNames, hostNames } from "../names/host-names.ts"

/** A request for a backend. */
export interface SentRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  /** Lower-case names and values alternate; without Connection and Transfer-Encoding. `host` only when it differs from the origin's. */
  readonly fields: readonly string[]
  /** A stream without a `content-length` field is sent in chunks. */
  readonly body: Buffer | Readable | null
}

/** A request on its connection. Both methods do nothing once the response is complete. */
export interface Sending {
  /** Continues after an `onData` that returned false. */
  resume(): void
  /** Closes the connection; the receiver gets `error`. */
  abort(error: Error): void
}

/**
 * Receives a response: `onConnect`, optionally `onBegun`, `onHead` and `onData`, and finally either `onComplete` or `onError`, once. Only `onError`
 * when no connection took the request.
 */
export interface AnswerReceiver {
  /** False: the response is no longer needed. A request without a connection is then dropped without a call. */
  readonly isWanted: boolean
  /** A connection has taken the request. Called again when another one takes it, because the server has certainly not processed it. */
  onConnect(sending: Sending): void
  /** The first byte of a response has arrived. */
  onBegun(): void
  /** The head of the response, but not of 1xx responses. `fields`: names as sent and values alternate. */
  onHead(status: number, fields: readonly string[]): void
  /** Bytes of the body, owned by the receiver. Return false to pause until `resume`. */
  onData(bytes: Buffer): boolean
  /** The response is complete. `trailers`: names and values alternate. */
  onComplete(trailers: readonly string[]): void
  /** An UpstreamError, or the error of the request body. */
  onError(error: Error): void
}

/** Connections to one origin. */
export interface Connections {
  /** Never throws: errors in the request go to the receiver, too. */
  dispatch(request: SentRequest, receiver: AnswerReceiver): void
  /** Takes no more requests; resolves when the running ones have ended. */
  close(): Promise<void>
  /** Aborts all requests at once. */
  destroy(): Promise<void>
}

/** Where and how to connect. */
export interface Endpoint {
  readonly hostname: string
  readonly port: number
  /** Undefined: plain TCP. */
  readonly tls: TlsSettings | undefined
  readonly connectMs: number
  /** Finds the addresses of `hostname`; absent: the names of the process. */
  readonly names?: HostNames
}

/** How the server's certificate is verified, and the client certificate. */
export interface TlsSettings {
  /** PEM of the certificate authorities; undefined: those of the system. */
  readonly ca: string | undefined
  /** PEM of the client certificate and its key. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined
  /** Do not verify certificates. */
  readonly insecure: boolean
  /** The name to verify; undefined for an IP address. */
  readonly servername: string | undefined
}

/** Receives the events of a connection. */
export interface SocketEvents {
  opened(): void
  /** The receiver owns the bytes. */
  received(bytes: Buffer): void
  /** The other side has ended its direction. */
  ended(): void
  /** Called once, last; `error` when the connection failed. */
  closed(error: Error | undefined): void
}

/** Protocols that are offered to the server (ALPN), the preferred one first. */
const http1: readonly string[] = ["http/1.1"]
const readBytes = 64 * 1024
const probeMs = 60_000

/** libuv reads into the buffer and calls back in one step, so all connections can share one. On Windows reads start earlier, so they cannot. */
const shared = process.platform === "win32" ? undefined : Buffer.allocUnsafeSlow(readBytes)

/** Why a response is missing or incomplete. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError"
  /**
   * `connect`: no connection; `connect-timeout`: not connected in time; `closed`: closed or reset; `protocol`: the response is not valid HTTP;
   * `request`: the request cannot be sent; `aborted`: aborted by the gateway.
   */
  readonly reason: "connect" | "connect-timeout" | "closed" | "protocol" | "request" | "aborted"
  /** The connection had served a response before. */
  readonly reused: boolean

  /** `cause`: the system's error, if there is one. */
  constructor(reason: UpstreamError["reason"], message: string, reused = false, cause?: Error) {
    super(message, { cause })
    this.reason = reason
    this.reused = reused
  }
}

/** The error of a request whose connection ended. `error`: that of the system, if there is one. */
export function closedFailure(error: NodeJS.ErrnoException | undefined, reused: boolean): UpstreamError {
  return new UpstreamError("closed", saidOf(error), reused, error)
}

/** The error of a connection that did not open. */
export function openingFailure(error: NodeJS.ErrnoException | undefined): UpstreamError {
  return error instanceof UpstreamError ? error : new UpstreamError("connect", saidOf(error), false, error)
}

function saidOf(error: NodeJS.ErrnoException | undefined): string {
  if (error === undefined) return "the backend closed the connection"
  return error.code === undefined ? error.message : `${error.code}: ${error.message}`
}

/**
 * Opens a connection and reports its events. A certificate is verified against the name of the endpoint, never against one from a request. TLS
 * sessions are not resumed, because resumption skips this check.
 */
export function open(endpoint: Endpoint, events: SocketEvents): Socket {
  const buffer = shared ?? Buffer.allocUnsafeSlow(readBytes)
  const socket = connect(endpoint, { onread: { buffer, callback: taker(events) } })
  let failure: Error | undefined
  socket.once(openedEvent(endpoint), () => events.opened())
  if (endpoint.tls !== undefined) socket.on("data", (bytes: Buffer) => events.received(bytes))
  socket.on("error", (error) => {
    failure ??= error
  })
  socket.once("end", () => events.ended())
  socket.once("close", () => events.closed(failure))
  return socket
}

/** How a connection is opened and read. */
interface ConnectOptions {
  /** Reads into one buffer, which saves an allocation for each read; absent: the caller reads it as an ordinary socket. */
  readonly onread?: OnReadOpts
  /** Offered to the server (ALPN; default: HTTP/1.1). */
  readonly protocols?: readonly string[]
}

/** Opens a connection. `openedEvent` is the event for an open one; the socket fails with UpstreamError when it does not open in time. */
export function connect(endpoint: Endpoint, options: ConnectOptions = {}): Socket {
  const socket = socketTo(endpoint, options)
  const state = watchLookup(socket, endpoint)
  const timer = setTimeout(
    () => socket.destroy(new UpstreamError("connect-timeout", lateText(endpoint, state))),
    endpoint.connectMs,
  )
  const settled = () => clearTimeout(timer)
  socket.once(openedEvent(endpoint), settled).once("close", settled)
  return socket
}

/** What is known about a socket that is opening. */
interface Opening {
  /** The name has an address. */
  isFound: boolean
}

/** Follows the name of a socket: when no address accepts a connection, the name is asked again sooner. */
function watchLookup(socket: Socket, { hostname, names = hostNames }: Endpoint): Opening {
  const state = { isFound: isIP(hostname) !== 0 }
  if (state.isFound) return state
  let isConnected = false
  socket.once("lookup", (error: Error | null) => {
    state.isFound = error === null
  })
  socket.once("connect", () => {
    isConnected = true
  })
  socket.once("close", () => {
    if (state.isFound && !isConnected) names.doubt(hostname)
  })
  return state
}

/** Why a connection is late. A name that is still being looked up has another remedy than a host that does not answer. */
function lateText({ hostname, connectMs }: Endpoint, { isFound }: Opening): string {
  return isFound
    ? `no connection in ${connectMs} ms`
    : `no address of \`${hostname}\` in ${connectMs} ms: the name server has not replied`
}

function socketTo(
  { hostname, port, tls, names = hostNames }: Endpoint,
  { onread, protocols = http1 }: ConnectOptions,
): Socket {
  const { lookup } = names
  const common = {
    ...{ host: hostname, port, lookup },
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: probeMs },
  }
  if (tls === undefined) return connectTcp({ ...common, ...(onread === undefined ? {} : { onread }) })
  return connectTls({
    ...common,
    rejectUnauthorized: !tls.insecure,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...tls.certificate,
    ...(tls.servername === undefined ? {} : { servername: tls.servername }),
    minVersion: "TLSv1.2",
    ALPNProtocols: [...protocols],
  })
}

/** The event of a socket from `connect` after which requests can be sent. */
export function openedEvent({ tls }: Endpoint): "connect" | "secureConnect" {
  return tls === undefined ? "connect" : "secureConnect"
}

/** The shared buffer is overwritten by the next read, so the bytes are copied. A copy costs less than a new buffer for each read. */
function taker(events: SocketEvents): OnReadOpts["callback"] {
  return (count, buffer) => {
    events.received(Buffer.from(buffer.subarray(0, count)))
    return true
  }
}
