import type { Counter, Family, Metrics } from "../telemetry/metrics.ts"

const namesMax = 200
const seriesMax = 1_000

interface AuthorMetric {
  readonly labels: readonly string[]
  readonly family: Family<Counter>
  readonly series: Map<string, Counter>
}

/**
 * Counters that `metric` statements name, as `author_NAME_total`: no name of theirs is one of ours. Labels are those a name came with first; at most 200 names, 1,000
 * series of each, the rest counts as `other`.
 */
export class AuthorMetrics {
  readonly #metrics: Metrics
  readonly #known = new Map<string, AuthorMetric>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  add(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    const metric = this.#known.get(name) ?? this.#make(name, Object.keys(labels))
    const values = metric.labels.map((label) => (Object.hasOwn(labels, label) ? (labels[label] ?? "") : ""))
    const key = values.join("\u0000")
    let series = metric.series.get(key)
    if (series === undefined) {
      const others = metric.series.size >= seriesMax
      series = metric.family.series(...(others ? values.map(() => "other") : values))
      if (!others) metric.series.set(key, series)
    }
    series.add(value)
  }

  #make(name: string, labels: readonly string[]): AuthorMetric {
    const full = this.#known.size >= namesMax
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
