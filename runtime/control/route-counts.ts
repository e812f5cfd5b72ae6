import type { RouteCounts } from "./api.ts"

/** What two processes or two routes have counted, as one. */
export function addedCounts(one: RouteCounts | undefined, other: RouteCounts): RouteCounts {
  if (one === undefined) return other
  return {
    requests: addedNumbers(one.requests, other.requests),
    durations: addedNumbers(one.durations, other.durations),
  }
}

/** Two lists of counts as one, place by place. */
export function addedNumbers(one: readonly number[], other: readonly number[]): number[] {
  return one.map((count, at) => count + (other[at] ?? 0))
}
