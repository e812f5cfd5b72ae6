import type { PdpDecided, PdpNotes, PdpRequested } from "../pdp/standing.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"

/** Counts what decision points are asked. Labels are their names and words of ours. */
export class PdpMetrics implements PdpNotes {
  readonly #requests: Family<Histogram>
  readonly #decisions: Family<Counter>

  constructor(metrics: Metrics) {
    this.#requests = metrics.histogram(
      "sallyport_pdp_request_duration_seconds",
      "Requests to decision points, by what became of them.",
      ["pdp", "outcome"],
      durationBounds,
    )
    this.#decisions = metrics.counter(
      "sallyport_pdp_decisions_total",
      "Questions for decision points, by what was decided and whether that was kept from before.",
      ["pdp", "decision", "from"],
    )
  }

  requested({ pdp, outcome, ms }: PdpRequested): void {
    this.#requests.series(pdp, outcome).observe(ms / 1000)
  }

  decided({ pdp, decision, from }: PdpDecided): void {
    this.#decisions.series(pdp, decision, from).add()
  }
}
