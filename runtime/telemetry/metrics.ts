import { monitorEventLoopDelay } from "node:perf_hooks"

/** A number that only grows. */
export interface Counter {
  readonly value: number
  add(amount?: number): void
}

/** Times or sizes, counted by upper bounds. */
export interface Histogram {
  /** Number of measurements by bucket, without those of smaller buckets; the last one has no bound. Do not change it. */
  readonly counts: Float64Array
  /** `from`: the sampled trace in which it was measured; undefined: none. */
  observe(value: number, from?: TracedSpan): void
}

/** The ids of a span in hexadecimal. */
export interface TracedSpan {
  readonly traceId: string
  readonly spanId: string
}

/** A measurement with its trace, as an example for those of its bucket. */
export interface Exemplar extends TracedSpan {
  readonly value: number
  /** Milliseconds since the epoch. */
  readonly atMs: number
}

/** A family of series that differ by label values. Look up `series` once, when the plan is loaded, and keep it. */
export interface Family<Series> {
  series(...labelValues: string[]): Series
  /** All series, with their label values. It makes no texts, so it is cheap enough for every second. */
  all(): Iterable<{ readonly values: readonly string[]; readonly series: Series }>
}

/** Reads the values of a family: label values and a number for each series. */
export type ReadValues = () => Iterable<readonly [labelValues: readonly string[], value: number]>

/** How the gauges of several processes become one: by their sum, or by the largest or smallest value. */
export type Merging = "sum" | "max" | "min"

/** The current values of one metric: samples by the text that names the series, such as `requests_total{route="a"}`. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly kind: "counter" | "gauge" | "histogram"
  /** Counters and histograms: `sum`. */
  readonly merging: Merging
  readonly samples: readonly (readonly [series: string, value: number])[]
  /** The last example of a series, for some series of buckets. Absent: none. */
  readonly exemplars?: readonly (readonly [series: string, exemplar: Exemplar])[]
}

/** Limit on the series of a family. Further label values are counted together under `other`, so that callers cannot grow the page without limit. */
const seriesMax = 2_000
const labelLengthMax = 200
const other = "other"

/** Upper bounds in seconds for the duration of requests. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Metrics of this process in the Prometheus text format (version 0.0.4). Counting changes one field or one typed array; the text is generated only when
 * the page is requested.
 */
export class Metrics {
  readonly #families: { read(): MetricFamily }[] = []
  readonly #names = new Set<string>()

  /** @throws Error if the name is taken: a bug. */
  counter(name: string, help: string, labels: readonly string[] = []): Family<Counter> {
    return this.#add(name, new SeriesTable(name, help, "counter", labels, () => new Sum()))
  }

  /** `bounds` ascend; `+Inf` is added. */
  histogram(
    name: string,
    help: string,
    labels: readonly string[],
    bounds: readonly number[],
  ): Family<Histogram> {
    return this.#add(name, new SeriesTable(name, help, "histogram", labels, () => new Buckets(bounds)))
  }

  /** A value that goes up and down, read when the page is requested. `merging` (default: sum): over the workers of a machine. */
  gauge(name: string, help: string, labels: readonly string[], read: ReadValues, merging?: Merging): void {
    this.#add(name, new ReadFamily(name, help, "gauge", labels, read, merging))
  }

  /** A value that only grows while the process runs and that other code counts. It is read when the page is requested. */
  observableCounter(name: string, help: string, labels: readonly string[], read: ReadValues): void {
    this.#add(name, new ReadFamily(name, help, "counter", labels, read))
  }

  /** The current values of all metrics. */
  read(): MetricFamily[] {
    return this.#families.map((family) => family.read())
  }

  /** The page, content type `text/plain; version=0.0.4`. */
  render(): string {
    return metricsPage(this.read())
  }

  #add<Kind extends { read(): MetricFamily }>(name: string, family: Kind): Kind {
    if (this.#names.has(name)) throw new Error(`metric ${name} is declared twice`)
    this.#names.add(name)
    this.#families.push(family)
    return family
  }
}

/** The metrics page of these values, in the Prometheus text format (version 0.0.4), which has no exemplars. */
export function metricsPage(families: readonly MetricFamily[]): string {
  return families
    .map(({ name, help, kind, samples }) => {
      const lines = samples.map(([series, value]) => `${series} ${numberText(value)}\n`)
      return head(name, help, kind) + lines.join("")
    })
    .join("")
}

type Sample = MetricFamily["samples"][number]

/** A family whose values are read when the page is requested. */
class ReadFamily {
  readonly #family: Omit<MetricFamily, "samples">
  readonly #labels: readonly string[]
  readonly #read: ReadValues

  constructor(
    name: string,
    help: string,
    kind: MetricFamily["kind"],
    labels: readonly string[],
    read: ReadValues,
    merging: Merging = "sum",
  ) {
    this.#family = { name, help, kind, merging }
    this.#labels = labels
    this.#read = read
  }

