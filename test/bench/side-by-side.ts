const rounds = 9

/** How two ways of doing the same are measured. `least` is the bar: how many times faster the first has to be. */
export interface Measuring {
  readonly roundMs: number
  /** Rounds that warm up and are not counted. */
  readonly warmUps: number
  /** What the second is, behind the ratio: `× CEL`. */
  readonly unit: string
  readonly least: number
}

/** Measures both in turn, so that a busy machine hits both, and prints how many times faster the first is. */
export function compare(
  what: string,
  our: () => unknown,
  their: () => unknown,
  { roundMs, warmUps, unit, least }: Measuring,
): void {
  const rates: number[] = []
  const ratios: number[] = []
  for (let round = -warmUps; round < rounds; round++) {
    const rate = rateOf(our, roundMs)
    const ratio = rate / rateOf(their, roundMs)
    if (round < 0) continue
    rates.push(rate)
    ratios.push(ratio)
  }
  for (const list of [rates, ratios]) list.sort((a, b) => a - b)
  const median = ratios[rounds >> 1] ?? 0
  const show = (ratio: number) => ratio.toFixed(2)
  const line = {
    what: `${what} (${Math.round(rates[rounds >> 1] ?? 0)} k/CPU-s)`,
    value: Number(show(median)),
    unit,
    spread: `${show(ratios[0] ?? 0)}–${show(ratios[rounds - 1] ?? 0)}`,
    bar: `≥ ${least}`,
    ok: median >= least,
  }
  console.log(JSON.stringify(line))
}

/** Ends the bench when something gives another value than it should: a fast wrong answer is no figure. */
export function must(value: unknown, wanted: unknown, what: string): void {
  if (value !== wanted) throw new Error(`${what} gives ${String(value)}`)
}

/** Thousands of calls in a CPU second. */
function rateOf(work: () => unknown, roundMs: number): number {
  const cpu = process.cpuUsage()
  const end = performance.now() + roundMs
  let done = 0
  while (performance.now() < end) {
    for (let turn = 0; turn < 64; turn++) work()
    done += 64
  }
  const { user, system } = process.cpuUsage(cpu)
  return (done / (user + system)) * 1000
}
