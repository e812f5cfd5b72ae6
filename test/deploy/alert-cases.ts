/** Samples of a series, a minute apart, in promtool's notation: `0x60` is 61 zeros, `0+30x60` grows by 30 a minute. */
type Series = Readonly<Record<string, string>>

/** Series in which an alert fires at `atMinute` (default: 60), and similar ones in which no alert does. */
export interface AlertCase {
  readonly alert: string
  readonly fires: Series
  readonly silent: Series
  readonly atMinute?: number
  /** Alerts that the same series set off as well. */
  readonly also?: readonly string[]
}

/** One series with a value that stays, of the process `a`. */
function constant(name: string, labels: Readonly<Record<string, string>>, value: number): Series {
  return { [seriesOf(name, labels)]: `${value}x480` }
}

function seriesOf(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const all = { instance: "a", job: "sallyport", ...labels }
  const text = Object.entries(all).map(([label, value]) => `${label}="${value}"`)
  return `${name}{${text.join(",")}}`
}

/** An alert on one value: fires with the first, not with the second. */
function value(
  alert: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  [fires, silent]: readonly [number, number],
  more: Pick<AlertCase, "atMinute" | "also"> = {},
): AlertCase {
  return { alert, fires: constant(name, labels, fires), silent: constant(name, labels, silent), ...more }
}

/** A counter that grows in the last minutes before `atMinute`, and one that stays. */
function growth(alert: string, name: string, labels: Readonly<Record<string, string>> = {}): AlertCase {
  const series = seriesOf(name, labels)
  return { alert, fires: { [series]: "0x50 0+5x430" }, silent: { [series]: "7x480" } }
}

const requests = (status: string) =>
  seriesOf("sallyport_requests_total", { api: "orders", version: "", route: "GET /", status })
const durations = (name: string) => seriesOf(name, { api: "orders", version: "", route: "GET /" })
const ofInstance = (name: string, instance: string, labels: Readonly<Record<string, string>> = {}) =>
  seriesOf(name, { ...labels, instance })
const target = { backend: "orders", target: "http://10.0.0.1:9000" }
const other = { backend: "orders", target: "http://10.0.0.2:9000" }
const day = 86_400

