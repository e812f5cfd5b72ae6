import type { MirroredRequest, MirrorOutcome } from "../policies/exchange.ts"
import type { MirrorLog } from "../policies/ports.ts"
import type { Log } from "../telemetry/log.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"

/** Outcomes of copies that never reached a target. */
const notSent: ReadonlySet<MirrorOutcome> = new Set(["busy", "body-too-large", "incomplete", "unsupported"])

/** Counts copies of requests, apart from the requests themselves, and writes a line for each that was to be sent. */
export class MirrorMetrics implements MirrorLog {
  readonly #copies: Family<Counter>
  readonly #durations: Family<Histogram>
  readonly #log: Log | undefined

  /** `log` undefined: no line is written. */
  constructor(metrics: Metrics, log: Log | undefined) {
    this.#log = log
    this.#copies = metrics.counter(
      "sallyport_mirrored_requests_total",
      "Copies of requests by `mirror`: the status class of the response, or why there is none.",
      ["api", "backend", "outcome"],
    )
    this.#durations = metrics.histogram(
      "sallyport_mirror_duration_seconds",
      "Time from sending a copy until the end of its response.",
      ["backend"],
      durationBounds,
    )
  }

  mirrored(copy: MirroredRequest): void {
    const { api, backend, outcome, status, durationMs, cause } = copy
    const isAnswered = outcome === "answered" && status !== undefined
    const label = isAnswered ? `${Math.floor(status / 100)}xx` : outcome
    this.#copies.series(api, backend, label).add()
    if (isAnswered && durationMs !== undefined) this.#durations.series(backend).observe(durationMs / 1000)
    if (notSent.has(outcome)) return
    this.#log?.info(
      {
        request_id: copy.requestId,
        mirror: backend,
        api,
        target: copy.target,
        status,
        ms: durationMs === undefined ? undefined : Math.round(durationMs * 100) / 100,
        outcome,
        cause,
        trace_id: copy.traceId,
      },
      "mirrored request",
    )
  }
}
