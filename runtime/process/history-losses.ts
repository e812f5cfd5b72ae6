import type { Commit } from "../check/ports.ts"
import type { Log } from "../telemetry/log.ts"
import type { Counter, Family, Metrics } from "../telemetry/metrics.ts"
import { LogBudget } from "./log-budget.ts"

/** How long `status` reports a loss. */
const rememberedMs = 15 * 60_000

/** Kinds of histories in the database. */
type HistoryKind = "tuples" | "plans" | "subscriptions" | "quotas"

/** The last commit that was known, and the newest in the database, as text for operators. */
interface HistoryLoss {
  readonly history: HistoryKind
  /** The store's id. */
  readonly of?: string | undefined
  readonly held: string
  readonly found: string
}

/** Two commits as text. */
function revisions(held: Commit, found: Commit): Pick<HistoryLoss, "held" | "found"> {
  const words = ({ revision, stamp }: Commit) => `revision ${revision}${stamp === "" ? "" : ` (${stamp})`}`
  return { held: words(held), found: words(found) }
}

/**
 * Reports that the database lost commits that this process has read or written: a standby without them took over, or a backup was restored.
 * Responses no longer use those commits, but clients may have seen them, so operators must know. The loss is in the log, in the metric
 * `sallyport_history_lost_total`, and in `status` for 15 minutes.
 */
export class HistoryLosses {
  readonly #log: Log
  readonly #counts: Family<Counter>
  readonly #now: () => number
  readonly #budget: LogBudget
  /** Called with each loss, so that caches without a history of their own are read again. */
  onLoss: () => void = () => undefined
  readonly #lately = new Map<string, { readonly text: string; readonly atMs: number }>()

  /** `now`: milliseconds of a monotonic clock. */
  constructor(metrics: Metrics, log: Log, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
    this.#budget = new LogBudget(now)
    this.#counts = metrics.counter(
      "sallyport_history_lost_total",
      "Number of times the database had lost commits that this process knew.",
      ["history"],
    )
  }

  readonly ofTuples = (of: string, held: Commit, found: Commit): void =>
    this.#tell({ history: "tuples", of, ...revisions(held, found) })

  readonly ofSubscriptions = (held: Commit, found: Commit): void =>
    this.#tell({ history: "subscriptions", ...revisions(held, found) })

  readonly ofPlans = (
    held: { readonly serial: number },
    found: { readonly serial: number } | undefined,
  ): void =>
    this.#tell({
      history: "plans",
      held: `serial ${held.serial}`,
      found: found === undefined ? "no plan" : `another plan, serial ${found.serial}`,
    })

  readonly ofQuotas = ({ counter }: { readonly counter: string }): void =>
    this.#tell({ history: "quotas", held: `more of \`${counter}\``, found: "the lost commits again" })

  /** Counts and logs a loss. Each history is named once in the state, with its newest loss. */
  #tell({ history, of, held, found }: HistoryLoss): void {
    this.#counts.series(history).add()
    this.onLoss()
    const which = of === undefined ? history : `${history} of store ${of}`
    const text = `the database lost commits of ${which}: this process holds ${held}, the database has ${found}`
    // Keep the newest loss of each history, so that a thousand quota keys give one reason.
    this.#lately.delete(history)
    this.#lately.set(history, { text, atMs: this.#now() })
    if (!this.#budget.take()) {
      this.#budget.skip()
      return
    }
    const skipped = this.#budget.skipped()
    this.#log.error(
      { history, of, held, found, ...(skipped > 0 ? { skipped } : {}) },
      "the database lost commits that this process knew (a failover or a restore): its present content applies; check what was written shortly before",
    )
  }

  /** Recent losses. */
  get reasons(): readonly string[] {
    const now = this.#now()
    for (const [history, { atMs }] of this.#lately)
      if (now - atMs > rememberedMs) this.#lately.delete(history)
    return [...this.#lately.values()].map(({ text }) => text)
  }
}
