import { type Exemplar, type MetricFamily, numberText } from "./metrics.ts"

/** The content type of a page of OpenMetrics. */
export const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

/** Whether an Accept field asks for OpenMetrics, which is never sent to others: to `*` and browsers Prometheus' text is more familiar. */
export function acceptsOpenMetrics(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    return type === "application/openmetrics-text" && !parameters.some((each) => /^q=0(\.0*)?$/.test(each))
  })
}

/**
 * The metrics page in the text format of OpenMetrics 1.0. It differs from that of Prometheus: counters have their name without `_total` in the lines above
 * their samples, bounds are written as floating-point numbers, and series of buckets may have an exemplar.
 */
export function openMetricsPage(families: readonly MetricFamily[]): string {
  return `${families.map(familyText).join("")}# EOF\n`
}

function familyText({ name, help, kind, samples, exemplars = [] }: MetricFamily): string {
  const family = kind === "counter" ? name.replace(/_total$/, "") : name
  const text = help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"')
  const known = new Map(exemplars)
  const lines = samples.map(([series, value]) => {
    const shown = kind === "histogram" ? withFloatBound(series) : series
    return `${shown} ${numberText(value)}${exemplarText(known.get(series))}\n`
  })
  return `# HELP ${family} ${text}\n# TYPE ${family} ${kind}\n${lines.join("")}`
}

/** `le="1"` as `le="1.0"` (OpenMetrics, "Considerations: Canonical Numbers"). The bound is the last label. */
function withFloatBound(series: string): string {
  return series.replace(/le="(\d+)"\}$/, 'le="$1.0"}')
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return ""
  const { traceId, spanId, value, atMs } = exemplar
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${numberText(value)} ${atMs / 1000}`
}
