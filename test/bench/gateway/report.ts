import type { Round } from "./load.ts"

/** One line of the table. */
export function row(fields: {
  readonly what: string
  readonly value: number | string
  readonly unit?: string
  readonly spread?: string
  readonly cpu?: string
  readonly latency?: string
  readonly bar?: string
  readonly ok?: boolean
}): void {
  console.log(JSON.stringify(fields))
}

/** Throughput, CPU time and latency of a server. */
export function rounds(what: string, of: readonly Round[]): void {
  const rates = of.map(({ perSecond }) => perSecond)
  const cpu = of.map(({ cpuMicros }) => cpuMicros)
  const latency = [of.map(({ p50 }) => p50), of.map(({ p99 }) => p99)].map((each) =>
    (median(each) / 1000).toFixed(1),
  )
  row({
    what,
    value: Math.round(median(rates)),
    unit: "/s",
    spread: spread(rates, 0),
    cpu: `${median(cpu).toFixed(0)} µs (${spread(cpu, 0)})`,
    latency: `${latency.join(" / ")} ms`,
  })
}

/** Ratios of rounds that followed each other, so that a busy machine hit both. */
export function ratio(what: string, ratios: readonly number[], bar?: number): void {
  const value = median(ratios)
  const judged = bar === undefined ? {} : { bar: `≥ ${bar}`, ok: value >= bar }
  row({ what, value: value.toFixed(2), unit: "×", spread: spread(ratios, 2), ...judged })
}

/** As `ratio`, of what costs the more the higher it is. */
export function costRatio(what: string, ratios: readonly number[], most?: number): void {
  const value = median(ratios)
  const judged = most === undefined ? {} : { bar: `≤ ${most}`, ok: value <= most }
  row({ what, value: value.toFixed(2), unit: "×", spread: spread(ratios, 2), ...judged })
}

/** What something adds to the CPU time of a request, in µs. */
export function micros(what: string, all: readonly number[]): void {
  row({ what, value: median(all).toFixed(1), unit: "µs", spread: spread(all, 1) })
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

/** Lowest and highest; of ten values or more without the outer tenths, which are what else the machine did. */
function spread(values: readonly number[], digits: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  const left = Math.floor(sorted.length / 10)
  return `${sorted[left]?.toFixed(digits)}–${sorted.at(-1 - left)?.toFixed(digits)}`
}
