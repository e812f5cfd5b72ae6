import type { Observer } from "../gateway/observer.ts"
import type { RelationChange } from "../policies/ports.ts"
import type { Log } from "../telemetry/log.ts"
import type { Counter, Family, Metrics } from "../telemetry/metrics.ts"
import { LogBudget } from "./log-budget.ts"

/** How long `status` reports a failure. */
const rememberedMs = 15 * 60_000

/**
 * Counts the changes of `grant` and `revoke`, and reports those that failed. By then the backend has already carried out the request, so an operator
 * must correct the relations or have the request repeated. Failures are in the log under the request's id (above the rate only counted),
 * and in `status` for 15 minutes.
 */
export class RelationChanges implements Observer {
  readonly #log: Log
  readonly #counts: Family<Counter>
  readonly #now: () => number
  readonly #budget: LogBudget
  #failures = 0
  #lastMs = Number.NEGATIVE_INFINITY
  #last = ""

  /** `now`: milliseconds of a monotonic clock. */
  constructor(metrics: Metrics, log: Log, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
    this.#budget = new LogBudget(now)
    this.#counts = metrics.counter(
      "sallyport_relation_changes_total",
      "Relations that grant and revoke statements changed, or could not change.",
      ["store", "statement", "outcome"],
    )
  }

  finished(): void {}

  /** Counts a change of `grant` or `revoke` and logs a failure, as far as the budget allows. */
  changed({ requestId, store, statement, tuple, failure }: RelationChange): void {
    this.#counts.series(store, statement, failure === undefined ? "done" : "failed").add()
    if (failure === undefined) return
    const now = this.#now()
    this.#failures = now - this.#lastMs > rememberedMs ? 1 : this.#failures + 1
    this.#lastMs = now
    const words = tuple === undefined ? "" : ` of \`${tuple.user} ${tuple.relation} ${tuple.object}\``
    this.#last = `${statement}${words} in store \`${store}\`: ${failure}`
    if (!this.#budget.take()) {
      this.#budget.skip()
      return
    }
    const skipped = this.#budget.skipped()
    const more = skipped > 0 ? { skipped } : {}
    this.#log.error(
      { request_id: requestId, store, statement, tuple, cause: failure, ...more },
      "a relation could not be changed",
    )
  }

  /** The recent failure; undefined without one. */
  get error(): string | undefined {
    if (this.#now() - this.#lastMs > rememberedMs) return undefined
    const what = this.#failures === 1 ? "a change" : `${this.#failures} changes`
    return `${what} of relations failed within the last 15 minutes, most recently ${this.#last}`
  }
}
