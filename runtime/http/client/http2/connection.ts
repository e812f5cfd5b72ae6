import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type Settings,
} from "node:http2"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import {
  closedFailure,
  connect,
  type Endpoint,
  openedEvent,
  openingFailure,
  UpstreamError,
} from "../connections.ts"
import { unfit } from "../request-checks.ts"
import { type CallOwner, Http2Call, type UnsentCall } from "./call.ts"
import { goawayFailure, sessionFailure } from "./failures.ts"
import { requestFields } from "./request-fields.ts"
import { Http2Body } from "./sent-body.ts"

/** Receives the events of a connection for its pool. */
export interface Http2Owner {
  /** The server speaks HTTP/2: the connection takes streams. */
  opened(connection: Http2Connection): void
  /** The server prefers HTTP/1.1; the connection is closed. */
  declined(): void
  /** The connection may take more streams than before, or none any more. */
  changed(connection: Http2Connection): void
  /** The server has certainly not processed a call. */
  refused(call: UnsentCall): void
  /** The connection is closed. `error` is set when it never opened. */
  gone(connection: Http2Connection, error: UpstreamError | undefined): void
}

/** How a connection is made. */
export interface Http2Place {
  readonly endpoint: Endpoint
  /** The default Host of requests. */
  readonly authority: string
}

const answerHeadBytesMax = 64 * 1024
const answerFieldsMax = 2_000
/** Bytes that the server may send ahead: of one response, and of all together. Node reads on for the others while one is paused. */
const streamWindowBytes = 256 * 1024
const windowBytes = 1024 * 1024
/** Of all streams, in MB, by Node's count. Their number is bounded, and each follows the pace of its reader. */
const sessionMemoryMax = 1024
const settings: Settings = {
  enablePush: false,
  initialWindowSize: streamWindowBytes,
  maxHeaderListSize: answerHeadBytesMax,
}
/** A call that was aborted later than this without any sign of the server makes it doubtful whether the connection still works. */
const doubtMs = 1_000
/** A server that does not close after GOAWAY is not waited for longer. */
const closeMs = 1_000
const http2 = ["h2", "http/1.1"]

/** One connection of HTTP/2, which many requests share. It takes requests when the server has sent its SETTINGS, so that their number is known. */
export class Http2Connection implements CallOwner {
  readonly #owner: Http2Owner
  readonly #place: Http2Place
  readonly #socket: Socket
  readonly #startedMs = performance.now()
  #session: ClientHttp2Session | undefined
  readonly #calls = new Set<Http2Call>()
  #streamsMax = 0
  #isOpen = false
  #isClosed = false
  /** It takes no more streams, and ends with the last one. */
  #isLeaving = false
  /** A PING has not been acknowledged. */
  #isDoubtful = false
  #hasAnswered = false
  /** Counts what has arrived, also up to the beginning of the time since when it has had streams. */
  #heard = 0
  #heardWhileIdle = -1
  #socketError: NodeJS.ErrnoException | undefined
  #failure: UpstreamError | undefined
  #openedAtMs = 0
  #timer: NodeJS.Timeout | undefined
  lastStreamId = Number.POSITIVE_INFINITY
  /** Since when it has no streams. */
  idleSinceMs = this.#startedMs

