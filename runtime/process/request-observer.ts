import type { RouteCounts } from "../control/api.ts"
import type { TrafficTotals } from "../control/traffic-history.ts"
import { type Finished, type Observer, observers, type Protocol } from "../gateway/observer.ts"
import type { PdpDecided, PdpNotes, PdpRequested } from "../pdp/standing.ts"
import type { MirroredRequest } from "../policies/exchange.ts"
import type { TraceLine } from "../policies/ports.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import {
  type Counter,
  durationBounds,
  type Family,
  type Histogram,
  type Metrics,
} from "../telemetry/metrics.ts"
import { BackendMetrics } from "./backend-metrics.ts"
import { CanaryMetrics } from "./canary-metrics.ts"
import { DenialLog } from "./denial-log.ts"
import type { Metering } from "./metering.ts"
import { MirrorMetrics } from "./mirror-metrics.ts"
import type { PlanStores } from "./plan-stores.ts"
import { RefusedRequests } from "./refused-requests.ts"
import { RelationChanges } from "./relation-changes.ts"
import { RequestFeed } from "./request-feed.ts"

/** Log for access lines, if enabled, and log for `trace` lines. */
interface Logs {
  readonly requests: Log | undefined
  readonly traces?: Log | undefined
}

/** The metric series of one route, looked up once and cached. */
interface RouteSeries {
  readonly byStatus: (Counter | undefined)[]
  /** Responses of the gateway itself, by the kind of the step that sent them. */
  readonly byStep: Map<string, Counter>
  readonly byBackend: Map<string, ReturnType<BackendMetrics["seriesOf"]>>
  readonly duration: Histogram
  readonly upstream: Histogram
}

const authorNamesMax = 200
const authorSeriesMax = 1_000

interface AuthorMetric {
  readonly labels: readonly string[]
  readonly family: Family<Counter>
  readonly series: Map<string, Counter>
}

/**
 * Counts requests and writes the access log, one line per request. Labels are routes of plans and classes of statuses, so their number is
 * bounded.
 */
export class RequestObserver implements Observer {
  readonly #log: Log | undefined
  readonly #traces: Log | undefined
  readonly #answers: Family<Counter>
  readonly #waits: Family<Histogram>
  readonly #waitsByKind = new Map<string, Histogram>()
  readonly #authors: AuthorMetrics
  readonly #points: PdpMetrics
  readonly #mirrors: MirrorMetrics
  readonly #requests: Family<Counter>
  readonly #durations: Family<Histogram>
  readonly #upstreams: Family<Histogram>
  readonly #backends: BackendMetrics
  readonly #problems: Family<Counter>
  readonly #protocols: Readonly<Record<Protocol, Counter>>
  readonly #grpcCalls: Family<Counter>
  readonly #received: Counter
  readonly #sent: Counter
  readonly #retried: Counter
  readonly #routes = new Map<string, RouteSeries>()
  readonly #denials: DenialLog | undefined

