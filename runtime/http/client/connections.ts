import { connect as connectTcp, type OnReadOpts, type Socket } from "node:net"
import type { Readable } from "node:stream"
import { connect as connectTls } from "node:tls"

/** A request for a backend. */
export interface SentRequest {
  readonly method: string
  /** Path and query, as they are sent. */
  readonly path: string
  /** Names in lower case and values in turn; without Connection and Transfer-Encoding. `host` only where it is not the origin's. */
  readonly fields: readonly string[]
  /** A stream without a `content-length` among the fields is sent in chunks. */
  readonly body: Buffer | Readable | null
}

/** A request on its connection. Both do nothing once the answer is over. */
export interface Sending {
  /** Goes on after an `onData` that answered false. */
  resume(): void
  /** Ends the connection; `error` is what the receiver is told. */
  abort(error: Error): void
}

/**
 * Is told of an answer: `onConnect`, perhaps `onBegun`, `onHead` and `onData`, and then either `onComplete` or `onError`, once; `onError` alone where
 * no connection took the request.
 */
export interface AnswerReceiver {
  /** False: nobody waits for the answer any more. What has no connection yet is dropped then, and nothing is told. */
  readonly isWanted: boolean
  /** A connection takes the request. */
  onConnect(sending: Sending): void
  /** The first byte of an answer is here. */
  onBegun(): void
  /** The head of the answer; not those of 1xx. `fields`: names as sent and values, in turn. */
  onHead(status: number, fields: readonly string[]): void
  /** Bytes of the body, which are the receiver's. False: wait for `resume`. */
  onData(bytes: Buffer): boolean
  /** The answer is over. `trailers`: names and values in turn. */
  onComplete(trailers: readonly string[]): void
  /** UpstreamError, or what the body of the request failed with. */
  onError(error: Error): void
}

/** Connections to one origin. */
export interface Connections {
  /** Never throws: what is wrong with the request is told to the receiver, too. */
  dispatch(request: SentRequest, receiver: AnswerReceiver): void
  /** Takes no more requests; resolves when those at work have ended. */
  close(): Promise<void>
  /** Ends all requests at once. */
  destroy(): Promise<void>
}

/** Where connections go, and how. */
export interface Endpoint {
  readonly hostname: string
  readonly port: number
  /** Undefined: plain TCP. */
  readonly tls: TlsSettings | undefined
  readonly connectMs: number
}

/** How the other side is trusted, and what we show. */
export interface TlsSettings {
  /** PEM of the authorities, when not those of the system. */
  readonly ca: string | undefined
  /** PEM of what we show. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined
  /** Certificates are not verified. */
  readonly insecure: boolean
  /** The name that is verified; undefined for an address. */
  readonly servername: string | undefined
}

/** Told of what happens to a connection. */
export interface SocketEvents {
  opened(): void
  /** The bytes are the listener's to keep. */
  received(bytes: Buffer): void
  /** The other side has said all. */
  ended(): void
  /** Once, at last; `error` where it did not end well. */
  closed(error: Error | undefined): void
}

const readBytes = 64 * 1024
const probeMs = 60_000

/** libuv reads into it and calls back in one step, so one is enough for all connections; but on Windows reads are begun beforehand. */
const shared = process.platform === "win32" ? undefined : Buffer.allocUnsafeSlow(readBytes)

/** Why there is no answer, or not all of it. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError"
  /**
   * `connect`: there is no connection; `connect-timeout`: not in its time; `closed`: it was closed or reset; `protocol`: what came is not HTTP;
   * `request`: ours cannot be sent; `aborted`: by us.
   */
  readonly reason: "connect" | "connect-timeout" | "closed" | "protocol" | "request" | "aborted"
  /** The connection had answered before. */
  readonly reused: boolean

  /** `cause`: the system's error, where it is one. */
  constructor(reason: UpstreamError["reason"], message: string, reused = false, cause?: Error) {
    super(message, { cause })
    this.reason = reason
    this.reused = reused
  }
}

/**
 * Opens a connection and tells what comes. A certificate is verified against the place's name, never one of a request; sessions are not resumed, because that
 * would skip the check of the name.
 */
export function open(endpoint: Endpoint, events: SocketEvents): Socket {
  const buffer = shared ?? Buffer.allocUnsafeSlow(readBytes)
  const socket = connect(endpoint, { buffer, callback: taker(events) })
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

/** Opens a connection for somebody who reads it as any other. The event that says it is open is `openedEvent`; one that is not open in time fails with UpstreamError. */
export function connect(endpoint: Endpoint, onread?: OnReadOpts): Socket {
  const socket = socketTo(endpoint, onread)
  const timer = setTimeout(
    () => socket.destroy(new UpstreamError("connect-timeout", `no connection in ${endpoint.connectMs} ms`)),
    endpoint.connectMs,
  )
  const settled = () => clearTimeout(timer)
  socket.once(openedEvent(endpoint), settled).once("close", settled)
  return socket
}

function socketTo({ hostname, port, tls }: Endpoint, onread: OnReadOpts | undefined): Socket {
  const common = { host: hostname, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: probeMs }
  if (tls === undefined) return connectTcp({ ...common, ...(onread === undefined ? {} : { onread }) })
  return connectTls({
    ...common,
    rejectUnauthorized: !tls.insecure,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...tls.certificate,
    ...(tls.servername === undefined ? {} : { servername: tls.servername }),
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
  })
}

/** What a socket of `connect` emits when requests can be sent. */
export function openedEvent({ tls }: Endpoint): "connect" | "secureConnect" {
  return tls === undefined ? "connect" : "secureConnect"
}

/** The buffer is filled again at once: what is kept is a copy, which costs less than a new buffer for each read. */
function taker(events: SocketEvents): OnReadOpts["callback"] {
  return (count, buffer) => {
    events.received(Buffer.from(buffer.subarray(0, count)))
    return true
  }
}
