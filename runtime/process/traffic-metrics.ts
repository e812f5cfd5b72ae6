import type { Gateway } from "../gateway/gateway.ts"
import type { PdpState } from "../pdp/standing.ts"
import type { Metrics } from "../telemetry/metrics.ts"

/** What passes through this process and how its targets and decision points are, read when the page is asked for. Labels are names and targets of the plan. */
export function addTrafficMetrics(metrics: Metrics, gateway: Pick<Gateway, "state"> | undefined): void {
  if (gateway === undefined) return
  metrics.gauge("sallyport_requests_running", "Requests in work.", [], () => [[[], gateway.state().running]])
  metrics.gauge("sallyport_tunnels_open", "WebSockets that are open.", [], () => [
    [[], gateway.state().tunnels],
  ])
  addCacheMetrics(metrics, () => gateway.state().cache)
  addPointMetrics(metrics, () => Object.entries(gateway.state().decisionPoints))
  const targets = () =>
    Object.entries(gateway.state().backends).flatMap(([name, all]) =>
      all.map((target) => ({ labels: [name, target.origin], target })),
    )
  const labels = ["backend", "target"]
  metrics.gauge("sallyport_target_outstanding", "Requests sent to a target that are not over.", labels, () =>
    targets().map(({ labels: values, target }) => [values, target.outstanding] as const),
  )
  metrics.gauge("sallyport_target_up", "0: the checks of a target say that it is down.", labels, () =>
    targets().map(({ labels: values, target }) => [values, target.health === "down" ? 0 : 1] as const),
  )
  metrics.gauge("sallyport_target_breaker", "0: closed or none, 1: half open, 2: open.", labels, () =>
    targets().map(({ labels: values, target }) => [values, breakerNumbers[target.breaker]] as const),
  )
}

function addPointMetrics(metrics: Metrics, points: () => [string, PdpState][]): void {
  const gauge = (name: string, help: string, value: (state: PdpState) => number) =>
    metrics.gauge(name, help, ["pdp"], () => points().map(([pdp, state]) => [[pdp], value(state)] as const))
  gauge(
    "sallyport_pdp_outstanding",
    "Requests sent to a decision point that are not over.",
    (state) => state.outstanding,
  )
  gauge("sallyport_pdp_up", "0: the last question to a decision point found it ill.", ({ health }) =>
    health === "down" ? 0 : 1,
  )
  gauge(
    "sallyport_pdp_breaker",
    "0: closed or none, 1: half open, 2: open.",
    ({ breaker }) => breakerNumbers[breaker],
  )
}

function addCacheMetrics(metrics: Metrics, stats: () => ReturnType<Gateway["state"]>["cache"]): void {
  metrics.gauge("sallyport_cache_entries", "Answers and values that are kept.", [], () => [
    [[], stats().entries],
  ])
  metrics.gauge("sallyport_cache_bytes", "Room that what is kept takes.", [], () => [[[], stats().bytes]])
  metrics.gauge(
    "sallyport_cache_events",
    "Since the process began: what was found, was missed, was kept, and left for want of room.",
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

const breakerNumbers = { none: 0, closed: 0, "half-open": 1, open: 2 } as const
