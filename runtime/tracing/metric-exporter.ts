import type { OutgoingHttp } from "../http/client/http-client.ts"
import type { MetricFamily } from "../telemetry/metrics.ts"
import { countedValues, type EarlierValues, metricsOfFamilies } from "./metric-json.ts"
import { type OtlpTarget, postOtlp } from "./otlp-post.ts"

/** Where metrics are sent, and how. */
export interface MetricExport extends OtlpTarget {
  readonly everyMs: number
  /** Counters as differences since the last export that was accepted. */
  readonly delta: boolean
  /** JSON of OTLP's `Resource`. */
  readonly resource: string
  /** Version of this program, for the instrumentation scope. */
  readonly version: string
  /** Start of the sums, in milliseconds since the epoch. */
  readonly startedMs: number
}

/** What an exporter needs from its process. */
export interface MetricPorts {
  readonly http: OutgoingHttp
  readonly read: () => Promise<readonly MetricFamily[]>
  /** Requests to the collector by outcome; they only grow. */
  readonly counts: { delivered: number; rejected: number; failed: number }
  /** Called when the collector becomes unavailable or refuses metrics, with the reason, and with undefined when it works again. */
  readonly onChange: (trouble: string | undefined) => void
}

const closeMs = 3_000

/**
 * Sends the metrics of a process to a collector at an interval, one request at a time. An export that fails is not repeated: the next one has all that was
 * counted since. So nothing waits in memory.
 */
export class MetricExporter {
  readonly #export: MetricExport
  readonly #ports: MetricPorts
  readonly #ending = new AbortController()
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  #closing = false
  #trouble: string | undefined
  #earlier: EarlierValues = new Map()
  #fromMs: number
  /** The collector asked for a pause until then. */
  #notBefore = 0

  constructor(settings: MetricExport, ports: MetricPorts) {
    this.#export = settings
    this.#ports = ports
    this.#fromMs = settings.startedMs
    this.#timer = setInterval(() => this.#tick(), settings.everyMs).unref()
  }

  /** Sends the last values, for at most three seconds. */
  async close(): Promise<void> {
    if (this.#closing) return this.#running
    this.#closing = true
    clearInterval(this.#timer)
    const giveUp = setTimeout(() => this.#ending.abort(), closeMs)
    await this.#running
    this.#running = this.#send()
    await this.#running
    clearTimeout(giveUp)
  }

  /** A collector that is slower than the interval gets fewer exports. */
  #tick(): void {
    if (this.#running !== undefined || Date.now() < this.#notBefore) return
    this.#running = this.#send().finally(() => {
      this.#running = undefined
    })
  }

  async #send(): Promise<void> {
    const { counts, http, read } = this.#ports
    try {
      const families = await read()
      const toMs = Date.now()
      const body = Buffer.from(this.#bodyOf(families, toMs))
      const sent = await postOtlp(http, this.#export, body, this.#ending.signal)
      counts[sent.outcome] += 1
      if (sent.outcome === "failed") this.#notBefore = Date.now() + sent.afterMs
      if (sent.outcome === "delivered") this.#accepted(families, toMs)
      if (sent.outcome !== "delivered") this.#report(sent.reason)
      else this.#report(sent.refused === 0 ? undefined : `it refused ${sent.refused} values: ${sent.reason}`)
    } catch (error) {
      this.#report(error instanceof Error ? error.message : String(error))
    }
  }

  #accepted(families: readonly MetricFamily[], toMs: number): void {
    if (!this.#export.delta) return
    this.#earlier = countedValues(families)
    this.#fromMs = toMs
  }

  #bodyOf(families: readonly MetricFamily[], toMs: number): string {
    const { resource, version, delta } = this.#export
    const times = { fromMs: this.#fromMs, toMs }
    const metrics = metricsOfFamilies(families, times, delta ? this.#earlier : undefined)
    const scopeMetrics = JSON.stringify([{ scope: { name: "sallyport", version }, metrics }])
    return `{"resourceMetrics":[{"resource":${resource},"scopeMetrics":${scopeMetrics}}]}`
  }

  /** Says only what has changed: a collector that is away for an hour has one line in the log. */
  #report(trouble: string | undefined): void {
    if ((trouble === undefined) === (this.#trouble === undefined)) return
    this.#trouble = trouble
    this.#ports.onChange(trouble)
  }
}
