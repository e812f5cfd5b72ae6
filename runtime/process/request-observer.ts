import type { Finished, Observer } from "../gateway/observer.ts"
import type { Log } from "../telemetry/log.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"
import type { DenialLog } from "./denial-log.ts"

/** The series of one route, looked up once and kept. */
interface RouteSeries {
  readonly byStatus: (Counter | undefined)[]
  readonly duration: Histogram
  readonly upstream: Histogram
}

/** Counts requests and writes the access log, one line a request. Labels are routes of plans and classes of statuses, so their number is bounded. */
export class RequestObserver implements Observer {
  readonly #log: Log | undefined
  readonly #requests: Family<Counter>
  readonly #durations: Family<Histogram>
  readonly #upstreams: Family<Histogram>
  readonly #problems: Family<Counter>
  readonly #received: Counter
  readonly #sent: Counter
  readonly #retried: Counter
  readonly #routes = new Map<string, RouteSeries>()
  readonly #denials: DenialLog | undefined

  /** `log` undefined: no access log. `denials` is told of what `require` refused. */
  constructor(metrics: Metrics, log: Log | undefined, denials?: DenialLog) {
    this.#log = log
    this.#denials = denials
    const route = ["api", "version", "route"]
    this.#requests = metrics.counter("sallyport_requests_total", "Requests by route and class of status.", [
      ...route,
      "status",
    ])
    this.#durations = metrics.histogram(
      "sallyport_request_duration_seconds",
      "From the head of the request to the end of the answer.",
      route,
      durationBounds,
    )
    this.#upstreams = metrics.histogram(
      "sallyport_upstream_duration_seconds",
      "Until the backend's head was there.",
      route,
      durationBounds,
    )
    this.#problems = metrics.counter(
      "sallyport_problems_total",
      "Answers the gateway gave itself because something was wrong.",
      ["problem"],
    )
    const bytes = metrics.counter(
      "sallyport_body_bytes_total",
      "Bytes of bodies, as clients sent and got them.",
      ["direction"],
    )
    this.#received = bytes.series("received")
    this.#sent = bytes.series("sent")
    this.#retried = metrics
      .counter(
        "sallyport_upstream_retries_total",
        "Requests sent again because a kept connection had been closed.",
      )
      .series()
  }

  finished(exchange: Finished): void {
    const series = this.#seriesOf(exchange)
    const statusClass = Math.floor(exchange.status / 100)
    let counter = series.byStatus[statusClass]
    if (counter === undefined) {
      const status = statusClass === 0 ? "none" : `${statusClass}xx`
      counter = this.#requests.series(...labelsOf(exchange), status)
      series.byStatus[statusClass] = counter
    }
    counter.add()
    series.duration.observe(exchange.durationMs / 1000)
    if (exchange.upstreamMs !== undefined) series.upstream.observe(exchange.upstreamMs / 1000)
    if (exchange.problem !== undefined) this.#problems.series(exchange.problem).add()
    if (exchange.retried) this.#retried.add()
    this.#received.add(exchange.bytesReceived)
    this.#sent.add(exchange.bytesSent)
    if (this.#log !== undefined) writeLine(this.#log, exchange)
    const { decision } = exchange
    // Without a revision there was no answer to explain.
    if (decision?.allowed === false && decision.revision !== undefined)
      this.#denials?.refused(exchange.id, decision)
  }

  #seriesOf(exchange: Finished): RouteSeries {
    const key = exchange.route ?? ""
    let series = this.#routes.get(key)
    if (series === undefined) {
      const labels = labelsOf(exchange)
      series = {
        byStatus: [],
        duration: this.#durations.series(...labels),
        upstream: this.#upstreams.series(...labels),
      }
      // Routes of plans long gone are few; a table that only grows is bounded by dropping it whole.
      if (this.#routes.size >= 20_000) this.#routes.clear()
      this.#routes.set(key, series)
    }
    return series
  }
}

function labelsOf({ api, version, route }: Finished): [string, string, string] {
  return [api ?? "", version ?? "", route ?? ""]
}

/** Fields are named one by one: what is added to an exchange later is not in the log by itself. Undefined ones are left out. */
function writeLine(log: Log, exchange: Finished): void {
  const { decision } = exchange
  log.info({
    request_id: exchange.id,
    method: exchange.method,
    path: exchange.path,
    status: exchange.status,
    ms: Math.round(exchange.durationMs * 100) / 100,
    upstream_ms: exchange.upstreamMs === undefined ? undefined : Math.round(exchange.upstreamMs * 100) / 100,
    route: exchange.route,
    api: exchange.api,
    version: exchange.version,
    ip: exchange.ip,
    user: exchange.user,
    subscription: exchange.subscription,
    product: exchange.product,
    operation: exchange.operation,
    backend: exchange.backend,
    target: exchange.target,
    bytes_in: exchange.bytesReceived,
    bytes_out: exchange.bytesSent,
    problem: exchange.problem,
    cause: exchange.cause,
    decision:
      decision === undefined
        ? undefined
        : {
            store: decision.store,
            user: decision.user,
            relation: decision.relation,
            object: decision.object,
            allowed: decision.allowed,
            revision: decision.revision,
          },
    traceparent: exchange.traceparent,
    aborted: exchange.aborted || undefined,
    retried: exchange.retried || undefined,
  })
}
