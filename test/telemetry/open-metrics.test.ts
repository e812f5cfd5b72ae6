import { expect, test } from "vitest"
import { Metrics, metricsPage } from "../../runtime/telemetry/metrics.ts"
import { acceptsOpenMetrics, openMetricsPage } from "../../runtime/telemetry/open-metrics.ts"
import { mergedMetrics } from "../../runtime/workers/sums.ts"

const span = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }

function ofOne(value: number): Metrics {
  const metrics = new Metrics()
  metrics.counter("requests_total", 'Requests of "a".', ["route"]).series("GET /a").add(2)
  const times = metrics.histogram("duration_seconds", "Times.", [], [0.5, 1]).series()
  times.observe(0.1)
  times.observe(value, span)
  metrics.gauge("memory_bytes", "Memory.", [], () => [[[], 4096]])
  return metrics
}

test("the page of OpenMetrics has exemplars, and ends with a mark", () => {
  const page = openMetricsPage(ofOne(0.75).read()).replace(/(0\.75) \d{10}(\.\d{1,3})?$/m, "$1 TIME")
  expect(page).toBe(`# HELP requests Requests of \\"a\\".
# TYPE requests counter
requests_total{route="GET /a"} 2
# HELP duration_seconds Times.
# TYPE duration_seconds histogram
duration_seconds_bucket{le="0.5"} 1
duration_seconds_bucket{le="1.0"} 2 # {trace_id="${span.traceId}",span_id="${span.spanId}"} 0.75 TIME
duration_seconds_bucket{le="+Inf"} 2
duration_seconds_sum 0.85
duration_seconds_count 2
# HELP memory_bytes Memory.
# TYPE memory_bytes gauge
memory_bytes 4096
# EOF
`)
})

test("the page for Prometheus has none", () => {
  expect(metricsPage(ofOne(0.75).read())).toContain('duration_seconds_bucket{le="1"} 2\n')
})

test("of several processes, the last exemplar of a series is kept", () => {
  const families = mergedMetrics([ofOne(0.75).read(), ofOne(0.8).read(), ofOne(3).read()])
  const { exemplars } = families.find(({ name }) => name === "duration_seconds") ?? {}
  expect(exemplars?.map(([series, { value }]) => [series, value])).toEqual([
    ['duration_seconds_bucket{le="1"}', 0.8],
    ['duration_seconds_bucket{le="+Inf"}', 3],
  ])
})

test.each([
  ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1", true],
  ["Application/OpenMetrics-Text", true],
  ["application/openmetrics-text;q=0,text/plain", false],
  ["text/plain, */*", false],
  [undefined, false],
])("Accept %s: %s", (accept, is) => {
  expect(acceptsOpenMetrics(accept)).toBe(is)
})
