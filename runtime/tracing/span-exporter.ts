import type { OutgoingHttp } from "../http/client/http-client.ts"
import { SpanBatch } from "./span-batch.ts"

/** Where spans are sent, by OTLP over HTTP with JSON. */
export interface ExporterSettings {
  /** The full URL: `http://collector:4318/v1/traces`. */
  readonly url: string
  /** Names and values alternate. */
  readonly headers: readonly string[]
  /** How the collector's certificate is verified (PEM); absent: by the system's authorities. */
  readonly trust?: { readonly ca: string | undefined; readonly insecure: boolean }
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
const timeoutMs = 10_000
const attemptsMax = 8
const pauseMsMax = 30_000
const closeMs = 3_000
const responseBytesMax = 64 * 1024
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
      const sent = await this.#post(body)
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

  async #post(body: Buffer): Promise<Sent> {
    const { url, headers, trust } = this.#settings
    try {
      const response = await this.#ports.http.send({
        ...{ url, method: "POST", body, timeoutMs, responseBytesMax, signal: this.#ending.signal },
        headers: ["content-type", "application/json", ...headers],
        ...(trust === undefined ? {} : { trust }),
      })
      return readResponse(response)
    } catch (error) {
      return { outcome: "failed", reason: error instanceof Error ? error.message : String(error), afterMs: 0 }
    }
  }
}

/** Spans of a batch that were dropped; none: it was delivered. */
interface Loss {
  readonly reason: DropReason
  readonly spans: number
}

/** What became of a batch. */
type Sent =
  | { readonly outcome: "delivered"; readonly refused: number; readonly reason: string }
  | { readonly outcome: "rejected"; readonly reason: string }
  | { readonly outcome: "failed"; readonly reason: string; readonly afterMs: number }

/** Statuses after which a client of OTLP repeats the request. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Reads a response of the collector (OTLP specification, "OTLP/HTTP Response"). */
function readResponse(response: Awaited<ReturnType<OutgoingHttp["send"]>>): Sent {
  const { status, fields, body } = response
  if (status >= 200 && status < 300) return { outcome: "delivered", ...partialSuccess(body) }
  const reason = `it responded with ${status}`
  if (!retryable.has(status)) return { outcome: "rejected", reason }
  const at = fields.indexOf("retry-after")
  const seconds = at === -1 ? 0 : Number(fields[at + 1])
  return { outcome: "failed", reason, afterMs: seconds > 0 ? Math.min(seconds * 1000, 60_000) : 0 }
}

/** Spans that the collector refused of a batch it accepted. A body of another form says nothing. */
function partialSuccess(body: Buffer): { refused: number; reason: string } {
  try {
    const { partialSuccess: partial } = JSON.parse(body.toString())
    const refused = Number(partial?.rejectedSpans ?? 0)
    if (refused > 0) return { refused, reason: String(partial.errorMessage ?? "").slice(0, 200) }
  } catch {
    // Not JSON.
  }
  return { refused: 0, reason: "" }
}
