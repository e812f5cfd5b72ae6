import * as z from "zod"

/** Whose requests: those that the running plan serves, or those that the plan of the canary serves. */
export type CanarySide = "old" | "new"

/** How a request ended. `failed`: 5xx, or a gRPC code that blames the server. `denied`: the gateway itself answered 4xx. */
export type CanaryOutcome = "ok" | "failed" | "denied"

/** Each bound is this factor above the one before, so a quantile is exact to 15 %. */
const growth = 1.15
const longestMs = 120_000

/** Upper bounds of the buckets of latencies, in milliseconds; a last bucket has everything above. The same in all processes, because they are added. */
export const latencyBoundsMs: readonly number[] = Array.from(
  { length: Math.ceil(Math.log(longestMs) / Math.log(growth)) + 1 },
  (_, index) => growth ** index,
)

const count = z.number().int().min(0)
const sideCounts = z.strictObject({
  requests: count,
  failed: count,
  denied: count,
  latency: z.array(count).length(latencyBoundsMs.length + 1),
})
/** Requests of one side, their outcomes and latencies by bucket. A request without a latency, such as a WebSocket, is in no bucket. */
export type SideCounts = z.infer<typeof sideCounts>

/** The requests of both plans since the canary began. */
export const canaryCounts = z.strictObject({ old: sideCounts, new: sideCounts })
/** See `canaryCounts`. */
export type CanaryCounts = z.infer<typeof canaryCounts>

/** No requests at all. */
export function noCounts(): CanaryCounts {
  const side = () => ({
    ...{ requests: 0, failed: 0, denied: 0 },
    latency: new Array<number>(latencyBoundsMs.length + 1).fill(0),
  })
  return { old: side(), new: side() }
}

/** Counts a request. `durationMs` undefined: it has no latency. */
export function countRequest(
  counts: SideCounts,
  outcome: CanaryOutcome,
  durationMs: number | undefined,
): void {
  counts.requests += 1
  if (outcome !== "ok") counts[outcome] += 1
  if (durationMs === undefined) return
  const bucket = bucketOf(durationMs)
  counts.latency[bucket] = (counts.latency[bucket] ?? 0) + 1
}

function bucketOf(ms: number): number {
  if (ms <= 1) return 0
  return Math.min(latencyBoundsMs.length, Math.ceil(Math.log(ms) / Math.log(growth)))
}

/** The counts of several processes as one. */
export function sumCounts(all: readonly CanaryCounts[]): CanaryCounts {
  const sum = noCounts()
  for (const each of all)
    for (const side of ["old", "new"] as const) {
      const { requests, failed, denied, latency } = each[side]
      const into = sum[side]
      into.requests += requests
      into.failed += failed
      into.denied += denied
      for (const [bucket, number] of latency.entries())
        into.latency[bucket] = (into.latency[bucket] ?? 0) + number
    }
  return sum
}

/** Latency in milliseconds below which this share of the requests lies, by its bucket's upper bound; undefined without requests. */
export function quantileMs({ latency }: SideCounts, share: number): number | undefined {
  const total = latency.reduce((sum, number) => sum + number, 0)
  if (total === 0) return undefined
  let left = Math.max(1, Math.ceil(share * total))
  for (const [bucket, number] of latency.entries()) {
    left -= number
    if (left <= 0) return latencyBoundsMs[bucket] ?? longestMs
  }
  return longestMs
}
