/**
 * Latencies as counts in fixed buckets: sketches of any processes can be added bucket by bucket. The first bucket ends at 0.25 ms, each next one is a
 * fifth wider, the last one holds everything above 89 s. Results are within a tenth of the exact value.
 */
export const sketchLength = 72

const firstBoundMs = 0.25
const growth = 1.2
const logOfGrowth = Math.log(growth)

/** The bucket of a time in milliseconds. */
export function bucketOf(ms: number): number {
  if (!(ms > firstBoundMs)) return 0
  return Math.min(sketchLength - 1, Math.ceil(Math.log(ms / firstBoundMs) / logOfGrowth))
}

/** The time in milliseconds that a share of all calls (0 to 1) did not exceed; undefined without calls. */
export function quantile(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  const at = counts.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  // The geometric middle of the bucket.
  return at === 0 ? firstBoundMs : firstBoundMs * growth ** (at - 0.5)
}
