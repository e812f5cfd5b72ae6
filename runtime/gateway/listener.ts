import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { type FastifyInstance, fastify } from "fastify"
import { closeServer } from "../http/server/close-server.ts"
import { giveBack, isReachedBy, type Opened, openServer } from "../http/server/listen.ts"
import {
  noteAnswer,
  type RawAnswerer,
  refuseConnection,
  sendRaw,
  strictOptions,
  takeAllRequests,
} from "../http/server/strict-server.ts"
import { addressText } from "../plan/address-text.ts"
import type { Address } from "../plan/resources.ts"
import { type Problem, problem } from "../policies/answer.ts"
import type { IncomingExchange, ListenerDoor } from "./incoming.ts"
import { renderProblem } from "./problem.ts"
import { takeUpgrades } from "./upgrades.ts"

/** What happens to a request: `target` is the request target as sent. */
export type Handle = (
  incoming: IncomingExchange & { readonly listener: ListenerDoor },
  target: string,
) => void

/** What a listener needs besides its address. `headMs`: how long the head of a request may take; slow heads are the cheapest attack there is. */
export interface ListenerSettings {
  readonly headerBytesMax: number
  readonly headMs: number
  readonly handle: Handle
  readonly newId: () => string
  readonly refused: Refused
  /** Listeners that the next plan does not have: they give up their address where it is in the way. */
  readonly leaving: readonly Listener[]
}

/** Told of what was refused before there was a request; `peer` is the address of the connection's other end. */
export type Refused = (id: string, found: Problem, peer: string) => void

const keepAliveMs = 75_000
const framesMax = 65_536
/** How long requests may take that came to an address which the plan does not have (any more). */
export const leftGraceMs = 60_000

/**
 * One listener: one Fastify instance for the life of the process, one catch-all, taken over before any body is parsed. Routing belongs to the
 * generation: Fastify can't take routes away again.
 */
export class Listener {
  readonly address: Address
  readonly #fastify: FastifyInstance
  readonly #opened: Opened
  readonly #state: State
  #closed: Promise<void> | undefined

  private constructor(address: Address, instance: FastifyInstance, opened: Opened, state: State) {
    this.address = address
    this.#fastify = instance
    this.#opened = opened
    this.#state = state
  }

  /** It serves in place of those that gave up their address until `activate`, or `discard`. @throws when the address can't be had, with the code of the system (`EADDRINUSE`). */
  static async open(address: Address, settings: ListenerSettings): Promise<Listener> {
    const { headerBytesMax, headMs, handle } = settings
    const answerRaw = answererOf(settings)
    const listener = new State()
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
    const leaving = settings.leaving.map((each) => each.#opened)
    const opened = await openServer(server, address, leaving).catch(async (error: unknown) => {
      await instance.close()
      throw error
    })
    listener.before = opened.before.map((each) => each.address)
    return new Listener(address, instance, opened, listener)
  }

  /** Where it listens, as `host:port`. */
  get bound(): string {
    return addressText(this.#opened.address)
  }

  /** Its plan is the running one: from now on it serves whoever reaches it. */
  activate(): void {
    this.#state.before = undefined
  }

  /** Its plan is not to be: closes, and has those listen again that gave up their address. @throws when somebody else was quicker. */
  async discard(): Promise<void> {
    await giveBack(this.#opened)
    void this.close(leftGraceMs)
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

/** What requests see of their listener. */
class State implements ListenerDoor {
  closing = false
  /** Addresses it serves in place of others; undefined once it serves by itself. */
  before: readonly Opened["address"][] | undefined = []

  serves(local: string | undefined): boolean {
    return this.before === undefined || isReachedBy(this.before, local)
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
