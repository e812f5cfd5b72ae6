import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"
import { type FastifyInstance, type FastifyServerOptions, fastify } from "fastify"
import { type Address, addressText } from "../../plan/resources.ts"
import { noteAnswer, type RawAnswerer, takeAllRequests } from "./connection-errors.ts"
import type { Handle, ListenerDoor } from "./incoming.ts"
import { judgeRequest, type OwnNames, type Refusal } from "./internal-guard.ts"
import { giveBack, isReachedBy, type Opened, openServer } from "./listen.ts"
import { takeUpgrades } from "./upgrades.ts"

/** What a listener waits for, and how much it reads. */
export interface ListenerLimits {
  /** Request line and fields, in bytes. */
  readonly headerBytesMax: number
  /** How long the head of a request may take; slow heads are the cheapest attack there is. */
  readonly headMs: number
  /** How long a whole request may take to arrive; 0: the handler watches its body itself. */
  readonly requestMs: number
}

/** The Host and framing checks of an internal listener; `refuse` sends what it has to say. The connection ends with it. */
export interface Guard {
  readonly names: OwnNames
  refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void
}

/** Who answers what a listener takes: a handler, behind Fastify or behind node:http alone, or the routes of a Fastify instance. */
export type Service =
  | { readonly kind: "handler"; readonly handle: Handle; readonly webSockets?: boolean }
  | { readonly kind: "bare-handler"; readonly handle: Handle }
  | { readonly kind: "routes"; readonly app: FastifyApp }

/** A Fastify instance to be: its options, and what puts routes into it. */
export interface FastifyApp {
  readonly options: Pick<FastifyServerOptions, "bodyLimit" | "frameworkErrors">
  addRoutes(app: FastifyInstance): Promise<void>
}

/** What a listener is opened with. */
export interface ListenerSettings {
  readonly limits: ListenerLimits
  readonly service: Service
  /** Answers where there is no request, e.g. what the HTTP parser refused. */
  readonly answerRaw: RawAnswerer
  /** Absent: the handler judges requests itself, and every Host is served. */
  readonly guard?: Guard
  /** Listeners that give up their address where it is in the way. */
  readonly leaving?: readonly Listener[]
}

/** How long requests may take that came to an address which the plan does not have (any more). */
export const leftGraceMs = 60_000
/** Longer than most clients keep idle connections, so that it is them who close. */
const keepAliveMs = 75_000
/** How late Node may notice that a head or a request takes too long. */
const lookEveryMs = 2_000

/** How long connections wait for one more request, and the part of the time there is to end that may be spent so. */
const lingerMsMax = 1_000
const lingerPart = 0.1
/** How often it is looked for connections whose last request is answered. */
const idleLookMs = 50

/** One address with one server. What all servers of the process do alike is here: limits, checks before anything else, errors on the raw socket, an end without resets. */
export class Listener {
  /** What was asked for: a name may stand for an address, port 0 for a free one. */
  readonly asked: Address
  readonly opened: Opened<Server>
  readonly #end: () => Promise<void>
  readonly #state: State
  #closed: Promise<void> | undefined

  constructor(asked: Address, opened: Opened<Server>, state: State, end: () => Promise<void>) {
    this.asked = asked
    this.opened = opened
    this.#state = state
    this.#end = end
  }

  /** Where it listens, as `host:port`. */
  get bound(): string {
    return addressText(this.opened.address)
  }

  /** From now on it serves whoever reaches it. */
  activate(): void {
    this.#state.before = undefined
  }

  /** Stops listening, has those listen again that gave up their address, and closes. @throws when another process took such an address meanwhile. */
  async discard(graceMs: number): Promise<void> {
    await giveBack(this.opened)
    void this.close(graceMs)
  }

  set headerBytesMax(bytes: number) {
    // Read by Node for each new connection.
    ;(this.opened.server as unknown as { maxHeaderSize: number }).maxHeaderSize = bytes
  }

  /** No new connections; those there are end with the response they wait for, or with the next one, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void> {
    this.#state.closing = true
    this.#closed ??= closeServer(this.opened.server, graceMs).then(this.#end)
    return this.#closed
  }
}

/** What requests see of their listener. */
class State implements ListenerDoor {
  closing = false
  /** Addresses it serves in place of others; undefined once it serves by itself. */
  before: readonly Address[] | undefined = []

