/** Each bound is this factor above the one before, so a quantile is exact to 15 %. */
const growth = 1.15
const longestMs = 120_000

/** Upper bounds of the buckets of latencies, in milliseconds; a last bucket has everything above. The same in all processes, because they are added. */
export const latencyBoundsMs: readonly number[] = Array.from(
  { length: Math.ceil(Math.log(longestMs) / Math.log(growth)) + 1 },
  (_, index) => growth ** index,
)

/** The bucket of a latency in milliseconds. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0
  return Math.min(latencyBoundsMs.length, Math.ceil(Math.log(ms) / Math.log(growth)))
}

/** Latency in milliseconds below which this share of the requests lies, by its bucket's upper bound; undefined without requests. `latency`: requests by bucket. */
export function quantileMs(
  { latency }: { readonly latency: readonly number[] },
  share: number,
): number | undefined {
  const total = latency.reduce((sum, number) => sum + number, 0)
  if (total === 0) return undefined
  let left = Math.max(1, Math.ceil(share * total))
  for (const [bucket, number] of latency.entries()) {
    left -= number
    if (left <= 0) return latencyBoundsMs[bucket] ?? longestMs
  }
  return longestMs
}
