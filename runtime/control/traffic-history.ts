import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { durationBounds } from "../telemetry/metrics.ts"
import type { TrafficPoint } from "./api.ts"

/** What a process has counted since its start. `requests`: by class of status, 0 to 5; `durations`: by bucket of `durationBounds`; `refusals`: by `problem: reason`. `running`: requests in progress. */
export interface TrafficTotals {
  readonly requests: readonly number[]
  readonly durations: readonly number[]
  readonly refusals: Readonly<Record<string, number>>
  readonly running: number
}

/** Reads the counters; undefined: this process has no gateway. */
export type TrafficSource = () => Promise<TrafficTotals | undefined>

const keptMs = 10 * 60_000
/** While somebody watches, and while nobody does: reading the counters takes less than a millisecond. */
const watchedMs = 1_000
const idleMs = 5_000
/** Milliseconds between two looks at the event loop; the histogram counts them too. */
const loopResolutionMs = 10

/** The traffic of the last ten minutes, by the differences of counters: it adds nothing to requests. */
export class TrafficHistory {
  readonly #source: TrafficSource
  #points: TrafficPoint[] = []
  #before: { readonly totals: TrafficTotals; readonly atMs: number } | undefined
  #loop: IntervalHistogram | undefined
  #timer: NodeJS.Timeout | undefined
  #watchers = new Set<(point: TrafficPoint) => void>()
  #isReading = false

  constructor(source: TrafficSource) {
    this.#source = source
    this.#schedule()
    void this.#read()
  }

  /** Oldest first; undefined: this process has no gateway, or has not counted yet. */
  get points(): readonly TrafficPoint[] | undefined {
    return this.#before === undefined ? undefined : this.#points
  }

  /** Calls `watcher` with each point, once a second, until the returned function is called. */
  watch(watcher: (point: TrafficPoint) => void): () => void {
    this.#watchers.add(watcher)
    if (this.#watchers.size === 1) this.#schedule()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#schedule()
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#loop?.disable()
  }

  /** The event loop is measured only while somebody watches, because that wakes the process a hundred times a second. */
  #schedule(): void {
    clearInterval(this.#timer)
    const isWatched = this.#watchers.size > 0
    this.#loop?.disable()
    this.#loop = isWatched ? monitorEventLoopDelay({ resolution: loopResolutionMs }) : undefined
    this.#loop?.enable()
    this.#timer = setInterval(() => void this.#read(), isWatched ? watchedMs : idleMs)
    this.#timer.unref()
  }

  async #read(): Promise<void> {
    // Workers may take longer than a second to reply.
    if (this.#isReading) return
    this.#isReading = true
    try {
      const totals = await this.#source()
      if (totals !== undefined) this.#add(totals)
    } catch {
      // A part that ends: the next reading has the difference.
    } finally {
      this.#isReading = false
    }
  }

  #add(totals: TrafficTotals): void {
    const atMs = Date.now()
    const before = this.#before
    this.#before = { totals, atMs }
    if (before === undefined) return
    const loop = this.#loop
    const point: TrafficPoint = {
      ...{ at: atMs, ms: atMs - before.atMs },
      ...differenceOf(before.totals, totals),
      running: totals.running,
      memoryBytes: process.memoryUsage.rss(),
      loopMs: loop === undefined || loop.count === 0 ? null : delayOf(loop.percentile(99)),
    }
    loop?.reset()
    this.#points = [...this.#points.filter(({ at }) => at > atMs - keptMs), point]
    for (const watcher of this.#watchers) watcher(point)
  }
}

function delayOf(nanoseconds: number): number {
  return Math.max(0, Math.round((nanoseconds / 1e6 - loopResolutionMs) * 100) / 100)
}

type Difference = Pick<TrafficPoint, "requests" | "refusals" | "p50" | "p95" | "p99">

/** Counters of a worker that ended are missing: a difference is never negative. */
export function differenceOf(before: TrafficTotals, after: TrafficTotals): Difference {
  const durations = after.durations.map((count, at) => Math.max(0, count - (before.durations[at] ?? 0)))
  const refusals = Object.entries(after.refusals).flatMap(([name, count]) => {
    const more = count - (before.refusals[name] ?? 0)
    return more > 0 ? [[name, more] as const] : []
  })
  return {
    requests: after.requests.map((count, at) => Math.max(0, count - (before.requests[at] ?? 0))),
    refusals: Object.fromEntries(refusals),
    p50: percentileOf(durations, 0.5),
    p95: percentileOf(durations, 0.95),
    p99: percentileOf(durations, 0.99),
  }
}

/** Milliseconds, interpolated between the bounds of a bucket; above the last bound it is that bound. Null: nothing was measured. */
function percentileOf(counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let left = all * share
  for (const [at, count] of counts.entries()) {
    if (left <= count && count > 0) {
      const low = durationBounds[at - 1] ?? 0
      const high = durationBounds[at] ?? low
      return Math.round((low + (high - low) * (left / count)) * 100_000) / 100
    }
    left -= count
  }
  return (durationBounds.at(-1) ?? 0) * 1000
}