  serves(local: string | undefined): boolean {
    return this.before === undefined || isReachedBy(this.before, local)
  }
}

/** Opens an address. @throws the system's error (`EADDRINUSE`, `EACCES` …, with `address` and `port`) when it cannot be had. */
export async function openListener(asked: Address, settings: ListenerSettings): Promise<Listener> {
  const state = new State()
  const { server, end } = await serverOf(settings, state)
  takeAllRequests(server, settings.answerRaw)
  const leaving = (settings.leaving ?? []).map((each) => each.opened)
  const opened = await openServer(server, asked, leaving).catch(async (error: unknown) => {
    await end()
    throw error
  })
  state.before = opened.before.map((each) => each.address)
  return new Listener(asked, opened, state, end)
}

interface Built {
  readonly server: Server
  readonly end: () => Promise<void>
}

type Take = (request: IncomingMessage, response: ServerResponse) => void

async function serverOf(settings: ListenerSettings, listener: ListenerDoor): Promise<Built> {
  const { service } = settings
  if (service.kind === "routes") return withRoutes(settings, service.app)
  const { handle } = service
  const take = (request: IncomingMessage, reply: ServerResponse, target: string) =>
    handle({ request, reply, listener, upgrade: undefined }, target)
  if (service.kind === "bare-handler") return withoutFastify(settings, take)
  const built = await withOneRoute(settings, take)
  if (service.webSockets === true)
    takeUpgrades(built.server, (request, reply, upgrade) =>
      handle({ request, reply, listener, upgrade }, request.url ?? "/"),
    )
  return built
}

type TakeTarget = (request: IncomingMessage, response: ServerResponse, target: string) => void

/**
 * For the engine: a check behind `withOneRoute` costs 26.2 µs of CPU time and 22.3 µs here, an inherited one 48.6 and 43.4 (2026-11, medians of ten pairs of rounds), more than the 3 % that one shell for
 * all would be worth.
 */
function withoutFastify(settings: ListenerSettings, take: TakeTarget): Built {
  const server = newServer(settings, (request, response) => take(request, response, request.url ?? "/"))
  return { server, end: () => Promise.resolve() }
}

/** The server every listener has. What is wrong with a request is said before Fastify, or a handler, sees it. */
function newServer({ limits, guard }: ListenerSettings, take: Take): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(lookEveryMs, limits.headMs),
    keepAliveTimeout: keepAliveMs,
    insecureHTTPParser: false,
    // RFC 9112 §3.2: the check is ours, with our body.
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
    // Where such a request ends is not certain.
    response.shouldKeepAlive = false
    guard?.refuse(request, response, refusal)
  })
}

/** Longest target that Fastify may look at; ours is shorter (`request-fault.ts`). */
const parameterLengthMax = 65_536

/** A Fastify instance whose one route takes everything, before any body is parsed: it cannot take routes away again, and a plan does. */
async function withOneRoute(settings: ListenerSettings, take: TakeTarget): Promise<Built> {
  const app = fastify({
    ...fastifyOptions(settings),
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: parameterLengthMax },
    // Every request has the same route: nothing in the target can keep a request from our own, stricter reading of it.
    rewriteUrl: () => "/",
  })
  app.addHook("onRequest", (request, reply, _done) => {
    reply.hijack()
    const raw = request.raw as IncomingMessage & { readonly originalUrl: string }
    raw.url = raw.originalUrl
    take(raw, reply.raw, raw.originalUrl)
  })
  // The hook answers; the route spares Fastify the way to its 404. Methods Fastify does not know go that way all the same.
  app.all("/", () => undefined)
  app.setNotFoundHandler(() => undefined)
  await app.ready()
  return { server: app.server, end: () => app.close() }
}

async function withRoutes(settings: ListenerSettings, { options, addRoutes }: FastifyApp): Promise<Built> {
  const app = fastify({ ...fastifyOptions(settings), ...options })
  await addRoutes(app)
  await app.ready()
  return { server: app.server, end: () => app.close() }
}

function fastifyOptions(settings: ListenerSettings) {
  return {
    logger: false,
    // `takeAllRequests` answers them.
    clientErrorHandler: () => undefined,
    serverFactory: (handler: Take) => newServer(settings, handler),
  } as const
}

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
