import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Http2ServerResponse } from "node:http2"
import { Server as NetServer, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { type FastifyInstance, type FastifyServerOptions, fastify } from "fastify"
import { type Address, addressText } from "../../plan/resources.ts"
import type { ShownRevocationList } from "./client-trust.ts"
import { type ConnectionRefusal, inheritAddress, openDoor } from "./connection-door.ts"
import { noteAnswer, type RawAnswerer, takeAllRequests } from "./connection-errors.ts"
import type { Flood } from "./http2/flood-guard.ts"
import type { Http2Request } from "./http2/http2-request.ts"
import { Http2Sessions } from "./http2/http2-sessions.ts"
import { nodePair } from "./http2/node-pair.ts"
import { onFirstBytes } from "./http2/preface.ts"
import type { Handle, IncomingRequest, ListenerDoor, Reply, Transport } from "./incoming.ts"
import { judgeRequest, type OwnNames, type Refusal, refusalOf } from "./internal-guard.ts"
import { giveBack, isReachedBy, type Opened, openServer } from "./listen.ts"
import type { RequestFault } from "./request-fault.ts"
import type { ShownCertificate } from "./server-certificates.ts"
import type { HandshakeFailure, TlsHooks } from "./tls.ts"
import { takeUpgrades } from "./upgrades.ts"

/** Timeouts and size limits of a listener. */
export interface ListenerLimits {
  /** Request line and fields, in bytes. */
  readonly headerBytesMax: number
  /** Timeout for the head of a request, because slow heads are the cheapest attack. */
  readonly headMs: number
  /** Timeout for a whole request to arrive; 0: the handler watches its body itself. */
  readonly requestMs: number
  /** For a client of HTTP/2 to read some bytes of a response (default: 30,000). */
  readonly readerMs?: number
}

/** The Host and framing checks of an internal listener; `refuse` sends the response, and the connection is then closed. */
export interface Guard {
  readonly names: OwnNames
  refuse(request: IncomingRequest, response: Reply, refusal: Refusal): void
}

/** The service behind a listener: a handler behind Fastify or directly behind node:http, or the routes of a Fastify instance. */
export type Service =
  | { readonly kind: "handler"; readonly handle: Handle; readonly webSockets?: boolean }
  | { readonly kind: "bare-handler"; readonly handle: Handle }
  | { readonly kind: "routes"; readonly app: FastifyApp }

/** The options of a Fastify instance, and the function that adds its routes. */
export interface FastifyApp {
  readonly options: Pick<FastifyServerOptions, "bodyLimit" | "frameworkErrors">
  addRoutes(app: FastifyInstance): Promise<void>
}

/** The settings for opening a listener. */
export interface ListenerSettings {
  readonly limits: ListenerLimits
  readonly service: Service
  /** Responds when there is no valid request, for example after an error of the HTTP parser. */
  readonly answerRaw: RawAnswerer
  /** Absent: the handler checks requests itself, and accepts every Host. */
  readonly guard?: Guard
  /** Listeners that release their address when it conflicts. */
  readonly leaving?: readonly Listener[]
  /** How clients reach it until `transport` is set (default: by plain HTTP). */
  readonly transport?: Transport | undefined
  /** Called when a connection ends before its TLS handshake is complete. */
  readonly onHandshakeFailed?: ((failure: HandshakeFailure) => void) | undefined
  /** Counts a connection from an address; undefined when the address has too many. Absent: there is no limit. */
  readonly admit?: ((address: string) => (() => void) | undefined) | undefined
  /** Called when a connection is closed before TLS and HTTP. */
  readonly onRefused?: ((reason: ConnectionRefusal) => void) | undefined
  /** Called when a connection of HTTP/2 is closed because of its client's frames. */
  readonly onFlood?: ((flood: Flood) => void) | undefined
  /** Whether its requests wait until it is activated, discarded or closed. Absent: the handler gets them at once. */
  readonly awaitsActivation?: boolean
}

/** How long requests may run on an address that the plan does not contain (any more). */
export const leftGraceMs = 60_000
/** Longer than most clients keep idle connections, so that the clients close first. */
const keepAliveMs = 75_000
const readerMsDefault = 30_000
/** Maximum delay until Node notices that a head or a request is too late. */
const lookEveryMs = 2_000

/** How long closing connections wait for one more request: at most this time, and at most this part of the grace period. */
const lingerMsMax = 1_000
const lingerPart = 0.1
/** Interval for closing connections that have become idle. */
const idleLookMs = 50

/**
 * One address with one server. It contains what all servers of the process share: limits, checks before the handler, errors on the raw socket, and an
 * end without resets.
 */
export class Listener {
  /** The address as configured: the host may be a name, and port 0 means any free port. */
  readonly asked: Address
  readonly opened: Opened<Server>
  readonly #end: () => Promise<void>
  readonly #state: State
  readonly #http2: Http2Sessions
  #closed: Promise<void> | undefined

  constructor(asked: Address, opened: Opened<Server>, state: State, { end, http2 }: Built) {
    this.asked = asked
    this.opened = opened
    this.#state = state
    this.#end = end
    this.#http2 = http2
  }

  /** The actual address, as `host:port`. */
  get bound(): string {
    return addressText(this.opened.address)
  }

  /** From now on it serves all connections that reach it. */
  activate(): void {
    this.#state.before = undefined
    this.#state.release()
  }

  /**
   * Stops listening, lets the listeners that released their address listen again, and closes.
   * @throws when another process has taken such an address in the meantime
   */
  async discard(graceMs: number): Promise<void> {
    await giveBack(this.opened)
    void this.close(graceMs)
  }

  get transport(): Transport {
    return this.#state.transport
  }

  /** How clients reach it from now on. Connections that are open keep their TLS, or stay unencrypted. */
  set transport(transport: Transport) {
    this.#state.transport = transport
  }

  set headerBytesMax(bytes: number) {
    // Node reads it for each new connection.
    ;(this.opened.server as unknown as { maxHeaderSize: number }).maxHeaderSize = bytes
    this.#http2.headerBytesMax = bytes
  }

  /** Time for the head of a request, also on connections that are open. */
  set headMs(ms: number) {
    this.opened.server.headersTimeout = ms
    this.#http2.headMs = ms
  }

  async #close(graceMs: number): Promise<void> {
    // Handshakes that are not complete would keep the server open.
    const force = setTimeout(() => {
      for (const socket of this.#state.waiting) socket.destroy()
    }, graceMs)
    await Promise.all([
      closeServer(this.opened.server, graceMs),
      this.#http2.close(lingerOf(graceMs), graceMs),
    ])
    clearTimeout(force)
    await this.#end()
  }

  /** Accepts no new connections. Existing ones end with the response they wait for, or with the next one, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void> {
    this.#state.closing = true
    this.#state.release()
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }
}

/** The certificates of listeners, in their order. */
export function certificatesOf(listeners: readonly Listener[]): ShownCertificate[] {
  return listeners.flatMap(({ transport }) => transport.tls?.certificates ?? [])
}

/** The revocation lists of listeners. */
export function revocationListsOf(listeners: readonly Listener[]): ShownRevocationList[] {
  return listeners.flatMap(({ transport }) => transport.tls?.revocationLists ?? [])
}

/** The state of a listener, as its requests see it. */
class State implements ListenerDoor {
  closing = false
  transport: Transport
  /** Connections that begin with more than a request, such as a handshake. The HTTP server does not know them before that. */
  readonly waiting = new Set<Socket>()
  /** Addresses of the listeners it replaces; undefined once it is activated. */
  before: readonly Address[] | undefined = []
  /** Requests that wait for the activation. */
  #waiting: (() => void)[] | undefined

  constructor({ awaitsActivation, transport = {} }: ListenerSettings) {
    this.transport = transport
    if (awaitsActivation === true) this.#waiting = []
  }

  /** The handler, which gets no request before `release`. */
  afterRelease(handle: Handle): Handle {
    if (this.#waiting === undefined) return handle
    return (incoming, target) => {
      if (this.#waiting === undefined) handle(incoming, target)
      else this.#waiting.push(() => handle(incoming, target))
    }
  }

  wait(socket: Socket): void {
    this.waiting.add(socket)
    socket.once("close", () => this.waiting.delete(socket))
  }

  release(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const serve of waiting) serve()
  }

  serves(local: string | undefined): boolean {
    return this.before === undefined || isReachedBy(this.before, local)
  }
}

/**
 * Opens an address.
 * @throws the system's error when it cannot be opened (`EADDRINUSE`, `EACCES` …, with `address` and `port`)
 */
export async function openListener(asked: Address, settings: ListenerSettings): Promise<Listener> {
  const state = new State(settings)
  const built = await serverOf(settings, state)
  const { server, end } = built
  takeConnections(built, settings, state)
  takeAllRequests(server, settings.answerRaw)
  const leaving = (settings.leaving ?? []).map((each) => each.opened)
  const opened = await openServer(server, asked, leaving).catch(async (error: unknown) => {
    await end()
    throw error
  })
  state.before = opened.before.map((each) => each.address)
  return new Listener(asked, opened, state, built)
}

/**
 * Puts TLS, and the choice between HTTP/1.1 and HTTP/2, before the servers of both. They get encrypted connections as they get the others, so their
 * timeouts, their end and their handling of errors are the same.
 */
function takeConnections({ server, http2 }: Built, settings: ListenerSettings, state: State): void {
  const { answerRaw, onHandshakeFailed, admit, onRefused, limits } = settings
  const served = server.listeners("connection") as ((socket: Socket) => void)[]
  const serve = (socket: Socket): void => {
    for (const each of served) each.call(server, socket)
  }
  const hooks: TlsHooks = {
    secured: (socket) => {
      inheritAddress(socket)
      if (socket.alpnProtocol === "h2") http2.take(socket)
      else serve(socket)
    },
    plainHttp: (socket) => answerRaw(socket, plainHttpFault),
    refused: answerRaw,
    failed: (failure) => onHandshakeFailed?.(failure),
  }
  const take = (socket: Socket): void => {
    const { tls, h2c } = state.transport
    if (tls !== undefined) {
      state.wait(socket)
      tls.take(socket, hooks)
    } else if (h2c === true) {
      state.wait(socket)
      onFirstBytes(socket, limits.headMs, (isHttp2) => (isHttp2 ? http2.take(socket) : serve(socket)))
    } else serve(socket)
  }
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => {
    // `upgrades.ts` returns connections that came through here before.
    if (seen.has(socket) || socket instanceof TLSSocket) {
      serve(socket)
      return
    }
    seen.add(socket)
    const { isProxy } = state.transport
    openDoor(socket, { isProxy, admit, refused: (reason) => onRefused?.(reason) }, take)
  })
}

/** Connections that were taken. */
const seen = new WeakSet<Socket>()

const plainHttpFault: RequestFault = {
  name: "https-required",
  cause: "the client sent HTTP without TLS to a port that accepts only HTTPS",
}

interface Built {
  readonly server: Server
  readonly http2: Http2Sessions
  readonly end: () => Promise<void>
}

type Take = (request: IncomingMessage, response: ServerResponse) => void

/** The server of a listener: with Fastify's routes, with one route for all paths, or without Fastify. */
async function serverOf(settings: ListenerSettings, listener: State): Promise<Built> {
  const { service } = settings
  if (service.kind === "routes") return withRoutes(settings, service.app, listener)
  const handle = listener.afterRelease(service.handle)
  const take: TakeTarget = (request, reply, target) =>
    handle({ request, reply, listener, upgrade: undefined }, target)
  const bare = service.kind === "bare-handler"
  const checked = bare ? withCertificateCheck(settings, listener, take) : take
  const http2 = http2Of(settings, listener, checked)
  if (bare) return { ...withoutFastify(settings, checked), http2 }
  const built = { ...(await withOneRoute(settings, take)), http2 }
  if (service.webSockets === true)
    takeUpgrades(built.server, (request, reply, upgrade) =>
      handle({ request, reply, listener, upgrade }, request.url ?? "/"),
    )
  return built
}

const anyName = { has: () => true }

type TakeTarget = (request: IncomingRequest, response: Reply, target: string) => void

/** HTTP/2 for the same handler. Fastify is not between, because it adds nothing to a handler of its own. */
function http2Of(
  { limits, guard, onFlood }: ListenerSettings,
  listener: State,
  take: TakeTarget,
): Http2Sessions {
  return new Http2Sessions({
    ...{ readerMs: readerMsDefault, ...limits, keepAliveMs, onFlood },
    serve: (request, reply) => {
      const names = listener.transport.grpc === true ? anyName : guard?.names
      const refusal = names === undefined ? undefined : judgeRequest(request, request.url, names)
      if (refusal === undefined) take(request, reply, request.url)
      else guard?.refuse(request, reply, refusal)
    },
  })
}

/**
 * For the engine: a check costs 26.2 µs of CPU time behind `withOneRoute` and 22.3 µs here, an inherited one 48.6 and 43.4 (2026-11, medians of ten
 * pairs of rounds). A common implementation for all listeners would be worth at most 3 %.
 */
function withoutFastify(settings: ListenerSettings, take: TakeTarget): Omit<Built, "http2"> {
  const server = newServer(settings, (request, response) => take(request, response, request.url ?? "/"))
  return { server, end: () => Promise.resolve() }
}

/** The certificate of a client may have been revoked after the handshake, and HTTP names a host of its own. The gateway checks this itself. */
function withCertificateCheck({ guard }: ListenerSettings, listener: State, take: TakeTarget): TakeTarget {
  return (request, response, target) => {
    const fault = listener.transport.tls?.faultOf(request.socket, request.headers.host ?? "")
    if (fault === undefined || guard === undefined) take(request, response, target)
    else {
      response.shouldKeepAlive = false
      guard.refuse(request, response, refusalOf(fault))
    }
  }
}

/** The HTTP server of every listener. It refuses invalid requests before Fastify or a handler sees them. */
function newServer({ limits, guard }: ListenerSettings, take: Take): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(lookEveryMs, limits.headMs),
    keepAliveTimeout: keepAliveMs,
    insecureHTTPParser: false,
    // RFC 9112 §3.2: the listener checks this itself and sends its own body.
    requireHostHeader: false,
    noDelay: true,
  }
  return createServer(options, (request, response) => {
    noteAnswer(request, response)
    const refusal = guard === undefined ? undefined : judgeRequest(request, request.url ?? "", guard.names)
    if (refusal === undefined) {
      take(request, response)
      return
    }
    // It is not certain where such a request ends.
    response.shouldKeepAlive = false
    guard?.refuse(request, response, refusal)
  })
}

