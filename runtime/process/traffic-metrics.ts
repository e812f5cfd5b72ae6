import type { DiscoveryState } from "../discovery/discovery.ts"
import type { Gateway, GatewayState } from "../gateway/gateway.ts"
import type { LimiterStats, SharedCounts } from "../limits/limiter.ts"
import type { PdpState } from "../pdp/standing.ts"
import type { Merging, Metrics } from "../telemetry/metrics.ts"

/**
 * Traffic of this process and the health of its targets and decision points, read for each scrape. Labels are names and targets of the
 * plan.
 */
export function addTrafficMetrics(metrics: Metrics, gateway: Pick<Gateway, "state"> | undefined): void {
  if (gateway === undefined) return
  metrics.gauge("sallyport_requests_running", "Requests in progress.", [], () => [
    [[], gateway.state().running],
  ])
  metrics.gauge("sallyport_tunnels_open", "Open WebSockets.", [], () => [[[], gateway.state().tunnels]])
  addCacheMetrics(metrics, () => gateway.state().cache)
  addLimitMetrics(metrics, () => gateway.state().limits)
  addSharedMetrics(metrics, () => gateway.state().shared)
  metrics.gauge(
    "sallyport_shared_cache_up",
    "0 while the Redis of `shared redis { cache }` is unavailable, else 1.",
    [],
    () => {
      const cache = gateway.state().sharedCache
      return cache === undefined ? [] : [[[], cache.away === undefined ? 1 : 0]]
    },
    "min",
  )
  addAskedMetrics(metrics, {
    prefix: "sallyport_pdp",
    outstanding: "Requests to a decision point that have no response yet.",
    up: "0 after a request to the decision point failed, else 1.",
    labels: ["pdp"],
    states: () => Object.entries(gateway.state().decisionPoints).map(([name, state]) => [[name], state]),
  })
  addAskedMetrics(metrics, {
    prefix: "sallyport_target",
    outstanding: "Requests to a target that are not finished.",
    up: "0 while the health checks of the target fail, else 1.",
    labels: ["backend", "target"],
    states: () =>
      Object.entries(gateway.state().backends).flatMap(([name, targets]) =>
        targets.map((target) => [[name, target.origin], target] as const),
      ),
  })
  addDiscoveryMetrics(metrics, () => gateway.state().discoveries)
}

/** What finds the targets of backends. */
function addDiscoveryMetrics(metrics: Metrics, discoveries: () => GatewayState["discoveries"]): void {
  const each = (value: (state: DiscoveryState) => number | undefined) => () =>
    Object.entries(discoveries()).flatMap(([name, state]) => {
      const number = value(state)
      return number === undefined ? [] : [[[name], number] as const]
    })
  metrics.gauge(
    "sallyport_discovery_up",
    "0 while the targets of the backend cannot be found (the last ones stay in use), else 1.",
    ["backend"],
    each(({ failure }) => (failure === undefined ? 1 : 0)),
    "min",
  )
  metrics.gauge(
    "sallyport_discovery_targets",
    "Targets that were found for the backend.",
    ["backend"],
    each(({ targets = 0 }) => targets),
    "min",
  )
  metrics.gauge(
    "sallyport_discovery_age_seconds",
    "Since the targets of the backend were last confirmed.",
    ["backend"],
    each(({ ageMs }) => (ageMs === undefined ? undefined : ageMs / 1000)),
    "max",
  )
  metrics.observableCounter(
    "sallyport_discovery_failures_total",
    "Failed attempts to find the targets of the backend.",
    ["backend"],
    each(({ failures }) => failures),
  )
}

/** Services of one kind that the gateway calls: the prefix and help of their gauges, and the current state of each by its labels. */
interface Asked {
  readonly prefix: string
  readonly outstanding: string
  readonly up: string
  readonly labels: readonly string[]
  states(): readonly (readonly [labels: readonly string[], state: Omit<PdpState, "lastError">])[]
}

/** Metrics of what the gateway asks: targets of backends and decision points. */
function addAskedMetrics(metrics: Metrics, { prefix, outstanding, up, labels, states }: Asked): void {
  const gauge = (
    name: string,
    help: string,
    merging: Merging,
    value: (state: Omit<PdpState, "lastError">) => number,
  ) => {
    const read = () => states().map(([values, state]) => [values, value(state)] as const)
    metrics.gauge(`${prefix}_${name}`, help, labels, read, merging)
  }
  gauge("outstanding", outstanding, "sum", (state) => state.outstanding)
  gauge("up", up, "min", ({ health }) => (health === "down" ? 0 : 1))
  const breaker = "State of the breaker: 0 closed or none, 1 half open, 2 open."
  gauge("breaker", breaker, "max", (state) => breakerNumbers[state.breaker])
}

/** Metrics of the cache. */
function addCacheMetrics(metrics: Metrics, stats: () => ReturnType<Gateway["state"]>["cache"]): void {
  metrics.gauge("sallyport_cache_entries", "Responses and values in the cache of this process.", [], () => [
    [[], stats().entries],
  ])
  metrics.gauge("sallyport_cache_bytes", "Size of the cache of this process in bytes.", [], () => [
    [[], stats().bytes],
  ])
  metrics.observableCounter(
    "sallyport_cache_events_total",
    "Cache hits, misses, stores and evictions since the process started.",
    ["event"],
    () => {
      const { hits, misses, stores, evictions } = stats()
      return [
        [["hit"], hits],
        [["miss"], misses],
        [["store"], stores],
        [["eviction"], evictions],
      ]
    },
  )
}

/** The counts of limits in memory. */
export function addLimitMetrics(metrics: Metrics, stats: () => LimiterStats): void {
  metrics.gauge("sallyport_limit_keys", "Callers that the limits of this process count.", [], () => [
    [[], stats().keys],
  ])
  metrics.gauge("sallyport_limit_bytes", "Memory of the counts of limits, in bytes.", [], () => [
    [[], stats().bytes],
  ])
  metrics.observableCounter(
    "sallyport_limit_keys_evicted_total",
    "Callers that a limit stopped counting because more than `limit-keys` came.",
    [],
    () => [[[], stats().evicted]],
  )
}

/** Metrics of shared limits; absent if the plan shares none. */
function addSharedMetrics(metrics: Metrics, shared: () => SharedCounts | undefined): void {
  const present = (value: (counts: SharedCounts) => number) => () => {
    const counts = shared()
    return counts === undefined ? [] : [[[], value(counts)] as const]
  }
  metrics.gauge(
    "sallyport_shared_limits_up",
    "0 while the Redis of `limits { shared redis }` is unavailable, else 1.",
    [],
    present(({ away }) => (away === undefined ? 1 : 0)),
    "min",
  )
  metrics.observableCounter(
    "sallyport_limit_local_takes_total",
    "Calls that this process counted on its own because Redis was unavailable.",
    [],
    present(({ localTakes }) => localTakes),
  )
}

const breakerNumbers = { none: 0, closed: 0, "half-open": 1, open: 2 } as const
