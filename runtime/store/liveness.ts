import { SourceUnavailable } from "../check/ports.ts"

/**
 * Opens a connection of its own, sends a trivial statement and closes; rejects when that fails. It calls `onSign` for each reply on the
 * way, because a slow network needs several round trips. Without a probe a slow database is never treated as down.
 */
export type Probe = (signal: AbortSignal, onSign: () => void) => Promise<void>

export interface LivenessOptions {
  readonly probe?: Probe | undefined
  /** Called once when the database is down or silent; abort all statements. */
  readonly onDown: (reason: SourceUnavailable) => void
  /** Timeout of a statement while the database is alive. */
  readonly statementMs: number
  /** No reply on any connection for this long: treat the server as down. Time in which this process waited for its CPU does not count. */
  readonly silentMs: number
}

interface Operation {
  readonly startedMs: number
  readonly deadlineMs: number
  reject(reason: SourceUnavailable): void
}

/** A statement without a reply for this long starts the probe. */
const suspectMs = 250
const tickMs = 50
const retryMs = 250

/**
 * Tells a silent database from a slow one. A statement timeout cannot: a short one fails an overloaded server, a long one blocks every
 * request for seconds when the server has stopped. So a slow statement starts a probe on a new connection. Only when neither the probe nor
 * any other statement gets a reply are all waiting statements rejected. New ones are then rejected at once, until a probe succeeds.
 */
export class Liveness {
  readonly #options: LivenessOptions
  readonly #running = new Set<Operation>()
  #down: SourceUnavailable | undefined
  #probing: AbortController | undefined
  #probeStartedMs = 0
  #answeredMs = 0
  #ticker: NodeJS.Timeout | undefined
  #tickedMs = 0
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: LivenessOptions) {
    this.#options = options
  }

  /** The reason why statements are rejected now; undefined while the database is up. */
  get down(): SourceUnavailable | undefined {
    return this.#down
  }

  /** Resolves as `work` does, unless the database is found down or the deadline passes first. */
  watch<T>(work: Promise<T>, statementMs = this.#options.statementMs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const startedMs = performance.now()
      const deadlineMs = statementMs === 0 ? Number.POSITIVE_INFINITY : startedMs + statementMs
      const operation: Operation = { startedMs, deadlineMs, reject }
      this.#running.add(operation)
      this.#tick()
      work.then(
        (value) => {
          this.#answeredMs = performance.now()
          this.#end(operation)
          resolve(value)
        },
        (error: unknown) => {
          this.#end(operation)
          reject(error)
        },
      )
    })
  }

  /** A connection was refused or lost: start the probe at once instead of waiting for statements to hang. */
  suspect(): void {
    if (this.#probing === undefined && this.#down === undefined) this.#probe()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#ticker)
    clearTimeout(this.#retry)
    this.#probing?.abort()
    this.#rejectAll(new SourceUnavailable("the database was closed"))
  }

  #end(operation: Operation): void {
    this.#running.delete(operation)
    if (this.#running.size > 0 || this.#ticker === undefined) return
    clearInterval(this.#ticker)
    this.#ticker = undefined
  }

  #tick(): void {
    if (this.#ticker !== undefined) return
    this.#tickedMs = performance.now()
    this.#ticker = setInterval(() => this.#look(), tickMs)
    this.#ticker.unref()
  }

  #look(): void {
    const nowMs = performance.now()
    const lateMs = nowMs - this.#tickedMs - tickMs
    this.#tickedMs = nowMs
    // A server on the same machine waits for the CPU as this process does.
    this.#probeStartedMs += Math.max(lateMs, 0)
    // After a blocked event loop, replies may have arrived unread, because Node runs timers before sockets.
    if (lateMs > tickMs) return
    for (const operation of this.#running) {
      if (nowMs < operation.deadlineMs) continue
      operation.reject(new SourceUnavailable("the database did not respond in time"))
    }
    if (this.#probing === undefined) {
      const [oldest] = this.#running
      const quietSinceMs = Math.max(oldest?.startedMs ?? nowMs, this.#answeredMs)
      if (nowMs - quietSinceMs >= suspectMs) this.#probe()
    } else if (nowMs - Math.max(this.#probeStartedMs, this.#answeredMs) >= this.#options.silentMs)
      this.#fail(new SourceUnavailable("the database does not respond"))
  }

  #probe(): void {
    const { probe } = this.#options
    if (probe === undefined || this.#closed) return
    const controller = new AbortController()
    this.#probing = controller
    this.#probeStartedMs = performance.now()
    const onSign = () => {
      if (this.#probing === controller) this.#probeStartedMs = performance.now()
    }
    probe(controller.signal, onSign).then(
      () => {
        if (this.#probing !== controller) return
        this.#probing = undefined
        this.#answeredMs = performance.now()
        this.#down = undefined
      },
      (error: unknown) => {
        if (this.#probing !== controller) return
        const message = error instanceof Error ? error.message : String(error)
        this.#fail(new SourceUnavailable(message, { cause: error }))
      },
    )
  }

  #fail(reason: SourceUnavailable): void {
    const first = this.#down === undefined
    this.#probing?.abort()
    this.#probing = undefined
    this.#down = reason
    this.#rejectAll(reason)
    if (first) this.#options.onDown(reason)
    this.#again()
  }

  #again(): void {
    if (this.#closed) return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      this.#probe()
      this.#boundAttempt(this.#probing)
    }, retryMs)
    this.#retry.unref()
  }

  /** While the database is down no statement runs and the timer does not tick, so the attempt needs its own timeout. */
  #boundAttempt(attempt: AbortController | undefined): void {
    const { silentMs } = this.#options
    const leftMs = this.#probeStartedMs + silentMs - performance.now()
    this.#retry = setTimeout(
      () => {
        if (attempt === undefined || this.#probing !== attempt || this.#down === undefined) return
        if (performance.now() - this.#probeStartedMs < silentMs) this.#boundAttempt(attempt)
        else this.#fail(this.#down)
      },
      Math.max(leftMs, 1),
    )
    this.#retry.unref()
  }

  #rejectAll(reason: SourceUnavailable): void {
    for (const operation of this.#running) operation.reject(reason)
  }
}