  read(): MetricFamily {
    const samples: Sample[] = []
    for (const [values, value] of this.#read()) {
      if (samples.length >= seriesMax) break
      samples.push([this.#family.name + labelText(this.#labels, values), value])
    }
    return { ...this.#family, samples }
  }
}

interface ReadsSamples {
  samples(name: string, labels: readonly string[], values: readonly string[]): Sample[]
  /** Histograms only. */
  exemplars?(
    name: string,
    labels: readonly string[],
    values: readonly string[],
  ): (readonly [string, Exemplar])[]
}

class SeriesTable<Series extends ReadsSamples> implements Family<Series> {
  readonly #family: Omit<MetricFamily, "samples">
  readonly #labels: readonly string[]
  readonly #make: () => Series
  readonly #table = new Map<string, { readonly values: readonly string[]; readonly series: Series }>()

  constructor(
    name: string,
    help: string,
    kind: MetricFamily["kind"],
    labels: readonly string[],
    make: () => Series,
  ) {
    this.#family = { name, help, kind, merging: "sum" }
    this.#labels = labels
    this.#make = make
  }

  series(...labelValues: string[]): Series {
    const values = this.#labels.map((_, index) => (labelValues[index] ?? "").slice(0, labelLengthMax))
    const found = this.#table.get(values.join("\u0000"))
    if (found !== undefined) return found.series
    if (this.#table.size >= seriesMax && values.some((value) => value !== other)) {
      return this.series(...this.#labels.map(() => other))
    }
    const series = this.#make()
    this.#table.set(values.join("\u0000"), { values, series })
    return series
  }

  all(): Iterable<{ readonly values: readonly string[]; readonly series: Series }> {
    return this.#table.values()
  }

  read(): MetricFamily {
    const { name } = this.#family
    const table = [...this.#table.values()]
    const samples = table.flatMap(({ values, series }) => series.samples(name, this.#labels, values))
    const exemplars = table.flatMap(
      ({ values, series }) => series.exemplars?.(name, this.#labels, values) ?? [],
    )
    return exemplars.length === 0 ? { ...this.#family, samples } : { ...this.#family, samples, exemplars }
  }
}

class Sum implements Counter, ReadsSamples {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }

  samples(name: string, labels: readonly string[], values: readonly string[]): Sample[] {
    return [[name + labelText(labels, values), this.value]]
  }
}

class Buckets implements Histogram, ReadsSamples {
  readonly #bounds: readonly number[]
  readonly counts: Float64Array
  #sum = 0
  /** Of each bucket, once there is one. */
  #exemplars: (Exemplar | undefined)[] | undefined

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number, from?: TracedSpan): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++
    this.counts[at] = (this.counts[at] as number) + 1
    this.#sum += value
    if (from === undefined) return
    this.#exemplars ??= []
    this.#exemplars[at] = { traceId: from.traceId, spanId: from.spanId, value, atMs: Date.now() }
  }

  /** The name of a bucket's series. */
  #bucket(name: string, labels: readonly string[], values: readonly string[], index: number): string {
    const bound = index < this.#bounds.length ? String(this.#bounds[index]) : "+Inf"
    return `${name}_bucket${labelText([...labels, "le"], [...values, bound])}`
  }

  exemplars(
    name: string,
    labels: readonly string[],
    values: readonly string[],
  ): (readonly [string, Exemplar])[] {
    return (this.#exemplars ?? []).flatMap((exemplar, index) =>
      exemplar === undefined ? [] : [[this.#bucket(name, labels, values, index), exemplar] as const],
    )
  }

  samples(name: string, labels: readonly string[], values: readonly string[]): Sample[] {
    let count = 0
    const buckets = [...this.counts].map((inBucket, index): Sample => {
      count += inBucket
      return [this.#bucket(name, labels, values, index), count]
    })
    const own = labelText(labels, values)
    return [...buckets, [`${name}_sum${own}`, this.#sum], [`${name}_count${own}`, count]]
  }
}

/** The lines above the samples of a metric. */
function head(name: string, help: string, kind: string): string {
  return `# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}\n# TYPE ${name} ${kind}\n`
}

function labelText(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return ""
  return `{${labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? "")}"`).join(",")}}`
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")
}

/** A number in either text format. */
export function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "+Inf" : String(value)
}

/** Memory, CPU, start time and event-loop delay of this process, by the names Prometheus clients use. */
export function addProcessMetrics(metrics: Metrics): void {
  const startSeconds = Date.now() / 1000 - process.uptime()
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", [], () => [
    [[], process.memoryUsage.rss()],
  ])
  metrics.observableCounter("process_cpu_seconds_total", "User and system CPU time.", [], () => {
    const { user, system } = process.cpuUsage()
    return [[[], (user + system) / 1e6]]
  })
  const startHelp = "Start of the process since the epoch."
  metrics.gauge("process_start_time_seconds", startHelp, [], () => [[[], startSeconds]], "min")
  addLagMetrics(metrics)
}

/**
 * Event-loop delay since the last page, as prom-client names it: a gauge for each quantile, because the label `quantile` belongs to
 * summaries.
 */
function addLagMetrics(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(`nodejs_eventloop_lag_${name}_seconds`, help, [], () => [[[], read() / 1e9]], "max")
  gauge("p50", "Median event-loop delay since the last reading.", () => delay.percentile(50))
  gauge("p99", "99th percentile of the event-loop delay since the last reading.", () => delay.percentile(99))
  // The last one of a page to be read begins the next reading.
  gauge("max", "Largest event-loop delay since the last reading.", () => {
    const { max } = delay
    delay.reset()
    return max
  })
}