  constructor(owner: Http2Owner, place: Http2Place) {
    this.#owner = owner
    this.#place = place
    const { endpoint } = place
    this.#socket = connect(endpoint, { protocols: http2 })
    this.#socket.on("error", (error) => {
      this.#socketError ??= error
    })
    this.#socket.once(openedEvent(endpoint), () => this.#connected())
    this.#socket.once("close", () => {
      if (this.#session === undefined) this.#closed()
    })
  }

  /** When it began to open. */
  get startedMs(): number {
    return this.#startedMs
  }

  get streams(): number {
    return this.#calls.size
  }

  /** Number of streams that the server allows. */
  get streamsMax(): number {
    return this.#streamsMax
  }

  /** It takes requests, though perhaps not at once. */
  get isUsable(): boolean {
    // A session whose connection has just broken tells it later.
    return this.#isOpen && !this.#isLeaving && !this.#isDoubtful && this.#session?.closed === false
  }

  /** How long it has taken requests, in milliseconds; 0 before the first response. */
  ageMs(now: number): number {
    return this.#hasAnswered ? now - this.#openedAtMs : 0
  }

  /** The streams are destroyed before the session tells its error. */
  failureAfter(error: NodeJS.ErrnoException | undefined): UpstreamError | undefined {
    if (this.#failure !== undefined) return this.#failure
    if (!this.#socket.destroyed && this.#session?.destroyed !== true) return undefined
    if (error?.code === "ERR_HTTP2_ERROR") return sessionFailure(error)
    return closedFailure(this.#socketError, this.#hasAnswered && this.#heard === this.#heardWhileIdle)
  }

  /** Sends a request; the connection must be usable. False: it was not taken, and the receiver has been notified. */
  send(unsent: UnsentCall): boolean {
    const { request, receiver } = unsent
    const { body } = request
    const whole = body === null || Buffer.isBuffer(body) ? body : undefined
    let stream: ClientHttp2Stream
    let streamed: Http2Body | undefined
    try {
      const { headers, length } = requestFields(request, this.#origin)
      const endStream = whole === null || whole?.length === 0
      stream = (this.#session as ClientHttp2Session).request(headers, { endStream })
      if (body !== null && !Buffer.isBuffer(body)) streamed = unsent.body ?? new Http2Body(body, length)
    } catch (error) {
      receiver.onError(error instanceof UpstreamError ? error : unfit((error as Error).message))
      return false
    }
    if (this.#calls.size === 0) this.#heardWhileIdle = this.#heard
    const call = new Http2Call(this, stream, unsent, streamed, this.#heard)
    this.#calls.add(call)
    if (whole !== undefined && whole !== null && whole.length > 0) stream.end(whole)
    call.start()
    return true
  }

  /** Takes no more requests; closes when the running ones have ended, with GOAWAY. */
  leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#endWhenIdle()
  }

  /** Closes at once. The calls get the error. */
  abort(error: UpstreamError): void {
    this.#failure ??= error
    this.#isLeaving = true
    for (const call of [...this.#calls]) call.fail(error)
    this.#end()
  }

  heard(): void {
    this.#heard += 1
  }

  answered(): void {
    this.#heard += 1
    this.#hasAnswered = true
  }

  callClosed(call: Http2Call): void {
    this.#calls.delete(call)
    if (this.#calls.size === 0) this.idleSinceMs = performance.now()
    if (this.#isLeaving) this.#endWhenIdle()
    this.#owner.changed(this)
  }

  refused(call: UnsentCall): void {
    this.#owner.refused(call)
  }

  /**
   * A machine that is gone does not close its connections, and all further requests would wait on this one. PING finds out; it is sent only when nothing
   * has arrived since the call began, because servers of gRPC close connections with frequent ones.
   */
  callAborted({ heardBefore, unsent }: Http2Call): void {
    if (heardBefore !== this.#heard || this.#isDoubtful || performance.now() - unsent.sinceMs < doubtMs)
      return
    const session = this.#session
    if (session === undefined || session.destroyed) return
    this.#isDoubtful = true
    const { connectMs } = this.#place.endpoint
    const timer = setTimeout(
      () => this.abort(new UpstreamError("closed", `the backend did not reply to PING in ${connectMs} ms`)),
      connectMs,
    )
    session.ping((error) => {
      clearTimeout(timer)
      if (error !== null) return
      this.#isDoubtful = false
      this.#heard += 1
      this.#owner.changed(this)
    })
  }

  get #origin() {
    const { endpoint, authority } = this.#place
    return { scheme: endpoint.tls === undefined ? "http" : "https", authority } as const
  }

  #connected(): void {
    const { endpoint } = this.#place
    const socket = this.#socket
    if (endpoint.tls !== undefined && (socket as TLSSocket).alpnProtocol !== "h2") {
      this.#isClosed = true
      socket.destroy()
      this.#owner.declined()
      this.#owner.gone(this, undefined)
      return
    }
    const { scheme, authority } = this.#origin
    const session = connectHttp2(`${scheme}://${authority}`, {
      createConnection: () => socket,
      settings,
      maxHeaderListPairs: answerFieldsMax,
      maxSessionMemory: sessionMemoryMax,
    })
    this.#session = session
    session.setLocalWindowSize(windowBytes)
    session.on("error", (error: NodeJS.ErrnoException) => {
      this.#failure ??= sessionFailure(error)
    })
    session.on("remoteSettings", this.#onSettings)
    session.on("goaway", this.#onGoaway)
    session.once("close", () => this.#closed())
    const { connectMs } = endpoint
    this.#timer = setTimeout(
      () => this.abort(new UpstreamError("connect-timeout", `no HTTP/2 settings in ${connectMs} ms`)),
      connectMs,
    )
  }

  readonly #onSettings = ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }: Settings): void => {
    this.#heard += 1
    this.#streamsMax = maxConcurrentStreams
    if (this.#isOpen) {
      this.#owner.changed(this)
      return
    }
    if (this.#isLeaving) return
    clearTimeout(this.#timer)
    this.#isOpen = true
    this.#openedAtMs = performance.now()
    this.idleSinceMs = this.#openedAtMs
    this.#owner.opened(this)
  }

  /** Node destroys the session after a GOAWAY with an error, and lets running streams end after one without. */
  readonly #onGoaway = (code: number, lastStreamId: number, data?: Uint8Array): void => {
    this.lastStreamId = lastStreamId
    if (code !== 0) this.#failure ??= goawayFailure(code, data)
    this.leave()
    this.#owner.changed(this)
  }

  #endWhenIdle(): void {
    if (this.#calls.size === 0) this.#end()
  }

  #end(): void {
    const socket = this.#socket
    if (this.#session === undefined || this.#session.destroyed) socket.destroy()
    else {
      this.#session.destroy()
      setTimeout(() => socket.destroy(), closeMs).unref()
    }
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    const failure = this.failureAfter(undefined) ?? closedFailure(this.#socketError, false)
    for (const call of [...this.#calls]) call.fail(failure)
    this.#calls.clear()
    const wasOpen = this.#isOpen
    this.#isOpen = false
    this.#owner.gone(this, wasOpen ? undefined : openingFailure(this.#failure ?? this.#socketError))
  }
}