/** Each alert of runtime/deploy/prometheus/alerts.yaml, firing and silent. */
export const alertCases: readonly AlertCase[] = [
  {
    alert: "SallyportErrorBudgetBurnsFast",
    fires: { [requests("2xx")]: "0+97x480", [requests("5xx")]: "0+3x480" },
    silent: { [requests("2xx")]: "0+9999x480", [requests("5xx")]: "0+1x480" },
    also: ["SallyportErrorBudgetBurnsSlowly"],
  },
  {
    alert: "SallyportErrorBudgetBurnsSlowly",
    fires: { [requests("2xx")]: "0+990x480", [requests("5xx")]: "0+10x480" },
    // The errors ended more than half an hour ago.
    silent: { [requests("2xx")]: "0+990x480", [requests("5xx")]: "0+10x60 600x420" },
    atMinute: 120,
  },
  {
    alert: "SallyportGatewaySlow",
    fires: {
      [durations("sallyport_request_duration_seconds_sum")]: "0+60x480",
      [durations("sallyport_upstream_duration_seconds_sum")]: "0+6x480",
      [durations("sallyport_request_duration_seconds_count")]: "0+60x480",
    },
    // The same duration, but nearly all of it in the backend.
    silent: {
      [durations("sallyport_request_duration_seconds_sum")]: "0+60x480",
      [durations("sallyport_upstream_duration_seconds_sum")]: "0+59x480",
      [durations("sallyport_request_duration_seconds_count")]: "0+60x480",
    },
  },
  value("SallyportProcessDown", "up", {}, [0, 1]),
  { alert: "SallyportMissing", fires: { 'up{job="other"}': "1x480" }, silent: { [seriesOf("up")]: "1x480" } },
  {
    alert: "SallyportRestarts",
    fires: { [seriesOf("process_start_time_seconds")]: "100x40 200x5 300x5 400x430" },
    silent: { [seriesOf("process_start_time_seconds")]: "100x40 200x440" },
  },
  {
    alert: "SallyportWorkersMissing",
    fires: {
      ...constant("sallyport_workers", { state: "serving" }, 3),
      ...constant("sallyport_workers", { state: "wanted" }, 4),
    },
    silent: {
      ...constant("sallyport_workers", { state: "serving" }, 4),
      ...constant("sallyport_workers", { state: "wanted" }, 4),
    },
  },
  value("SallyportDegraded", "sallyport_state", { state: "degraded" }, [1, 0]),
  value("SallyportEventLoopSlow", "nodejs_eventloop_lag_p99_seconds", {}, [0.2, 0.02]),
  {
    alert: "SallyportPlanBehind",
    fires: {
      [ofInstance("sallyport_plan_serial", "a")]: "3x480",
      [ofInstance("sallyport_plan_serial", "b")]: "4x480",
    },
    silent: {
      [ofInstance("sallyport_plan_serial", "a")]: "4x480",
      [ofInstance("sallyport_plan_serial", "b")]: "4x480",
    },
  },
  {
    alert: "SallyportPlanFromDisk",
    fires: constant("sallyport_kept_plan_age_seconds", {}, 0),
    silent: constant("sallyport_plan_serial", {}, 4),
  },
  value("SallyportDatabaseUnavailable", "sallyport_database_up", {}, [0, 1]),
  value("SallyportDatabasePoolExhausted", "sallyport_database_waiting", {}, [3, 0]),
  growth("SallyportHistoryLost", "sallyport_history_lost_total", { history: "store acme" }),
  value("SallyportReplicaUnavailable", "sallyport_replica_up", { server: "db2:5432" }, [0, 1]),
  value("SallyportUsageWaits", "sallyport_usage_spooled_batches", {}, [2, 0]),
  growth("SallyportUsageLost", "sallyport_usage_lost_calls_total"),
  value("SallyportTuplesStale", "sallyport_engine_staleness_seconds", { store: "acme" }, [11, 1]),
  {
    alert: "SallyportEngineMemoryFull",
    fires: {
      ...constant("sallyport_engine_memory_bytes", {}, 99),
      ...constant("sallyport_engine_memory_limit_bytes", {}, 100),
      [seriesOf("sallyport_engine_pages_read_total", { store: "acme" })]: "0+1200x480",
    },
    // Full, but what is asked for is in memory.
    silent: {
      ...constant("sallyport_engine_memory_bytes", {}, 99),
      ...constant("sallyport_engine_memory_limit_bytes", {}, 100),
      [seriesOf("sallyport_engine_pages_read_total", { store: "acme" })]: "0+60x480",
    },
  },
  {
    alert: "SallyportEngineFails",
    fires: {
      [seriesOf("sallyport_engine_requests_total", { method: "Check", outcome: "allowed" })]: "0+90x480",
      [seriesOf("sallyport_engine_requests_total", { method: "Check", outcome: "error" })]: "0+10x480",
    },
    // Mistakes of clients are no failures of the engine.
    silent: {
      [seriesOf("sallyport_engine_requests_total", { method: "Check", outcome: "allowed" })]: "0+90x480",
      [seriesOf("sallyport_engine_requests_total", { method: "Check", outcome: "invalid" })]: "0+10x480",
    },
  },
  growth("SallyportRelationChangesFail", "sallyport_relation_changes_total", {
    store: "acme",
    statement: "grant",
    outcome: "failed",
  }),
  {
    alert: "SallyportTargetDown",
    fires: {
      ...constant("sallyport_target_up", target, 0),
      ...constant("sallyport_target_up", other, 1),
    },
    silent: {
      ...constant("sallyport_target_up", target, 1),
      ...constant("sallyport_target_up", other, 1),
    },
  },
  value("SallyportBackendDown", "sallyport_target_up", target, [0, 1], { also: ["SallyportTargetDown"] }),
  value("SallyportBreakerOpen", "sallyport_target_breaker", target, [2, 1]),
  value("SallyportDecisionPointDown", "sallyport_pdp_up", { pdp: "opa" }, [0, 1]),
  growth("SallyportIssuerUnavailable", "sallyport_problems_total", {
    problem: "issuer-unavailable",
    reason: "",
  }),
  value("SallyportSharedLimitsUnavailable", "sallyport_shared_limits_up", {}, [0, 1]),
  value("SallyportSharedCacheUnavailable", "sallyport_shared_cache_up", {}, [0, 1]),
  {
    ...growth("SallyportSpansDropped", "sallyport_spans_dropped_total", { reason: "queue-full" }),
    atMinute: 90,
  },
  value(
    "SallyportCertificateExpiresSoon",
    "sallyport_certificate_not_after_seconds",
    { certificate: "own" },
    [10 * day, 30 * day],
    { atMinute: 120 },
  ),
  value(
    "SallyportCertificateExpires",
    "sallyport_certificate_not_after_seconds",
    { certificate: "own" },
    [day, 30 * day],
    { atMinute: 30 },
  ),
  value("SallyportCertificateOrdersFail", "sallyport_acme_failures", { certificate: "own" }, [3, 2]),
  value(
    "SallyportRevocationListExpires",
    "sallyport_revocation_list_next_update_seconds",
    { file: "crl.pem" },
    [5 * 3600, 10 * 3600],
  ),
]
