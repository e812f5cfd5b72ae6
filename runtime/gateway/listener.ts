import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { type FastifyInstance, fastify } from "fastify"
import { closeServer } from "../http1/close-server.ts"
import {
  noteAnswer,
  type RawAnswerer,
  refuseConnection,
  sendRaw,
  strictOptions,
  takeAllRequests,
} from "../http1/strict-server.ts"
import type { Address } from "../plan/resources.ts"
import { type Problem, problem } from "../policies/answer.ts"
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
      clientErrorHandler: (error, socket) => refuseConnection(error, socket as Socket, answerRaw),
      http: strictOptions(headerBytesMax, headMs),
    })
    instance.addHook("onRequest", (request, reply, _done) => {
      reply.hijack()
      const { raw } = request
      noteAnswer(raw, reply.raw)
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
    takeAllRequests(server, answerRaw)
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

/** Answers on a connection that has no request, and tells of it. */
function answererOf({ newId, refused }: ListenerSettings): RawAnswerer {
  return (socket, { name, cause }) => {
    const id = newId()
    const peer = socket.remoteAddress ?? ""
    const headers = name === "method-not-allowed" ? ["allow", ""] : undefined
    const found = problem(name, { cause, headers })
    // What is no request belongs to no plan either: the answer has the standard's form.
    const answer = renderProblem(found, id, "problem")
    sendRaw(socket, { ...answer, headers: [...answer.headers, "x-request-id", id] })
    refused(id, found, peer)
  }
}