  /** `denials` records the refusals of `require`. */
  constructor(metrics: Metrics, logs: Logs, denials?: DenialLog) {
    this.#log = logs.requests
    this.#traces = logs.traces
    this.#authors = new AuthorMetrics(metrics)
    this.#points = new PdpMetrics(metrics)
    this.#backends = new BackendMetrics(metrics)
    this.#mirrors = new MirrorMetrics(metrics, logs.requests)
    this.#answers = metrics.counter(
      "sallyport_step_answers_total",
      "Responses sent by a step of the gateway, by kind of step.",
      ["api", "step"],
    )
    this.#waits = metrics.histogram(
      "sallyport_step_wait_seconds",
      "Time spent waiting in steps, by kind of step.",
      ["step"],
      durationBounds,
    )
    this.#denials = denials
    const route = ["api", "version", "route"]
    this.#requests = metrics.counter("sallyport_requests_total", "Requests by route and status class.", [
      ...route,
      "status",
    ])
    this.#durations = metrics.histogram(
      "sallyport_request_duration_seconds",
      "Time from the head of the request to the end of the response.",
      route,
      durationBounds,
    )
    this.#upstreams = metrics.histogram(
      "sallyport_upstream_duration_seconds",
      "Time until the head of the backend's response arrived.",
      route,
      durationBounds,
    )
    this.#problems = metrics.counter("sallyport_problems_total", "Error responses of the gateway itself.", [
      "problem",
      "reason",
    ])
    this.#protocols = protocolCounters(metrics)
    this.#grpcCalls = metrics.counter(
      "sallyport_grpc_calls_total",
      "Calls of gRPC by the code that the client got; `none`: the call ended without one.",
      ["api", "code"],
    )
    const bytes = metrics.counter(
      "sallyport_body_bytes_total",
      "Bytes of bodies received from and sent to clients.",
      ["direction"],
    )
    this.#received = bytes.series("received")
    this.#sent = bytes.series("sent")
    this.#retried = metrics
      .counter(
        "sallyport_upstream_retries_total",
        "Requests sent again because an idle connection was closed.",
      )
      .series()
  }

  /** What was counted since the start of the process. */
  totals(): Omit<TrafficTotals, "running"> {
    const requests = [0, 0, 0, 0, 0, 0]
    for (const { values, series } of this.#requests.all()) {
      const at = Number.parseInt(values[3] ?? "", 10) || 0
      requests[at] = (requests[at] ?? 0) + series.value
    }
    const durations = new Array<number>(durationBounds.length + 1).fill(0)
    for (const { series } of this.#durations.all())
      for (const [at, count] of series.counts.entries()) durations[at] = (durations[at] ?? 0) + count
    const refusals: Record<string, number> = {}
    for (const { values, series } of this.#problems.all())
      refusals[values[1] ? `${values[0]}: ${values[1]}` : (values[0] ?? "")] = series.value
    return { requests, durations, refusals }
  }

  /** What was counted for these routes since the start of the process; those without a request are left out. */
  routeCounts(keys: readonly string[]): Record<string, RouteCounts> {
    return Object.fromEntries(
      keys.flatMap((key) => {
        const series = this.#routes.get(key)
        if (series === undefined) return []
        const requests = Array.from({ length: 6 }, (_, at) => series.byStatus[at]?.value ?? 0)
        return [[key, { requests, durations: [...series.duration.counts] }] as const]
      }),
    )
  }

  /** See `BackendMetrics.durations`. */
  backendDurations(): Record<string, number[]> {
    return this.#backends.durations()
  }

  /** Counts a finished request. Series are looked up once for each route, because building labels takes longer than counting. */
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
    if (exchange.protocol !== undefined) this.#protocols[exchange.protocol].add()
    // The duration of a WebSocket does not measure speed.
    const { trace } = exchange
    const sampled = trace?.sampled === true ? trace : undefined
    if (exchange.status !== 101) series.duration.observe(exchange.durationMs / 1000, sampled)
    if (exchange.answeredBy !== undefined) this.#countAnswer(series, exchange.api, exchange.answeredBy.kind)
    if (exchange.upstreamMs !== undefined) series.upstream.observe(exchange.upstreamMs / 1000, sampled)
    if (exchange.backend !== undefined) this.#countBackend(series, exchange, exchange.backend)
    if (exchange.problem !== undefined) this.#problems.series(exchange.problem, exchange.reason ?? "").add()
    if (exchange.retried) this.#retried.add()
    if (exchange.grpcStatus !== undefined)
      this.#grpcCalls.series(exchange.api ?? "", grpcCodes[exchange.grpcStatus ?? -1] ?? "none").add()
    this.#received.add(exchange.bytesReceived)
    this.#sent.add(exchange.bytesSent)
    if (this.#log !== undefined) writeLine(this.#log, exchange)
    const { decision } = exchange
    // Without a revision the engine gave no answer that could be explained.
    if (decision?.allowed === false && decision.revision !== undefined)
      this.#denials?.refused(exchange.id, decision)
  }

  traced({ requestId, source, severity, message, metadata }: TraceLine): void {
    const level = severity === "error" ? "error" : severity === "information" ? "info" : "debug"
    this.#traces?.[level]({ request_id: requestId, source, metadata }, message)
  }

  counted(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    this.#authors.add(name, labels, value)
  }

  mirrored(request: MirroredRequest): void {
    this.#mirrors.mirrored(request)
  }

  pdpRequested(request: PdpRequested): void {
    this.#points.requested(request)
  }

  pdpDecided(decision: PdpDecided): void {
    this.#points.decided(decision)
  }

  waited(kind: string, ms: number): void {
    let series = this.#waitsByKind.get(kind)
    if (series === undefined) {
      series = this.#waits.series(kind)
      this.#waitsByKind.set(kind, series)
    }
    series.observe(ms / 1000)
  }

  #countAnswer({ byStep }: RouteSeries, api: string | undefined, kind: string): void {
    let counter = byStep.get(kind)
    if (counter === undefined) {
      counter = this.#answers.series(api ?? "", kind)
      byStep.set(kind, counter)
    }
    counter.add()
  }

  /** Tells the sides of a split apart. */
  #countBackend(
    { byBackend }: RouteSeries,
    { api = "", status, upstreamMs }: Finished,
    backend: string,
  ): void {
    let series = byBackend.get(backend)
    if (series === undefined) {
      series = this.#backends.seriesOf(api, backend)
      byBackend.set(backend, series)
    }
    this.#backends.count(series, api, backend, status, upstreamMs)
  }

  /** The series of a route. */
  #seriesOf(exchange: Finished): RouteSeries {
    const key = exchange.route ?? ""
    let series = this.#routes.get(key)
    if (series === undefined) {
      const labels = labelsOf(exchange)
      series = {
        byStatus: [],
        byStep: new Map(),
        byBackend: new Map(),
        duration: this.#durations.series(...labels),
        upstream: this.#upstreams.series(...labels),
      }
      // Few routes belong to old plans, so it is enough to clear the whole table at this size.
      if (this.#routes.size >= 20_000) this.#routes.clear()
      this.#routes.set(key, series)
    }
    return series
  }
}

