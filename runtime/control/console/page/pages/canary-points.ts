import { effect, signal } from "@preact/signals"
import { quantileMs } from "../../../../canary/latency.ts"
import type { CanaryRecord } from "../../../api.ts"
import { status } from "../events.ts"
import type { Line } from "../parts/plot.tsx"

type Counts = NonNullable<CanaryRecord["counts"]>
type Side = Counts["old"]

/** What a canary had counted at a moment, in seconds since the epoch, since it began. */
export interface CanaryPoint {
  readonly at: number
  readonly old: SidePoint
  readonly new: SidePoint
}

interface SidePoint {
  readonly requests: number
  readonly failed: number
  readonly denied: number
  readonly p95: number | undefined
}

/** A canary may run for a month, so of older points every second one is kept each time that there are this many. */
const pointsMax = 600
/** Latencies that both are below this are not compared (runtime/canary/verdict.ts). */
const noticeableMs = 10

let canaryId = ""
/** The points of the canary that runs, since this page was opened. Not more than 600. */
export const canaryPoints = signal<readonly CanaryPoint[]>([])

effect(() => {
  const canary = status.value?.canary
  if (canary?.state !== "running" || canary.counts === null) return
  const earlier = canary.id === canaryId ? canaryPoints.peek() : []
  canaryId = canary.id
  canaryPoints.value = withPoint(earlier, pointOf(canary.counts, Date.now() / 1000))
})

function pointOf(counts: Counts, at: number): CanaryPoint {
  return { at, old: sideOf(counts.old), new: sideOf(counts.new) }
}

function sideOf(side: Side): SidePoint {
  const { requests, failed, denied } = side
  return { requests, failed, denied, p95: quantileMs(side, 0.95) }
}

/** With one more point. The counts are sums, so a point that is left out loses nothing but detail. */
export function withPoint(points: readonly CanaryPoint[], point: CanaryPoint): readonly CanaryPoint[] {
  const kept = points.length < pointsMax ? points : points.filter((_, at) => at % 2 === 0)
  return [...kept, point]
}

/** The share of requests with an outcome, in percent, of both plans, and how high the new plan's may be. */
export function rateLines(
  points: readonly CanaryPoint[],
  outcome: "failed" | "denied",
  pointsAllowed: number | null,
): readonly Line[] {
  const share = (side: SidePoint) => (side.requests === 0 ? null : (100 * side[outcome]) / side.requests)
  const limit = (point: CanaryPoint) => {
    const old = share(point.old)
    return old === null || pointsAllowed === null ? null : Math.min(100, old + pointsAllowed)
  }
  return linesOf(points, share, pointsAllowed === null ? undefined : limit)
}

/** The 95th percentile of latency in milliseconds of both plans, and how high the new plan's may be. */
export function latencyLines(points: readonly CanaryPoint[], ratio: number | null): readonly Line[] {
  const p95 = (side: SidePoint) => side.p95 ?? null
  const limit = ({ old }: CanaryPoint) =>
    ratio === null || old.p95 === undefined ? null : Math.max(noticeableMs, old.p95 * ratio)
  return linesOf(points, p95, ratio === null ? undefined : limit)
}

function linesOf(
  points: readonly CanaryPoint[],
  of: (side: SidePoint) => number | null,
  limit: ((point: CanaryPoint) => number | null) | undefined,
): readonly Line[] {
  const lines: Line[] = [
    { label: "old plan", tone: "c1", values: points.map((each) => of(each.old)) },
    { label: "new plan", tone: "c3", values: points.map((each) => of(each.new)) },
  ]
  if (limit === undefined) return lines
  return [...lines, { label: "allowed", tone: "c4", values: points.map(limit), isLimit: true }]
}
