import {
  type AnswerReceiver,
  type Connections,
  type Endpoint,
  type SentRequest,
  UpstreamError,
} from "../connections.ts"
import { Connection, type ConnectionOwner } from "./connection.ts"

/** The size of a pool and the lifetime of its connections. */
export interface PoolSettings {
  readonly endpoint: Endpoint
  /** The default Host of requests. */
  readonly authority: string
  readonly connectionsMax: number
  /** A connection that has been idle this long is closed. */
  readonly idleMs: number
  /** Older connections get no new requests, so that DNS changes take effect. */
  readonly ageMs: number
}

interface Waiting {
  readonly request: SentRequest
  readonly receiver: AnswerReceiver
}

const sweepMs = 500

/** Connections to one origin over HTTP/1.1. The most recently used one is used first, so that surplus connections become idle. */
export class Http1Pool implements Connections, ConnectionOwner {
  readonly #settings: PoolSettings
  readonly #all = new Set<Connection>()
  /** The most recently used one is last. */
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []
  /** Number of connections that are opening. */
  #opening = 0
  #flushing = false
  #closing = false
  #whenClosed: (() => void)[] = []
  #sweep: NodeJS.Timeout | undefined

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  dispatch(request: SentRequest, receiver: AnswerReceiver): void {
    if (this.#closing) {
      receiver.onError(new UpstreamError("aborted", "the connections to the backend are closed"))
      return
    }
    this.#waiting.push({ request, receiver })
    this.#flushSoon()
  }

  close(): Promise<void> {
    this.#closing = true
    for (const connection of this.#idle.splice(0)) connection.close()
    return new Promise((resolve) => {
      this.#whenClosed.push(resolve)
      this.#settle()
    })
  }

  destroy(): Promise<void> {
    const error = new UpstreamError("aborted", "the connections to the backend are closed")
    const closed = this.close()
    for (const { receiver } of this.#waiting.splice(0)) receiver.onError(error)
    for (const connection of this.#all) connection.abort(error)
    this.#settle()
    return closed
  }

  opened(connection: Connection): void {
    this.#opening -= 1
    // A new connection cannot hold unsolicited bytes, so it takes the longest waiting request at once.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      if (next.receiver.isWanted && connection.send(next.request, next.receiver)) return
    this.ready(connection)
  }

  /** A connection is free: it takes a waiting request or becomes idle. */
  ready(connection: Connection): void {
    if (this.#closing && this.#waiting.length === 0) {
      connection.close()
      return
    }
    connection.idleSinceMs = performance.now()
    this.#idle.push(connection)
    if (this.#waiting.length > 0) this.#flushSoon()
    this.#sweep ??= setInterval(() => this.#closeIdle(), sweepMs).unref()
  }

  /** A connection is gone. If it was being opened, the request that has waited longest fails. */
  gone(connection: Connection, error: UpstreamError | undefined): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    if (error !== undefined) {
      this.#opening -= 1
      this.#waiting.shift()?.receiver.onError(error)
    }
    if (this.#waiting.length > 0) this.#flushSoon()
    this.#settle()
  }

  /**
   * Sends requests after the reads of this turn: unsolicited bytes on an idle connection (a second response, an end) have then been seen, and the
   * connection is not used.
   */
  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#flushing = false
    const waiting = this.#waiting
    this.#dropUnwanted()
    while (waiting.length > 0) {
      const connection = this.#take()
      if (connection === undefined) break
      const { request, receiver } = waiting.shift() as Waiting
      if (!connection.send(request, receiver)) this.#idle.push(connection)
    }
    while (this.#opening < waiting.length && this.#all.size < this.#settings.connectionsMax) this.#open()
  }

  /** Under overload many requests are abandoned while they wait; dropping them shortens the wait of the others. */
  #dropUnwanted(): void {
    const waiting = this.#waiting
    let kept = 0
    for (const each of waiting) {
      if (!each.receiver.isWanted) continue
      waiting[kept] = each
      kept += 1
    }
    waiting.length = kept
    this.#settle()
  }

  #take(): Connection | undefined {
    const now = performance.now()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isUsable && !this.#isOver(connection, now)) return connection
      connection.close()
    }
    return undefined
  }

  #isOver({ isFresh, idleSinceMs, idleMs, openedAtMs }: Connection, now: number): boolean {
    return now - idleSinceMs >= idleMs || (!isFresh && now - openedAtMs >= this.#settings.ageMs)
  }

  #open(): void {
    const { endpoint, authority, idleMs } = this.#settings
    this.#opening += 1
    this.#all.add(new Connection(this, endpoint, authority, idleMs))
  }

  /** Closes idle connections that are too old. A connection that would be too old before the next look is closed now. */
  #closeIdle(): void {
    const now = performance.now() + sweepMs
    let kept = 0
    for (const connection of this.#idle) {
      if (this.#isOver(connection, now)) connection.close()
      else {
        this.#idle[kept] = connection
        kept += 1
      }
    }
    this.#idle.length = kept
    if (this.#all.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  #settle(): void {
    if (!this.#closing || this.#all.size > 0 || this.#waiting.length > 0) return
    clearInterval(this.#sweep)
    for (const resolve of this.#whenClosed.splice(0)) resolve()
  }
}
