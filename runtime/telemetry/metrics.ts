import { monitorEventLoopDelay } from "node:perf_hooks"

/** A number that only grows. */
export interface Counter {
  add(amount?: number): void
}

/** Times or sizes, counted by upper bounds. */
export interface Histogram {
  observe(value: number): void
}

/** A family of series that differ by label values. Look up `series` once, when the plan is loaded, and keep it. */
export interface Family<Series> {
  series(...labelValues: string[]): Series
}

/** Reads the values of a family: label values and a number for each series. */
export type ReadValues = () => Iterable<readonly [labelValues: readonly string[], value: number]>

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
  readonly #families: { render(): string }[] = []
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

  /** A value that goes up and down, read when the page is requested. */
  gauge(name: string, help: string, labels: readonly string[], read: ReadValues): void {
    this.#add(name, new ReadFamily(name, help, "gauge", labels, read))
  }

  /** A value that only grows while the process runs and that other code counts. It is read when the page is requested. */
  observableCounter(name: string, help: string, labels: readonly string[], read: ReadValues): void {
    this.#add(name, new ReadFamily(name, help, "counter", labels, read))
  }

  /** The page, content type `text/plain; version=0.0.4`. */
  render(): string {
    return this.#families.map((family) => family.render()).join("")
  }

  #add<Kind extends { render(): string }>(name: string, family: Kind): Kind {
    if (this.#names.has(name)) throw new Error(`metric ${name} is declared twice`)
    this.#names.add(name)
    this.#families.push(family)
    return family
  }
}

/** A family whose values are read when the page is requested. */
class ReadFamily {
  readonly #name: string
  readonly #head: string
  readonly #labels: readonly string[]
  readonly #read: ReadValues

  constructor(name: string, help: string, kind: string, labels: readonly string[], read: ReadValues) {
    this.#name = name
    this.#head = head(name, help, kind)
    this.#labels = labels
    this.#read = read
  }

  render(): string {
    let text = this.#head
    let rows = 0
    for (const [values, value] of this.#read()) {
      if (++rows > seriesMax) break
      text += `${this.#name}${labelText(this.#labels, values)} ${numberText(value)}\n`
    }
    return text
  }
}

interface Renders {
  render(name: string, labels: readonly string[], values: readonly string[]): string
}

class SeriesTable<Series extends Renders> implements Family<Series> {
  readonly #name: string
  readonly #head: string
  readonly #labels: readonly string[]
  readonly #make: () => Series
  readonly #table = new Map<string, { readonly values: readonly string[]; readonly series: Series }>()

  constructor(name: string, help: string, kind: string, labels: readonly string[], make: () => Series) {
    this.#name = name
    this.#head = head(name, help, kind)
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

  render(): string {
    let text = this.#head
    for (const { values, series } of this.#table.values())
      text += series.render(this.#name, this.#labels, values)
    return text
  }
}

class Sum implements Counter, Renders {
  #value = 0

  add(amount = 1): void {
    this.#value += amount
  }

  render(name: string, labels: readonly string[], values: readonly string[]): string {
    return `${name}${labelText(labels, values)} ${numberText(this.#value)}\n`
  }
}

class Buckets implements Histogram, Renders {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + 1
    this.#sum += value
  }

  render(name: string, labels: readonly string[], values: readonly string[]): string {
    let text = ""
    let count = 0
    this.#counts.forEach((inBucket, index) => {
      count += inBucket
      const bound = index < this.#bounds.length ? String(this.#bounds[index]) : "+Inf"
      text += `${name}_bucket${labelText([...labels, "le"], [...values, bound])} ${count}\n`
    })
    const own = labelText(labels, values)
    return `${text}${name}_sum${own} ${numberText(this.#sum)}\n${name}_count${own} ${count}\n`
  }
}

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

function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "+Inf" : String(value)
}

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