/** Fastify's limit for a target; the limit in `request-fault.ts` is lower. */
const parameterLengthMax = 65_536

/** A Fastify instance with one catch-all route, which runs before any body is parsed. Fastify cannot remove routes, but a new plan does. */
async function withOneRoute(settings: ListenerSettings, take: TakeTarget): Promise<Omit<Built, "http2">> {
  const app = fastify({
    ...fastifyOptions(settings),
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: parameterLengthMax },
    // All requests have the same route, so that Fastify cannot refuse a target before the stricter parser sees it.
    rewriteUrl: () => "/",
  })
  app.addHook("onRequest", (request, reply, _done) => {
    reply.hijack()
    const raw = request.raw as IncomingMessage & { readonly originalUrl: string }
    raw.url = raw.originalUrl
    take(raw, reply.raw, raw.originalUrl)
  })
  // The hook responds to the request. The route avoids Fastify's slower path to its 404, which only methods unknown to Fastify take.
  app.all("/", () => undefined)
  app.setNotFoundHandler(() => undefined)
  await app.ready()
  return { server: app.server, end: () => app.close() }
}

async function withRoutes(
  settings: ListenerSettings,
  { options, addRoutes }: FastifyApp,
  listener: State,
): Promise<Built> {
  const app = fastify({
    ...fastifyOptions(settings),
    serverFactory: (handler: Take) => newServer(settings, checkedRoutes(settings, listener, handler)),
    ...options,
  })
  // Fastify closes the connection after some errors of a body, which HTTP/2 does not need and Node warns of.
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (request.raw.httpVersionMajor === 2) reply.removeHeader("connection")
    done()
  })
  await addRoutes(app)
  await app.ready()
  const take = withCertificateCheck(settings, listener, (request) => {
    const [message, response] = nodePair(request as Http2Request)
    demandSecurity(listener, response)
    app.routing(message as never, response as never)
  })
  return { server: app.server, http2: http2Of(settings, listener, take), end: () => app.close() }
}

