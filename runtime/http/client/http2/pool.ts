import { type AnswerReceiver, type Connections, type SentRequest, UpstreamError } from "../connections.ts"
import type { UnsentCall } from "./call.ts"
import { Http2Connection, type Http2Owner, type Http2Place } from "./connection.ts"

/** The size of a pool and the lifetime of its connections. */
export interface Http2PoolSettings extends Http2Place {
  readonly connectionsMax: number
  /** Maximum number of streams on one connection; the server may allow fewer. */
  readonly streamsMax: number
  /** A connection that has been idle this long is closed. */
  readonly idleMs: number
  /** Older connections get no new requests, so that DNS changes take effect. */
  readonly ageMs: number
  /** Takes the requests that wait when a server prefers HTTP/1.1. Only TLS negotiates. */
  readonly declined?: (waiting: readonly UnsentCall[]) => void
}

const sweepMs = 500

/**
 * Connections to one origin over HTTP/2. The oldest one with a free stream takes a request, so that surplus connections become idle; another one is
 * opened only when all are full.
 */
export class Http2Pool implements Connections, Http2Owner {
  readonly #settings: Http2PoolSettings
  /** In the order in which they began to open. */
  readonly #all: Http2Connection[] = []
  #waiting: UnsentCall[] = []
  /** Number of connections that are opening. */
  #opening = 0
  /** Number of streams that the last opened connection allowed. */
  #capacity: number
  #isClosing = false
  readonly #whenClosed: (() => void)[] = []
  #sweep: NodeJS.Timeout | undefined

  constructor(settings: Http2PoolSettings) {
    this.#settings = settings
    this.#capacity = settings.streamsMax
  }

  dispatch(request: SentRequest, receiver: AnswerReceiver): void {
    if (this.#isClosing) {
      receiver.onError(closedPool())
      return
    }
    const sinceMs = performance.now()
    const call: UnsentCall = { request, receiver, sinceMs, body: undefined, isRepeated: false }
    const connection = this.#waiting.length === 0 ? this.#free(sinceMs) : undefined
    if (connection !== undefined) connection.send(call)
    else {
      this.#waiting.push(call)
      this.#openMore()
    }
  }

  close(): Promise<void> {
    this.#isClosing = true
    return new Promise((resolve) => {
      this.#whenClosed.push(resolve)
      this.#settle()
    })
  }

  destroy(): Promise<void> {
    const closed = this.close()
    const error = closedPool()
    for (const { receiver } of this.#waiting.splice(0)) receiver.onError(error)
    for (const connection of [...this.#all]) connection.abort(error)
    this.#settle()
    return closed
  }

  opened(connection: Http2Connection): void {
    this.#opening -= 1
    this.#capacity = connection.streamsMax
    this.#flush()
    this.#sweep ??= setInterval(() => this.#closeIdle(), sweepMs).unref()
  }

  declined(): void {
    this.#opening -= 1
    this.#settings.declined?.(this.#waiting.splice(0))
  }

  changed(connection: Http2Connection): void {
    if (connection.isUsable) this.#capacity = connection.streamsMax
    this.#flush()
  }

  refused(call: UnsentCall): void {
    this.#waiting.unshift(call)
    // Later: the connection may be about to close.
    setImmediate(() => this.#flush())
  }

  /** A connection is gone. If it was being opened, the requests fail that have waited for it, at most its share of them. */
  gone(connection: Http2Connection, error: UpstreamError | undefined): void {
    const at = this.#all.indexOf(connection)
    if (at !== -1) this.#all.splice(at, 1)
    if (error !== undefined) {
      const share = Math.ceil(this.#waiting.length / this.#opening)
      this.#opening -= 1
      const late = this.#waiting.findIndex(({ sinceMs }) => sinceMs > connection.startedMs)
      const failed = this.#waiting.splice(0, late === -1 ? share : Math.max(1, Math.min(share, late)))
      for (const { receiver } of failed) receiver.onError(error)
    }
    this.#flush()
  }

  /** Sends what waits, and opens what is missing. */
  #flush(): void {
    if (this.#waiting.length > 0) {
      this.#waiting = this.#waiting.filter(({ receiver }) => receiver.isWanted)
      const now = performance.now()
      while (this.#waiting.length > 0) {
        const connection = this.#free(now)
        if (connection === undefined) break
        connection.send(this.#waiting.shift() as UnsentCall)
      }
      this.#openMore()
    }
    this.#settle()
  }

  /** The oldest connection with a free stream. */
  #free(now: number): Http2Connection | undefined {
    const { streamsMax, ageMs, idleMs } = this.#settings
    for (const connection of this.#all) {
      if (!connection.isUsable || connection.streams >= Math.min(streamsMax, connection.streamsMax)) continue
      const isIdle = connection.streams === 0 && now - connection.idleSinceMs >= idleMs
      if (!isIdle && connection.ageMs(now) < ageMs) return connection
      connection.leave()
    }
    return undefined
  }

  /** A server that allows no streams at the moment would not allow them on further connections either. */
  #openMore(): void {
    const { connectionsMax, streamsMax } = this.#settings
    const each = Math.min(streamsMax, this.#capacity)
    if (each === 0 && this.#all.some((connection) => connection.isUsable)) return
    const needed = Math.ceil(this.#waiting.length / Math.max(1, each))
    while (this.#opening < needed && this.#all.length < connectionsMax) {
      this.#opening += 1
      this.#all.push(new Http2Connection(this, this.#settings))
    }
  }

  /** Closes idle connections that are too old. A connection that would be too old before the next look is closed now. */
  #closeIdle(): void {
    const { idleMs, ageMs } = this.#settings
    const now = performance.now() + sweepMs
    for (const connection of this.#all)
      if (
        connection.isUsable &&
        connection.streams === 0 &&
        (now - connection.idleSinceMs >= idleMs || connection.ageMs(now) >= ageMs)
      )
        connection.leave()
    if (this.#all.length > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  #settle(): void {
    if (!this.#isClosing || this.#waiting.length > 0) return
    for (const connection of [...this.#all]) connection.leave()
    if (this.#all.length > 0) return
    clearInterval(this.#sweep)
    for (const resolve of this.#whenClosed.splice(0)) resolve()
  }
}

function closedPool(): UpstreamError {
  return new UpstreamError("aborted", "the connections to the backend are closed")
}
