import * as z from "zod"
import { bucketOf, latencyBoundsMs } from "./latency.ts"

/** Whose requests: those that the running plan serves, or those that the plan of the canary serves. */
export type CanarySide = "old" | "new"

/** How a request ended. `failed`: 5xx, or a gRPC code that blames the server. `denied`: the gateway itself answered 4xx. */
export type CanaryOutcome = "ok" | "failed" | "denied"

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