/** The codes of gRPC by their number (https://grpc.io/docs/guides/status-codes/). */
const grpcCodes: readonly string[] = [
  ...["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"],
  ...["PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE"],
  ...["UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"],
]

function protocolCounters(metrics: Metrics): Readonly<Record<Protocol, Counter>> {
  const protocols = metrics.counter("sallyport_requests_by_protocol_total", "Requests by version of HTTP.", [
    "protocol",
  ])
  return {
    "HTTP/1.0": protocols.series("HTTP/1.0"),
    "HTTP/1.1": protocols.series("HTTP/1.1"),
    "HTTP/2": protocols.series("HTTP/2"),
  }
}

function labelsOf({ api, version, route }: Finished): [string, string, string] {
  return [api ?? "", version ?? "", route ?? ""]
}

/** Fields are listed one by one, so that new fields of an exchange do not reach the log by accident. Undefined fields are omitted. */
function writeLine(log: Log, exchange: Finished): void {
  const { decision, answeredBy } = exchange
  log.info({
    request_id: exchange.id,
    // HTTP/1.1 is left out, as it is the usual one.
    protocol: exchange.protocol === "HTTP/1.1" ? undefined : exchange.protocol,
    method: exchange.method,
    path: exchange.path,
    status: exchange.status,
    grpc_status: exchange.grpcStatus ?? undefined,
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
    target_path: exchange.targetPath,
    upstream_host: exchange.host,
    bytes_in: exchange.bytesReceived,
    bytes_out: exchange.bytesSent,
    problem: exchange.problem,
    reason: exchange.reason,
    answered_by:
      answeredBy === undefined ? undefined : { step: answeredBy.kind, place: answeredBy.place || undefined },
    cause: exchange.cause,
    decision:
      decision === undefined
        ? undefined
        : {
            store: decision.store,
            pdp: decision.pdp,
            user: decision.user,
            relation: decision.relation,
            object: decision.object,
            allowed: decision.allowed,
            revision: decision.revision,
            reason: decision.reason,
          },
    traceparent: exchange.traceparent,
    trace_id: exchange.trace?.traceId,
    span_id: exchange.trace?.spanId,
    aborted: exchange.aborted || undefined,
    retried: exchange.retried || undefined,
  })
}

