import { join } from "node:path"
import { SubscriptionDesk } from "../control/subscription-desk.ts"
import { UsageDesk } from "../control/usage-desk.ts"
import type { Finished, Observer } from "../gateway/observer.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { QuotaCounters } from "../policies/ports.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { Quotas } from "../usage/quotas.ts"
import { UsageRecorder } from "../usage/recorder.ts"
import type { MeteredCall } from "../usage/tally.ts"
import type { HistoryLosses } from "./history-losses.ts"
import { IssuedSubscriptions } from "./issued-subscriptions.ts"

/** Quotas of this process, or of the whole machine. */
export interface ProcessQuotas extends Required<QuotaCounters> {
  /** Why usage cannot be written; undefined if it can. */
  readonly error: string | undefined
  start(): Promise<void>
  close(): Promise<void>
}

/** The dependencies of metering. */
export interface MeteringSettings {
  readonly database: Database
  readonly log: Log
  readonly metrics: Metrics
  /** The running plan. */
  readonly plan: () => PlanBody | null
  /** Folder for usage that could not be written to the database. */
  readonly spoolFolder: string
  readonly losses: HistoryLosses
  /** Absent: this process reserves calls on its own. */
  readonly quotas?: ProcessQuotas | undefined
}

/** Issued subscriptions, usage and quotas of a process. */
export class Metering {
  readonly issued: IssuedSubscriptions
  readonly usage: UsageRecorder
  readonly quotas: ProcessQuotas
  readonly observer: Observer
  readonly subscriptionDesk: SubscriptionDesk
  readonly usageDesk: UsageDesk

  /** Usage, quotas and issued subscriptions of one process. */
  constructor({ database, log, metrics, plan, spoolFolder, losses, quotas }: MeteringSettings) {
    this.issued = new IssuedSubscriptions({
      database,
      onHistoryLost: losses.ofSubscriptions,
      onChange: (error) =>
        error === undefined
          ? log.info("issued subscriptions are up to date again")
          : log.warn({ error }, "issued subscriptions could not be updated; the known ones stay in use"),
    })
    this.usage = new UsageRecorder({
      database,
      spoolFolder,
      onChange: (error) =>
        error === undefined
          ? log.info("usage is written to the database again")
          : log.warn({ error }, "usage cannot be written to the database"),
    })
    this.quotas = quotas ?? openQuotas(database, spoolFolder, losses)
    this.observer = new UsageObserver((call) => this.usage.add(call), plan)
    this.subscriptionDesk = new SubscriptionDesk({ database, plan, changed: () => this.issued.refresh() })
    this.usageDesk = new UsageDesk({ database, plan, flush: () => this.usage.flush() })
    addMetrics(metrics, this.issued, this.usage)
  }

  /** Reads the issued subscriptions and follows them. For processes with the gateway role. */
  async start(): Promise<void> {
    await this.issued.start()
    this.usage.start()
    await this.quotas.start()
  }

  /** Writes what was counted. Call it when no request is in progress any more. */
  async close(): Promise<void> {
    await Promise.all([this.issued.close(), this.usage.close(), this.quotas.close()])
  }
}

/** The quotas of a process, which reserves calls in the database. */
export function openQuotas(database: Database, spoolFolder: string, losses: HistoryLosses): ProcessQuotas {
  return new Quotas({
    database,
    spoolFolder: join(spoolFolder, "quotas"),
    onHistoryLost: losses.ofQuotas,
  })
}

/** Metrics of usage. */
function addMetrics(metrics: Metrics, issued: IssuedSubscriptions, usage: UsageRecorder): void {
  const keysHelp = "Keys of issued subscriptions known to this process."
  metrics.gauge("sallyport_issued_keys", keysHelp, [], () => [[[], issued.keys]], "max")
  const spooledHelp = "Batches of usage waiting on disk."
  metrics.gauge("sallyport_usage_spooled_batches", spooledHelp, [], () => [[[], usage.spooled]], "max")
  metrics.observableCounter("sallyport_usage_lost_calls_total", "Calls that were not metered.", [], () => [
    [[], usage.lost],
  ])
}

/** Passes every finished call to `add`, with the price of its product in the plan. */
class UsageObserver implements Observer {
  readonly #add: (call: MeteredCall) => void
  readonly #plan: () => PlanBody | null

  constructor(add: (call: MeteredCall) => void, plan: () => PlanBody | null) {
    this.#add = add
    this.#plan = plan
  }

  /** A request that has ended, as usage. */
  finished(exchange: Finished): void {
    const { product = "", status } = exchange
    // Refusals and failures of the gateway, server errors, and calls that the client aborted cost nothing.
    const billed = exchange.problem === undefined && status >= 200 && status < 500 && !exchange.aborted
    this.#add({
      endedAtMs: exchange.startedAtMs + exchange.durationMs,
      durationMs: exchange.durationMs,
      subscription: exchange.subscription ?? "",
      user: exchange.user ?? "",
      product,
      api: exchange.api ?? "",
      version: exchange.version ?? "",
      operation: exchange.operation ?? "",
      status,
      billed,
      price: product === "" ? "" : priceOf(this.#plan(), product),
      bytesIn: exchange.bytesReceived,
      bytesOut: exchange.bytesSent,
    })
  }
}

function priceOf(plan: PlanBody | null, product: string): string {
  const products = plan?.products
  const price =
    products !== undefined && Object.hasOwn(products, product) ? products[product]?.price : undefined
  return price === undefined ? "" : `${price.amount} ${price.currency}`
}
