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

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

function spread(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`
}
