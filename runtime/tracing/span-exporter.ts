import type { OutgoingHttp } from "../http/client/http-client.ts"
import { type OtlpTarget, postOtlp } from "./otlp-post.ts"
import { SpanBatch } from "./span-batch.ts"

/** Where spans are sent, by OTLP over HTTP with JSON. */
export interface ExporterSettings extends OtlpTarget {
  /** JSON of OTLP's `Resource`. */
  readonly resource: string
  /** Version of this program, for the instrumentation scope. */
  readonly version: string
}

/** Why spans were not delivered. */
export type DropReason = "queue-full" | "rejected" | "undelivered" | "shutdown"

/** What exporters of a process have done; they only grow, except `queued`. */
export interface ExportCounts {
  exported: number
  /** Spans that wait, or are being sent. */
  queued: number
  readonly dropped: { [Reason in DropReason]: number }
  readonly posts: { delivered: number; rejected: number; failed: number }
}

/** What an exporter needs from its process. */
export interface ExporterPorts {
  readonly http: OutgoingHttp
  readonly counts: ExportCounts
  /** Called when the collector becomes unavailable or refuses spans, with the reason, and with undefined when it works again. */
  readonly onChange: (trouble: string | undefined) => void
  /** The first pause after a failure in milliseconds; it doubles up to 30 s (default: 1000). */
  readonly pauseMs?: number
}

/** As many as an SDK of OpenTelemetry sends at once by default. */
const batchSpans = 512
/** Bytes that wait; about 20,000 spans. */
const queueBytesMax = 16 * 2 ** 20
const delayMs = 1_000
const attemptsMax = 8
const pauseMsMax = 30_000
const closeMs = 3_000
const bodyEnd = "]}]}]}"

/**
 * Sends spans to a collector in batches, one at a time. Requests never wait for it: what does not fit in the queue is dropped and counted. A batch that
 * the collector cannot accept now is sent again, with growing pauses, and dropped after eight attempts (about two minutes).
 */
export class SpanExporter {
  readonly #settings: ExporterSettings
  readonly #ports: ExporterPorts
  readonly #start: string
  /** Full batches that wait. */
  readonly #queue: SpanBatch[] = []
  /** The batch that gets the next spans. */
  #open: SpanBatch
  /** Memory of a batch that was sent. */
  #spare: Buffer | undefined
  readonly #ending = new AbortController()
  /** Bytes and spans of the batches that wait, without the open one. */
  #bytes = 0
  #spans = 0
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #closing = false
  #wake: (() => void) | undefined
  #trouble: string | undefined

  constructor(settings: ExporterSettings, ports: ExporterPorts) {
    this.#settings = settings
    this.#ports = ports
    const { resource, version } = settings
    const scope = `{"name":"sallyport","version":${JSON.stringify(version)}}`
    this.#start = `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[`
    this.#open = new SpanBatch(this.#start, bodyEnd)
  }

  /** Adds spans as JSON, separated by commas. */
  add(json: string, spans: number): void {
    const { counts } = this.#ports
    if (this.#closing || this.#bytes + this.#open.bytes + json.length > queueBytesMax) {
      counts.dropped[this.#closing ? "shutdown" : "queue-full"] += spans
      return
    }
    if (!this.#open.add(json, spans)) {
      this.#turn()
      this.#open.add(json, spans)
    }
    counts.queued += spans
    if (this.#running !== undefined) return
    if (this.#spans + this.#open.spans >= batchSpans) this.#run()
    else this.#timer ??= setTimeout(() => this.#run(), delayMs).unref()
  }

  /** Puts the open batch into the queue, and opens another one. */
  #turn(): void {
    const full = this.#open
    this.#queue.push(full)
    this.#bytes += full.bytes + bodyEnd.length
    this.#spans += full.spans
    this.#open = new SpanBatch(this.#start, bodyEnd, this.#spare)
    this.#spare = undefined
  }

  /** Sends what waits, for at most three seconds and with one attempt; drops the rest. */
  async close(): Promise<void> {
    if (this.#closing) return this.#running
    this.#closing = true
    this.#wake?.()
    if (this.#running === undefined) this.#run()
    const giveUp = setTimeout(() => this.#ending.abort(), closeMs)
    await this.#running
    clearTimeout(giveUp)
  }

  #run(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#sendAll().finally(() => {
      this.#running = undefined
      if (this.#open.spans > 0 && !this.#closing) this.#timer = setTimeout(() => this.#run(), delayMs).unref()
    })
  }

  /** Sends batches until less than a whole one waits. */
  async #sendAll(): Promise<void> {
    do {
      if (this.#queue.length === 0 && this.#open.spans > 0) this.#turn()
      const batch = this.#queue.shift()
      if (batch === undefined) return
      const { spans } = batch
      this.#spans -= spans
      const body = batch.seal()
      const lost = await this.#deliver(body, spans)
      // Counted until now, so that a batch that is repeated for minutes is part of what waits.
      this.#bytes -= body.length
      // After an aborted request the memory may still be read.
      if (lost.spans === 0) this.#spare = batch.memory
      const { counts } = this.#ports
      counts.queued -= spans
      counts.exported += spans - lost.spans
      counts.dropped[lost.reason] += lost.spans
    } while (
      this.#closing ? this.#spans + this.#open.spans > 0 : this.#spans + this.#open.spans >= batchSpans
    )
  }

  /** Sends a batch until the collector has accepted or refused it. Returns what was dropped of it. */
  async #deliver(body: Buffer, spans: number): Promise<Loss> {
    const { counts, pauseMs = 1_000 } = this.#ports
    for (let attempt = 1; ; attempt++) {
      const sent = await postOtlp(this.#ports.http, this.#settings, body, this.#ending.signal)
      counts.posts[sent.outcome] += 1
      if (sent.outcome === "delivered") {
        const refused = Math.min(sent.refused, spans)
        this.#report(refused === 0 ? undefined : `it refused ${refused} of ${spans} spans: ${sent.reason}`)
        return { reason: "rejected", spans: refused }
      }
      this.#report(sent.reason)
      if (sent.outcome === "rejected") return { reason: "rejected", spans }
      if (this.#closing) return { reason: "shutdown", spans }
      if (attempt === attemptsMax) return { reason: "undelivered", spans }
      // Random, so that the processes of a fleet do not return together.
      const pause = Math.min(pauseMs * 2 ** (attempt - 1), pauseMsMax) * (0.5 + Math.random() / 2)
      await this.#pause(Math.max(pause, sent.afterMs))
    }
  }

  /** Ends early when the exporter closes. */
  #pause(ms: number): Promise<void> {
    if (this.#closing) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Says only what has changed: a collector that is away for an hour has one line in the log. */
  #report(trouble: string | undefined): void {
    if ((trouble === undefined) === (this.#trouble === undefined)) return
    this.#trouble = trouble
    this.#ports.onChange(trouble)
  }
}

/** Spans of a batch that were dropped; none: it was delivered. */
interface Loss {
  readonly reason: DropReason
  readonly spans: number
}
