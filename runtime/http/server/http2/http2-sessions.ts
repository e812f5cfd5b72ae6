import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2"
import type { Socket } from "node:net"
import { type Flood, FloodGuard } from "./flood-guard.ts"
import { Http2Reply } from "./http2-reply.ts"
import { Http2Request } from "./http2-request.ts"

declare module "node:http2" {
  /** Missing in the types of Node 20: a session on a connection that another server has accepted. */
  function performServerHandshake(socket: Socket, options: ServerOptions): ServerHttp2Session
}

/** What the HTTP/2 connections of a listener need. Times in milliseconds. */
export interface Http2SessionSettings {
  /** Largest size of the head of a request, in bytes. */
  headerBytesMax: number
  /** For the client's first frame. */
  headMs: number
  /** For a whole request; 0: the handler watches its body itself. */
  readonly requestMs: number
  /** How long a connection without requests stays open. */
  readonly keepAliveMs: number
  /** For a client to read some bytes of a response. */
  readonly readerMs: number
  serve(request: Http2Request, reply: Http2Reply): void
  /** A connection was closed because of this. */
  readonly onFlood: ((flood: Flood) => void) | undefined
}

/** Requests that a connection may have in progress; RFC 9113 §6.5.2 recommends at least 100. */
const streamsMax = 100
/** Bytes of bodies that a connection may send ahead, of all its streams together; of one stream it is the default of HTTP/2, 65,535. */
const windowBytes = 1024 * 1024
/** A stream with more or larger fields is reset. A head above its own limit, but below this one, is a request that gets 431. */
const fieldsMax = 2_000
const fieldBytesMax = 256 * 1024
const lookEveryMs = 2_000
/** The largest stream id: the client may finish what it has begun to send (RFC 9113 §6.8). */
const anyStream = 2 ** 31 - 1

/** The HTTP/2 connections of one listener. */
export class Http2Sessions {
  readonly #settings: Http2SessionSettings
  readonly #sessions = new Set<ServedSession>()
  #look: NodeJS.Timeout | undefined
  #whenEmpty: (() => void) | undefined

  constructor(settings: Http2SessionSettings) {
    this.#settings = settings
  }

  /** For connections from now on. */
  set headerBytesMax(bytes: number) {
    this.#settings.headerBytesMax = bytes
  }

  set headMs(ms: number) {
    this.#settings.headMs = ms
  }

