import type { Socket } from "node:net"
import {
  type AnswerReceiver,
  closedFailure,
  type Endpoint,
  open,
  openingFailure,
  type Sending,
  type SentRequest,
  type SocketEvents,
  UpstreamError,
} from "../connections.ts"
import { StreamedBody } from "./request-body.ts"
import { type SentHead, writeHead } from "./request-head.ts"
import type { ResponseHead } from "./response-head.ts"
import { ResponseParser, type ResponseSink } from "./response-parser.ts"

/** Receives the events of a connection for its pool. */
export interface ConnectionOwner {
  opened(connection: Connection): void
  /** The response is complete; the connection takes the next request. */
  ready(connection: Connection): void
  /** The connection is closed. `error` is set when it never opened. */
  gone(connection: Connection, error: UpstreamError | undefined): void
}

/** An idle connection is closed this long before the timeout that the server announces. */
const raceMs = 1_000

/**
 * One connection that handles one request at a time. After a request that was not sent completely, or a response that was not read completely, it is
 * closed.
 */
export class Connection implements Sending, SocketEvents, ResponseSink {
  readonly #owner: ConnectionOwner
  readonly #authority: string
  readonly #socket: Socket
  readonly #parser: ResponseParser
  #receiver: AnswerReceiver | undefined
  #body: StreamedBody | undefined
  #isOpen = false
  /** It has served a response before. */
  #answered = false
  /** The first byte of the current response has arrived. */
  #begun = false
  #keepAlive = true
  #paused = false
  #failure: Error | undefined
  /** When it opened. */
  openedAtMs = 0
  /** Since when it has been idle, and how long it may be. */
  idleSinceMs = 0
  idleMs: number

  /** `authority`: the default Host of requests. */
  constructor(owner: ConnectionOwner, endpoint: Endpoint, authority: string, idleMs: number) {
    this.#owner = owner
    this.#authority = authority
    this.idleMs = idleMs
    this.#parser = new ResponseParser(this)
    this.#socket = open(endpoint, this)
  }

  get isUsable(): boolean {
    return this.#isOpen && this.#receiver === undefined && !this.#socket.destroyed
  }

  /** It has not served a response yet. */
  get isFresh(): boolean {
    return !this.#answered
  }

  /** Sends a request; the connection must be usable. False: it was not taken, and the receiver has been notified. */
  send(request: SentRequest, receiver: AnswerReceiver): boolean {
    let head: SentHead
    try {
      head = writeHead(request, this.#authority)
    } catch (error) {
      receiver.onError(error as Error)
      return false
    }
    this.#receiver = receiver
    this.#begun = false
    this.#keepAlive = request.method !== "HEAD"
    this.#parser.begin(request.method === "HEAD")
    receiver.onConnect(this)
    if (this.#receiver === receiver) this.#write(head, request.body)
    return true
  }

  close(): void {
    this.#socket.destroy()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#socket.resume()
  }

  abort(error: Error): void {
    this.#failure ??= error
    this.#socket.destroy()
    this.#fail(error)
  }

  opened(): void {
    this.#isOpen = true
    this.openedAtMs = performance.now()
    this.#owner.opened(this)
  }

  /** Bytes of the response. A malformed response ends the connection: what follows could be read as another response. */
  received(bytes: Buffer): void {
    if (this.#socket.destroyed) return
    if (!this.#begun) {
      this.#begun = true
      this.#receiver?.onBegun()
    }
    try {
      this.#parser.push(bytes)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      this.abort(error)
    }
  }

  ended(): void {
    this.#keepAlive = false
    this.#parser.finish()
    this.#socket.destroy()
  }

  closed(error: Error | undefined): void {
    const isOpen = this.#isOpen
    this.#isOpen = false
    const found = this.#failure ?? (error instanceof UpstreamError ? error : undefined)
    this.#fail(found ?? closedFailure(error, this.#answered))
    this.#owner.gone(this, isOpen ? undefined : openingFailure(error))
  }

  onHead({ status, fields, keepAlive, keepAliveMs }: ResponseHead): void {
    if (!keepAlive) this.#keepAlive = false
    if (keepAliveMs !== undefined) this.idleMs = Math.min(this.idleMs, keepAliveMs - raceMs)
    this.#receiver?.onHead(status, fields)
  }

  onBody(bytes: Buffer): void {
    if (this.#receiver?.onData(bytes) !== false || this.#paused) return
    this.#paused = true
    this.#socket.pause()
  }

  /** The end of a response. The connection is used again only if the request was sent completely and both sides agree. */
  onMessageEnd(trailers: readonly string[], clean: boolean): void {
    const receiver = this.#receiver
    const isSent = this.#body?.isOver !== false
    this.#receiver = undefined
    this.#answered = true
    this.#stopBody()
    if (clean && isSent && this.#keepAlive && this.idleMs > 0) {
      this.resume()
      this.#owner.ready(this)
    } else this.#socket.destroy()
    receiver?.onComplete(trailers)
  }

  /** Writes head and body. A short body goes into one packet with the head. */
  #write(head: SentHead, body: SentRequest["body"]): void {
    const socket = this.#socket
    if (body === null) {
      socket.write(head.text, "latin1")
      return
    }
    if (Buffer.isBuffer(body)) {
      socket.cork()
      socket.write(head.text, "latin1")
      socket.write(body)
      socket.uncork()
      return
    }
    socket.write(head.text, "latin1")
    this.#body = new StreamedBody(socket, body, head, (error) => this.abort(error))
    this.#body.start()
  }

  #fail(error: Error): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    this.#stopBody()
    receiver?.onError(error)
  }

  #stopBody(): void {
    this.#body?.stop()
    this.#body = undefined
  }
}
