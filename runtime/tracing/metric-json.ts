import type { Exemplar, MetricFamily } from "../telemetry/metrics.ts"

/** `AGGREGATION_TEMPORALITY_DELTA` and `AGGREGATION_TEMPORALITY_CUMULATIVE` of OTLP. */
const deltaTemporality = 1
const cumulativeTemporality = 2

/** The time that the values are about, in milliseconds since the epoch. */
export interface MetricTimes {
  /** Start of the sums: of the process, or the last export that was accepted. */
  readonly fromMs: number
  readonly toMs: number
}

/** The values of counters and histograms at the last export that was accepted, by series. */
export type EarlierValues = ReadonlyMap<string, number>

/**
 * Metrics as members of OTLP's `ScopeMetrics.metrics`. They have the names and labels of the page for Prometheus. `earlier`: what counters and histograms
 * are the difference to; undefined: they are sums.
 */
export function metricsOfFamilies(
  families: readonly MetricFamily[],
  times: MetricTimes,
  earlier?: EarlierValues,
): object[] {
  const temporality = earlier === undefined ? cumulativeTemporality : deltaTemporality
  return families.flatMap((family): object[] => {
    const { name, help: description, kind } = family
    const points =
      kind === "histogram" ? histogramPoints(family, times, earlier) : numberPoints(family, times, earlier)
    if (points.length === 0) return []
    const head = { name, description, unit: unitOf(name) }
    if (kind === "gauge") return [{ ...head, gauge: { dataPoints: points } }]
    const data = { aggregationTemporality: temporality, dataPoints: points }
    return [
      kind === "histogram" ? { ...head, histogram: data } : { ...head, sum: { ...data, isMonotonic: true } },
    ]
  })
}

/** All values of counters and histograms, for the next difference. */
export function countedValues(families: readonly MetricFamily[]): EarlierValues {
  return new Map(families.flatMap(({ kind, samples }) => (kind === "gauge" ? [] : samples)))
}

/** Units as UCUM writes them; the name of a metric ends with its unit. */
function unitOf(name: string): string {
  const [, unit] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? []
  return unit === "seconds" ? "s" : unit === "bytes" ? "By" : ""
}

/** A value that is smaller than before was counted from zero again. */
function since(earlier: EarlierValues | undefined, series: string, value: number): number {
  const before = earlier?.get(series) ?? 0
  return value >= before ? value - before : value
}

function numberPoints(
  { kind, samples }: MetricFamily,
  { fromMs, toMs }: MetricTimes,
  earlier: EarlierValues | undefined,
): object[] {
  return samples.flatMap(([series, value]) => {
    if (!Number.isFinite(value)) return []
    const point = { ...attributesOf(series), timeUnixNano: nanoseconds(toMs) }
    if (kind === "gauge") return [{ ...point, asDouble: value }]
    return [{ ...point, startTimeUnixNano: nanoseconds(fromMs), asDouble: since(earlier, series, value) }]
  })
}

/** The samples of one histogram. */
interface Buckets {
  readonly attributes: object
  readonly bounds: number[]
  /** Cumulative, as Prometheus counts. */
  readonly counts: number[]
  readonly exemplars: object[]
  sum: number
}

/** Samples of buckets ascend and come before `_sum` and `_count`. */
function histogramPoints(
  { name, samples, exemplars = [] }: MetricFamily,
  { fromMs, toMs }: MetricTimes,
  earlier: EarlierValues | undefined,
): object[] {
  const known = new Map(exemplars)
  const found = new Map<string, Buckets>()
  for (const [series, value] of samples) {
    const labels = series.slice(series.indexOf("{") === -1 ? series.length : series.indexOf("{"))
    const own = labels.replace(/,?le="[^"]*"\}$/, "}").replace(/^\{\}$/, "")
    const buckets = found.get(own) ?? {
      attributes: attributesOf(own),
      bounds: [],
      counts: [],
      exemplars: [],
      sum: 0,
    }
    found.set(own, buckets)
    if (series.startsWith(`${name}_bucket{`)) {
      const [, bound = ""] = /le="([^"]*)"\}$/.exec(labels) ?? []
      if (bound !== "+Inf") buckets.bounds.push(Number(bound))
      buckets.counts.push(since(earlier, series, value))
      const exemplar = known.get(series)
      if (exemplar !== undefined && exemplar.atMs >= fromMs) buckets.exemplars.push(exemplarOf(exemplar))
    } else if (series.startsWith(`${name}_sum`)) buckets.sum = since(earlier, series, value)
  }
  return [...found.values()].map(({ attributes, bounds, counts, exemplars: examples, sum }) => ({
    ...attributes,
    ...{ startTimeUnixNano: nanoseconds(fromMs), timeUnixNano: nanoseconds(toMs), sum },
    count: String(counts.at(-1) ?? 0),
    bucketCounts: counts.map((count, at) => String(count - (counts[at - 1] ?? 0))),
    explicitBounds: bounds,
    ...(examples.length === 0 ? {} : { exemplars: examples }),
  }))
}

function exemplarOf({ traceId, spanId, value, atMs }: Exemplar): object {
  return { timeUnixNano: nanoseconds(atMs), asDouble: value, spanId, traceId }
}

const label = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** The labels of a series: `name{a="b",c="d"}`. Empty labels are left out, as Prometheus does. */
function attributesOf(series: string): { readonly attributes?: object[] } {
  const attributes = [...series.matchAll(label)].flatMap(([, key = "", value = ""]) =>
    value === "" ? [] : [{ key, value: { stringValue: value.replace(/\\(.)/g, unescaped) } }],
  )
  return attributes.length === 0 ? {} : { attributes }
}

function unescaped(_: string, character: string): string {
  return character === "n" ? "\n" : character
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`
}