  /** Takes a connection whose client speaks HTTP/2, and serves its requests. */
  take(socket: Socket): void {
    const session = new ServedSession(socket, this.#settings)
    this.#sessions.add(session)
    session.whenClosed(() => this.#forget(session))
    this.#look ??= setInterval(this.#lookAtAll, lookEveryMs).unref()
  }

  /**
   * Ends all connections: after `lingerMs` they accept no new requests, after `graceMs` they are cut. Clients get GOAWAY at once, and may repeat
   * elsewhere what was not processed (RFC 9113 §6.8).
   */
  async close(lingerMs: number, graceMs: number): Promise<void> {
    for (const session of this.#sessions) session.announceEnd()
    const last = setTimeout(() => this.#each((session) => session.end()), lingerMs)
    const force = setTimeout(() => this.#each((session) => session.cut()), graceMs)
    if (this.#sessions.size > 0)
      await new Promise<void>((resolve) => {
        this.#whenEmpty = resolve
      })
    clearTimeout(last)
    clearTimeout(force)
  }

  #each(run: (session: ServedSession) => void): void {
    for (const session of this.#sessions) run(session)
  }

  #forget(session: ServedSession): void {
    this.#sessions.delete(session)
    if (this.#sessions.size > 0) return
    clearInterval(this.#look)
    this.#look = undefined
    this.#whenEmpty?.()
  }

  readonly #lookAtAll = (): void => {
    const now = performance.now()
    this.#each((session) => session.look(now))
  }
}

/** One connection. */
class ServedSession {
  readonly #settings: Http2SessionSettings
  readonly #socket: Socket
  readonly #session: ServerHttp2Session
  readonly #floods: FloodGuard
  readonly #streams = new Map<ServerHttp2Stream, Http2Reply>()
  readonly #openedMs = performance.now()
  /** The client's SETTINGS have arrived, which are its first frame. */
  #isGreeted = false
  #isStopped = false
  /** Since when it has no requests. */
  #idleMs = this.#openedMs
  /** The newest stream whose head is complete, or was refused. */
  #lastHead = 0
  /** Since when a newer one may be on its way. */
  #headMs: number | undefined

  constructor(socket: Socket, settings: Http2SessionSettings) {
    this.#settings = settings
    this.#socket = socket
    const { headerBytesMax } = settings
    this.#session = performServerHandshake(socket, {
      settings: {
        maxConcurrentStreams: streamsMax,
        maxHeaderListSize: Math.max(headerBytesMax, fieldBytesMax),
      },
      maxHeaderListPairs: fieldsMax,
    })
    this.#session.setLocalWindowSize(windowBytes)
    this.#floods = new FloodGuard((flood) => this.#stop(flood))
    // Node passes an error of the session to its socket, too.
    this.#session.on("error", ignore)
    socket.on("error", ignore)
    this.#session.on("remoteSettings", () => {
      this.#isGreeted = true
      this.#floods.controlFrame()
    })
    this.#session.on("ping", this.#floods.controlFrame)
    this.#session.on("priority", this.#floods.controlFrame)
    this.#session.on("stream", this.#onStream)
  }

  whenClosed(closed: () => void): void {
    this.#session.once("close", closed)
  }

  /** Asks the client to open no new streams; those on their way are served. */
  announceEnd(): void {
    if (!this.#session.destroyed && !this.#session.closed)
      this.#session.goaway(constants.NGHTTP2_NO_ERROR, anyStream)
  }

  end(): void {
    this.#session.close()
  }

  cut(): void {
    this.#session.destroy()
  }

  #stop(flood: Flood): void {
    if (this.#isStopped || this.#session.destroyed) return
    this.#isStopped = true
    this.#settings.onFlood?.(flood)
    // nghttp2 may be at work on further frames: destroyed now, it would send another code.
    setImmediate(() =>
      this.#session.destroy(new Error(`flood: ${flood}`), constants.NGHTTP2_ENHANCE_YOUR_CALM),
    )
  }

  /** Ends what takes too long. */
  look(now: number): void {
    const { headMs, keepAliveMs } = this.#settings
    if (!this.#isGreeted && now - this.#openedMs > headMs) this.cut()
    else if (this.#streams.size === 0 && now - this.#idleMs > keepAliveMs) {
      // A client that does not close after GOAWAY is cut the next time.
      if (this.#session.closed) this.cut()
      else this.end()
    }
    for (const [stream, reply] of this.#streams) this.#lookAt(stream, reply, now)
    if (!this.#session.destroyed) this.#lookAtHead(now)
  }

  /**
   * Ends a connection whose client stops between HEADERS and its last CONTINUATION: Node tells only complete heads, but nghttp2 knows the newest
   * stream. A head that nghttp2 has refused looks the same. The reply to a PING tells them apart, because a client may send no other frame in the
   * middle of a head (RFC 9113 §6.10).
   */
  #lookAtHead(now: number): void {
    const { lastProcStreamID: newest = 0 } = this.#session.state
    if (newest <= this.#lastHead) this.#headMs = undefined
    else if (this.#headMs === undefined) {
      this.#headMs = now
      this.#session.ping((error) => {
        if (error === null) this.#lastHead = Math.max(this.#lastHead, newest)
      })
    } else if (now - this.#headMs > this.#settings.headMs) this.cut()
  }

  #lookAt(stream: ServerHttp2Stream, reply: Http2Reply, now: number): void {
    const { requestMs, readerMs } = this.#settings
    if (requestMs > 0 && !reply.req.complete && now - reply.startedMs > requestMs) reply.destroy()
    // Node's timeout restarts whenever the client takes some bytes.
    else if (stream.writableEnded && stream.listenerCount("timeout") === 0)
      stream.setTimeout(readerMs, () => reply.destroy())
  }

  readonly #onStream = (
    stream: ServerHttp2Stream,
    fields: IncomingHttpHeaders,
    _flags: number,
    raw: string[],
  ): void => {
    // Without a listener an error of a stream would end the process, also that of a stream nobody serves.
    stream.on("error", ignore)
    this.#lastHead = stream.id ?? 0
    // HEADERS and RST_STREAM came together: no handler has to know of it.
    if (stream.destroyed || stream.closed) {
      this.#floods.reset()
      return
    }
    const request = new Http2Request(stream, { fields, raw }, this.#socket, this.#settings.headerBytesMax)
    const reply = new Http2Reply(stream, request, this.#floods)
    this.#streams.set(stream, reply)
    // `close` comes once: `once` would only add a wrapper to each request.
    stream.on("close", () => this.#closed(stream))
    this.#settings.serve(request, reply)
  }

  #closed(stream: ServerHttp2Stream): void {
    this.#streams.delete(stream)
    if (this.#streams.size === 0) this.#idleMs = performance.now()
  }
}

/** `close` follows an error. */
function ignore(): void {}
