/**
 * Latencies as counts by fixed bounds: any two sketches are added place by place, whoever made them. The first bucket ends at 0.25 ms, each next one is a
 * fifth wider, the last one has all that took longer than 89 s. What is read from one is within a tenth of the truth.
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

/** The time that a share of all calls (0 to 1) took at most, in milliseconds; undefined when there were none. */
export function quantile(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  const at = counts.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  // The middle of the bucket, by ratio.
  return at === 0 ? firstBoundMs : firstBoundMs * growth ** (at - 0.5)
}
