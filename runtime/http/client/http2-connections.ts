import type { Socket } from "node:net"
import { buildConnector, type Dispatcher, errors, Pool } from "undici"
import { hostNames } from "../names/host-names.ts"
import {
  type AnswerReceiver,
  type Connections,
  type Endpoint,
  lateText,
  type SentRequest,
  UpstreamError,
  watchLookup,
} from "./connections.ts"

/** Number of connections, and of streams on each. */
export interface Http2Settings {
  readonly origin: string
  readonly endpoint: Endpoint
  readonly connectionsMax: number
  readonly streamsMax: number
  readonly idleMs: number
  readonly ageMs: number
  /** Without TLS: HTTP/2 is used without asking, because the server is known to support it (RFC 9113 §3.3). */
  readonly priorKnowledge: boolean
}

/** undici's types lack its option for HTTP/2 by prior knowledge. */
type WithH2c<Options> = Options & { useH2c: boolean }

const answerHeaderBytesMax = 64 * 1024

/** Connections to one origin over HTTP/2, or HTTP/1.1 when the server does not offer it, through undici. */
export class Http2Connections implements Connections {
  readonly #pool: Pool
  readonly #servername: string | undefined

  /** undici's pool with ALPN. Its timeouts are off, because the exchange has its own. */
  constructor(settings: Http2Settings) {
    const { origin, endpoint, connectionsMax, streamsMax, idleMs, ageMs, priorKnowledge } = settings
    const { tls, hostname } = endpoint
    this.#servername = tls === undefined ? undefined : (tls.servername ?? hostname)
    const protocol: WithH2c<Pool.Options> = {
      allowH2: true,
      useH2c: endpoint.tls === undefined && priorKnowledge,
    }
    this.#pool = new Pool(origin, {
      ...protocol,
      connections: connectionsMax,
      clientTtl: ageMs,
      maxConcurrentStreams: streamsMax,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: answerHeaderBytesMax,
      connect: connectorTo(endpoint, priorKnowledge),
    })
  }

  dispatch({ method, path, fields, body }: SentRequest, receiver: AnswerReceiver): void {
    // Without it undici verifies the name in the Host field, which may come from a client.
    const options = { method, path, headers: fields, body, servername: this.#servername }
    this.#pool.dispatch(
      options as unknown as Dispatcher.DispatchOptions,
      new Translator(receiver) as unknown as Dispatcher.DispatchHandler,
    )
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

/** undici's raw dispatch handler, which costs half as much as its request and stream methods. */
class Translator {
  readonly #receiver: AnswerReceiver

  constructor(receiver: AnswerReceiver) {
    this.#receiver = receiver
  }

  #resume: () => void = () => undefined

  onConnect(abort: (error: Error) => void): void {
    this.#receiver.onConnect({ abort, resume: () => this.#resume() })
  }

  onResponseStarted(): void {
    this.#receiver.onBegun()
  }

  /** The head of a response. */
  onHeaders(status: number, raw: readonly Buffer[], resume: () => void): boolean {
    // 1xx: informational responses are only for this hop; undici itself refuses an unexpected 100 or 101.
    if (status < 200 && status >= 100) return true
    if (status < 100 || status > 599) throw new Error(`the backend responded with status ${status}`)
    this.#resume = resume
    this.#receiver.onHead(
      status,
      raw.map((text) => text.toString("latin1")),
    )
    return true
  }

  onData(bytes: Buffer): boolean {
    return this.#receiver.onData(bytes)
  }

  onComplete(trailers: Trailers): void {
    this.#receiver.onComplete(flat(trailers))
  }

  onError(error: Error & { code?: string; socket?: { bytesRead?: number } | null }): void {
    this.#receiver.onError(error.code === undefined ? error : upstreamError(error, error.code))
  }
}

/** The forms of undici: flat for HTTP/1.1, an object for HTTP/2. */
type Trailers = readonly (string | Buffer)[] | Readonly<Record<string, unknown>> | null

function flat(trailers: Trailers): string[] {
  if (trailers === null) return []
  if (!Array.isArray(trailers))
    return Object.entries(trailers).flatMap(([name, value]) => [name, String(value)])
  return trailers.map((text) => (typeof text === "string" ? text : (text as Buffer).toString("latin1")))
}

const closed: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])

/** An error of undici as one of this client. `bytesRead` tells a reused connection from a new one. */
function upstreamError(
  error: Error & { socket?: { bytesRead?: number } | null },
  code: string,
): UpstreamError {
  const reused = (error.socket?.bytesRead ?? 0) > 0
  const reason =
    code === "UND_ERR_CONNECT_TIMEOUT" ? "connect-timeout" : closed.has(code) ? "closed" : "protocol"
  return new UpstreamError(reason, `${code}: ${error.message}`, reused)
}

/** As `connect` for HTTP/1.1, with protocol negotiation. The timeout is exact, while undici's own has a resolution of a second. */
function connectorTo(endpoint: Endpoint, priorKnowledge: boolean): buildConnector.connector {
  const { tls, connectMs, hostname, port, names = hostNames } = endpoint
  const servername = tls?.servername
  const protocol: WithH2c<buildConnector.BuildOptions> = {
    allowH2: true,
    useH2c: tls === undefined && priorKnowledge,
  }
  const { lookup } = names
  const open = buildConnector({
    ...protocol,
    // Net sockets take it, but the type of undici's options does not have it.
    ...({ lookup } as object),
    rejectUnauthorized: tls?.insecure !== true,
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...tls?.certificate,
    minVersion: "TLSv1.2",
    maxCachedSessions: 0,
    timeout: 0,
  })
  return (options, callback) => {
    const { servername: _fromTheRequest, host: _itsHost, ...rest } = options
    let timer: NodeJS.Timeout | undefined
    // `connect` returns the socket, but its type does not declare it.
    const socket = open(
      {
        ...rest,
        ...{ hostname, port: String(port) },
        ...(servername === undefined ? {} : { servername }),
      } as typeof options,
      (...result) => {
        clearTimeout(timer)
        callback(...result)
      },
    ) as unknown as Socket
    // Registered before undici's own listener, so that the error which undici passes on shows whether the connection had received bytes.
    socket.once("error", (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }))
    const state = watchLookup(socket, endpoint)
    timer = setTimeout(
      () => socket.destroy(new errors.ConnectTimeoutError(lateText(endpoint, state))),
      connectMs,
    )
  }
}
