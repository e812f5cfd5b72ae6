import { addedNumbers } from "../control/route-counts.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"

interface BackendSeries {
  readonly byStatus: (Counter | undefined)[]
  readonly duration: Histogram
}

/** Counts requests by their backend, which tells the sides of a split apart. */
export class BackendMetrics {
  readonly #requests: Family<Counter>
  readonly #durations: Family<Histogram>

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(
      "sallyport_backend_requests_total",
      "Requests that a backend was chosen for, by the status class of the response to the client.",
      ["api", "backend", "status"],
    )
    this.#durations = metrics.histogram(
      "sallyport_backend_duration_seconds",
      "Time until the head of the response arrived, by backend.",
      ["api", "backend"],
      durationBounds,
    )
  }

  /** The series of a backend, looked up once for each route. */
  seriesOf(api: string, backend: string): BackendSeries {
    return { byStatus: [], duration: this.#durations.series(api, backend) }
  }

  /** By backend, how many responses had their head in each bucket since the start, whatever the API. */
  durations(): Record<string, number[]> {
    const found: Record<string, number[]> = {}
    for (const { values, series } of this.#durations.all()) {
      const backend = values[1] ?? ""
      const before = found[backend]
      const own = [...series.counts]
      found[backend] = before === undefined ? own : addedNumbers(before, own)
    }
    return found
  }

  /** `status` 0: the client disconnected before the response. `upstreamMs`: until the head of the response; undefined without one. */
  count(
    series: BackendSeries,
    api: string,
    backend: string,
    status: number,
    upstreamMs: number | undefined,
  ): void {
    const statusClass = Math.floor(status / 100)
    let counter = series.byStatus[statusClass]
    if (counter === undefined) {
      counter = this.#requests.series(api, backend, statusClass === 0 ? "none" : `${statusClass}xx`)
      series.byStatus[statusClass] = counter
    }
    counter.add()
    if (upstreamMs !== undefined) series.duration.observe(upstreamMs / 1000)
  }
}