/** Checks client certificates before Fastify, and adds the field that the transport demands. */
function checkedRoutes(settings: ListenerSettings, listener: State, handler: Take): Take {
  const checked = withCertificateCheck(settings, listener, (request, response) =>
    handler(request as IncomingMessage, response as ServerResponse),
  )
  return (request, response) => {
    demandSecurity(listener, response)
    checked(request, response, request.url ?? "")
  }
}

function demandSecurity(
  { transport: { strictTransport } }: State,
  response: Pick<ServerResponse, "setHeader"> | Http2ServerResponse,
): void {
  if (strictTransport !== undefined) response.setHeader("strict-transport-security", strictTransport)
}

function fastifyOptions(settings: ListenerSettings) {
  return {
    logger: false,
    // `takeAllRequests` responds to them.
    clientErrorHandler: () => undefined,
    serverFactory: (handler: Take) => newServer(settings, handler),
  } as const
}

/**
 * Closes an HTTP/1.1 server. It accepts no new connections; existing ones end with the response they wait for, or with the next one, at the latest
 * after `graceMs`. A client may be sending a request on an idle connection at this moment, and a reset would lose it (RFC 9112 §9.3.1, §9.6).
 * Therefore idle connections stay open for a short time, and responses on them announce that they are the last. For responses that have already
 * begun, the caller must do this.
 */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  server.prependListener("request", (_request: unknown, response: ServerResponse) => {
    response.shouldKeepAlive = false
  })
  const lingerMs = lingerOf(graceMs)
  if (lingerMs > 0) await stopListening(server, lingerMs)
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  // Node closes connections that become idle later only after their keep-alive time.
  const idle = setInterval(() => server.closeIdleConnections(), idleLookMs)
  const force = setTimeout(() => server.closeAllConnections(), graceMs - lingerMs)
  await closed
  clearInterval(idle)
  clearTimeout(force)
}

function lingerOf(graceMs: number): number {
  return Math.min(lingerMsMax, graceMs * lingerPart)
}

/** Resolves when the last connection has ended, at the latest after `ms`. */
function stopListening(server: Server, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const over = setTimeout(resolve, ms)
    // `close` of the HTTP server would close idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(over)
      resolve()
    })
  })
}
