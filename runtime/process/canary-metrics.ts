import type { CanaryRequest, Observer } from "../gateway/observer.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"

/** Counts the requests of both plans while a canary runs. */
export class CanaryMetrics implements Observer {
  readonly #requests: Family<Counter>
  readonly #durations: Family<Histogram>

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(
      "sallyport_canary_requests_total",
      "Requests while a canary runs, by plan (`old` or `new`) and outcome.",
      ["plan", "outcome"],
    )
    this.#durations = metrics.histogram(
      "sallyport_canary_request_duration_seconds",
      "Time to the end of the response while a canary runs, by plan (`old` or `new`).",
      ["plan"],
      durationBounds,
    )
  }

  /** The request observer counts all requests. */
  finished(): void {}

  compared({ side, outcome, durationMs }: CanaryRequest): void {
    this.#requests.series(side, outcome).add()
    if (durationMs !== undefined) this.#durations.series(side).observe(durationMs / 1000)
  }
}
