import { connect as connectTcp, type OnReadOpts, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { UpstreamError } from "./connections.ts"

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