/**
 * Counters of `metric` statements, as `author_NAME_total`, so that their names cannot collide with ours. The first use of a name fixes its
 * labels. At most 200 names, with 1,000 series each; the rest counts as `other`.
 */
class AuthorMetrics {
  readonly #metrics: Metrics
  readonly #known = new Map<string, AuthorMetric>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Adds to a metric of a `metric` statement. Beyond the maximum, other label values are counted together as `other`. */
  add(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    const metric = this.#known.get(name) ?? this.#make(name, Object.keys(labels))
    const values = metric.labels.map((label) => (Object.hasOwn(labels, label) ? (labels[label] ?? "") : ""))
    const key = values.join("\u0000")
    let series = metric.series.get(key)
    if (series === undefined) {
      const others = metric.series.size >= authorSeriesMax
      series = metric.family.series(...(others ? values.map(() => "other") : values))
      if (!others) metric.series.set(key, series)
    }
    series.add(value)
  }

  /** Makes a metric; beyond the maximum number of names they share one. */
  #make(name: string, labels: readonly string[]): AuthorMetric {
    const full = this.#known.size >= authorNamesMax
    const known = full ? this.#known.get("other") : undefined
    if (known !== undefined) return known
    const own = full ? "other" : name
    const used = full ? [] : labels
    const family = this.#metrics.counter(`author_${own}_total`, "Counted by a `metric` statement.", used)
    const metric = { labels: used, family, series: new Map<string, Counter>() }
    this.#known.set(own, metric)
    return metric
  }
}

/** Counts queries to decision points. Labels are names of the plan and fixed words. */
class PdpMetrics implements PdpNotes {
  readonly #requests: Family<Histogram>
  readonly #decisions: Family<Counter>

  /** Metrics of decision points. */
  constructor(metrics: Metrics) {
    this.#requests = metrics.histogram(
      "sallyport_pdp_request_duration_seconds",
      "Requests to decision points, by outcome.",
      ["pdp", "outcome"],
      durationBounds,
    )
    this.#decisions = metrics.counter(
      "sallyport_pdp_decisions_total",
      "Decisions of decision points, requested or from the cache.",
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

/** The observers of requests and their outcomes. */
export function makeObservers(parts: {
  readonly metrics: Metrics
  readonly log: Log
  readonly requestLog: Log | undefined
  readonly stores: PlanStores
  readonly metering: Metering
  readonly database: Database
}) {
  const { metrics, log, requestLog, stores, metering, database } = parts
  const ask: ConstructorParameters<typeof RefusedRequests>[0] = (store, request) =>
    stores.check(store, request)
  const refused = new RefusedRequests(ask, database)
  const relations = new RelationChanges(metrics, log)
  const logs = { requests: requestLog, traces: log }
  const requests = new RequestObserver(metrics, logs, new DenialLog({ ask, log }))
  const feed = new RequestFeed()
  const all = observers(requests, metering.observer, refused, relations, new CanaryMetrics(metrics), feed)
  return {
    observer: all,
    refused,
    relations,
    feed,
    totals: () => requests.totals(),
    routeCounts: (keys: readonly string[]) => requests.routeCounts(keys),
    backendDurations: () => requests.backendDurations(),
  }
}
