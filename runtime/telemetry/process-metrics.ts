import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Metrics } from "./metrics.ts"

/** Memory, CPU, start time and event-loop delay of this process, by the names Prometheus clients use. */
export function addProcessMetrics(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const startSeconds = Date.now() / 1000 - process.uptime()
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", [], () => [
    [[], process.memoryUsage.rss()],
  ])
  metrics.observableCounter("process_cpu_seconds_total", "User and system CPU time.", [], () => {
    const { user, system } = process.cpuUsage()
    return [[[], (user + system) / 1e6]]
  })
  metrics.gauge("process_start_time_seconds", "Start of the process since the epoch.", [], () => [
    [[], startSeconds],
  ])
  metrics.gauge(
    "nodejs_eventloop_lag_seconds",
    "Event-loop delay since the last reading.",
    ["quantile"],
    () => {
      const readings = [0.5, 0.99, 1].map(
        (quantile) =>
          [
            [String(quantile)],
            (quantile === 1 ? delay.max : delay.percentile(quantile * 100)) / 1e9,
          ] as const,
      )
      delay.reset()
      return readings
    },
  )
}
