import { SourceUnavailable } from "../check/ports.ts"

/**
 * Opens a connection of its own, asks for something trivial and leaves; rejects when that does not work. `onSign` is called for each sign of life on
 * the way: over a long line the whole takes several round trips. Without a probe a slow database is never called mute.
 */
export type Probe = (signal: AbortSignal, onSign: () => void) => Promise<void>

export interface LivenessOptions {
  readonly probe?: Probe | undefined
  /** Called once when the database is found dead or mute: break off everything. */
  readonly onDown: (reason: SourceUnavailable) => void
  /** A statement may take this long while the database is alive. */
  readonly statementMs: number
}

interface Operation {
  readonly startedMs: number
  readonly deadlineMs: number
  reject(reason: SourceUnavailable): void
}

/** A statement without an answer for this long makes us ask whether anybody is there at all. */
const suspectMs = 250
/** No sign of life on the probe, nor anywhere else, for this long: nobody is. */
const probeMs = 450
const tickMs = 50
const retryMs = 250

/**
 * Tells a mute database from a slow one. A time limit on statements can't: short, it fails an overloaded server; long, a stopped one holds every
 * request for seconds. So when a statement takes long, a probe on a fresh connection asks; only when that is not answered either, and nothing
 * else was meanwhile, all waiting statements are rejected at once. From then on statements are refused at once, until a probe succeeds.
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

  /** Why statements are refused now, if they are. */
  get down(): SourceUnavailable | undefined {
    return this.#down
  }

  /** The outcome of `work`, unless the database turns out to be dead or the deadline passes first. */
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

  /** A connection was refused or lost: ask at once instead of waiting for statements to hang. */
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
    // After a blocked event loop the answers may be there and not read yet: timers come before sockets.
    if (lateMs > tickMs) {
      this.#probeStartedMs += lateMs
      return
    }
    for (const operation of this.#running) {
      if (nowMs < operation.deadlineMs) continue
      operation.reject(new SourceUnavailable("the database did not answer in time"))
    }
    if (this.#probing === undefined) {
      const [oldest] = this.#running
      const quietSinceMs = Math.max(oldest?.startedMs ?? nowMs, this.#answeredMs)
      if (nowMs - quietSinceMs >= suspectMs) this.#probe()
    } else if (nowMs - Math.max(this.#probeStartedMs, this.#answeredMs) >= probeMs)
      this.#fail(new SourceUnavailable("the database does not answer"))
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

  /** While down no statement runs, so nothing ticks: the attempt has its own bound. */
  #boundAttempt(attempt: AbortController | undefined): void {
    const leftMs = this.#probeStartedMs + probeMs - performance.now()
    this.#retry = setTimeout(
      () => {
        if (attempt === undefined || this.#probing !== attempt || this.#down === undefined) return
        if (performance.now() - this.#probeStartedMs < probeMs) this.#boundAttempt(attempt)
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
