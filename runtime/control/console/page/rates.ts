import type { RouteCounts } from "../../api.ts"

/** The traffic of a route between two readings. `errorShare`: responses of 500 and more, from 0 to 1. `p95` in milliseconds; null: no request. */
export interface Rate {
  readonly perSecond: number
  readonly errorShare: number
  readonly refusedShare: number
  readonly p95: number | null
}

/** The rate between two readings of counters. `bounds`: of the buckets, in seconds. */
export function rateOf(
  before: RouteCounts | undefined,
  after: RouteCounts,
  bounds: readonly number[],
  seconds: number,
): Rate {
  const more = (name: keyof RouteCounts) =>
    after[name].map((count, at) => Math.max(0, count - (before?.[name][at] ?? 0)))
  const requests = more("requests")
  const all = requests.reduce((sum, count) => sum + count, 0)
  return {
    perSecond: all / seconds,
    errorShare: all === 0 ? 0 : (requests[5] ?? 0) / all,
    refusedShare: all === 0 ? 0 : (requests[4] ?? 0) / all,
    p95: percentile(more("durations"), bounds, 0.95),
  }
}

/** A percentile of counts by bucket, in milliseconds; null: nothing was counted. `share`: 0.95 for p95. `bounds` in seconds. */
export function percentile(
  counts: readonly number[],
  bounds: readonly number[],
  share: number,
): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let left = all * share
  for (const [at, count] of counts.entries()) {
    const low = bounds[at - 1] ?? 0
    const high = bounds[at] ?? low
    if (left <= count && count > 0) return (low + (high - low) * (left / count)) * 1000
    left -= count
  }
  return (bounds.at(-1) ?? 0) * 1000
}
