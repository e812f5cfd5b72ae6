import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { type FastifyInstance, fastify } from "fastify"
import { closeServer } from "../http1/close-server.ts"
import type { Address } from "../plan/resources.ts"
import { type Problem, type ProblemName, problem } from "../policies/answer.ts"
import type { IncomingExchange } from "./incoming.ts"
import { renderProblem } from "./problem.ts"
import { takeUpgrades } from "./upgrades.ts"

/** What happens to a request: `target` is the request target as sent. */
export type Handle = (incoming: IncomingExchange, target: string) => void

/** What a listener needs besides its address. `headMs`: how long the head of a request may take; slow heads are the cheapest attack there is. */
export interface ListenerSettings {
  readonly headerBytesMax: number
  readonly headMs: number
  readonly handle: Handle
  readonly newId: () => string
  readonly refused: Refused
}

/** Told of what was refused before there was a request; `peer` is the address of the connection's other end. */
export type Refused = (id: string, found: Problem, peer: string) => void

const keepAliveMs = 75_000
const framesMax = 65_536

/**
 * One listener: one Fastify instance for the life of the process, one catch-all, taken over before any body is parsed. Routing belongs to the
 * generation: Fastify can't take routes away again.
 */
export class Listener {
  readonly address: Address
  readonly #fastify: FastifyInstance
  readonly #state: { closing: boolean }
  #closed: Promise<void> | undefined

  private constructor(address: Address, instance: FastifyInstance, state: { closing: boolean }) {
    this.address = address
    this.#fastify = instance
    this.#state = state
  }

  /** @throws when the address can't be had, with the code of the system (`EADDRINUSE`). */
  static async open(address: Address, settings: ListenerSettings): Promise<Listener> {
    const { headerBytesMax, headMs, handle } = settings
    const answerRaw = answererOf(settings)
    const listener = { closing: false }
    const instance = fastify({
      logger: false,
      return503OnClosing: false,
      exposeHeadRoutes: false,
      keepAliveTimeout: keepAliveMs,
      requestTimeout: 0,
      routerOptions: { maxParamLength: framesMax },
      // Every request has the same route: nothing in the target can keep a request from our own, stricter reading of it.
      rewriteUrl: () => "/",
      clientErrorHandler: (error, socket) => refuse(error, socket as Socket, answerRaw),
      http: {
        maxHeaderSize: headerBytesMax,
        headersTimeout: headMs,
        // How late Node may notice.
        connectionsCheckingInterval: Math.min(2_000, headMs),
        insecureHTTPParser: false,
        // RFC 9112 §3.2: the check is ours, with our body.
        requireHostHeader: false,
        noDelay: true,
      },
    })
    instance.addHook("onRequest", (request, reply, _done) => {
      reply.hijack()
      const { raw } = request
      ;(raw.socket as Tagged)[latest] = reply.raw
      const { originalUrl } = raw as IncomingMessage & { originalUrl: string }
      handle({ request: raw, reply: reply.raw, listener, upgrade: undefined }, originalUrl)
    })
    // The hook answers; the route spares Fastify the way to its 404. Methods Fastify does not know go that way all the same.
    instance.all("/", () => undefined)
    instance.setNotFoundHandler(() => undefined)
    const { server } = instance
    takeUpgrades(server, (request, reply, upgrade) =>
      handle({ request, reply, listener, upgrade }, request.url ?? "/"),
    )
    // 0: no limit here. Node's own truncates silently; the fields are counted, and refused, by the intake.
    server.maxHeadersCount = 0
    // Node would say 100 Continue before anybody has looked at the credentials, and 417 with nothing in it or in the log.
    for (const event of ["checkContinue", "checkExpectation"])
      server.on(event, (request: IncomingMessage, reply: ServerResponse) =>
        server.emit("request", request, reply),
      )
    server.on("connect", (_request: IncomingMessage, socket: Socket) =>
      answerRaw(
        socket,
        problem("method-not-allowed", { headers: ["allow", ""], cause: "CONNECT is never served" }),
      ),
    )
    await instance.ready()
    server.listen({ host: address.host, port: address.port })
    await once(server, "listening")
    return new Listener(address, instance, listener)
  }

  /** Where it listens, as `host:port`. */
  get bound(): string {
    const { address, port, family } = this.#fastify.server.address() as AddressInfo
    return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`
  }

  set headerBytesMax(bytes: number) {
    // Read by Node for each new connection.
    ;(this.#fastify.server as unknown as { maxHeaderSize: number }).maxHeaderSize = bytes
  }

  /** No new connections; those there are end with the answer they wait for, or with the next one, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }

  async #close(graceMs: number): Promise<void> {
    this.#state.closing = true
    await closeServer(this.#fastify.server, graceMs)
    await this.#fastify.close()
  }
}

/** The newest answer of a connection, for errors that come while it is on its way. */
const latest = Symbol("latest answer")
type Tagged = Socket & { [latest]?: ServerResponse }

type RawAnswerer = (socket: Socket, found: Problem) => void

/** Answers on a connection that has no request, and tells of it. */
function answererOf({ newId, refused }: ListenerSettings): RawAnswerer {
  return (socket, found) => {
    const id = newId()
    const peer = socket.remoteAddress ?? ""
    sendRaw(socket, found, id)
    refused(id, found, peer)
  }
}

/** Answers what llhttp refused, before there is a request (RFC 9112 §2.2, 5.1, 6.3; RFC 6585 §5). */
function refuse(error: NodeJS.ErrnoException, socket: Socket, answerRaw: RawAnswerer): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = (socket as Tagged)[latest]
  const found = refusalOf(error)
  if (answer === undefined || answer.writableFinished) {
    answerRaw(socket, found)
    return
  }
  // Bytes after `Connection: close` are no request and take nothing from the one before them.
  if (error.code === "HPE_CLOSED_CONNECTION") return
  if (answer.req.complete) {
    // The requests before the rubbish are whole: they get their answers first.
    answer.once("close", () => {
      if (socket.writable) answerRaw(socket, found)
    })
  } else if (answer.headersSent) {
    // An answer has begun: a second one in its middle would be taken for its body, or for the answer to another request.
    answer.end()
    socket.destroySoon()
  } else answerRaw(socket, found)
}

const refusals: Readonly<Record<string, ProblemName>> = {
  HPE_HEADER_OVERFLOW: "header-too-large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "body-too-large",
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
}

function refusalOf({ code, message }: NodeJS.ErrnoException): Problem {
  return problem(refusals[code ?? ""] ?? "invalid-request", { cause: message })
}

function sendRaw(socket: Socket, found: Problem, id: string): void {
  // What is no request belongs to no plan either: the answer has the standard's form.
  const { status, headers, body } = renderProblem(found, id, "problem")
  const lines = [`HTTP/1.1 ${status} Refused`, `content-length: ${body.length}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  lines.push(`x-request-id: ${id}`, "connection: close", "", "")
  socket.on("error", () => undefined)
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), body]), () => socket.destroy())
}
