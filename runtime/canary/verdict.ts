import * as z from "zod"
import type { CanaryCounts, SideCounts } from "./counts.ts"
import { quantileMs } from "./latency.ts"

const points = z.number().min(0).max(100).nullable()

/**
 * When a canary ends early. `errorPoints`, `denialPoints`: percentage points by which the rate may be above that of the old plan; null: not compared.
 * `latencyRatio`: how many times the old plan's 95th percentile that of the new plan may be; null: not compared. `requestsMin`: nothing is decided
 * while the new plan has served fewer requests.
 */
export const canaryLimits = z.strictObject({
  errorPoints: points.default(1),
  denialPoints: points.default(1),
  latencyRatio: z.number().min(1).max(1_000).nullable().default(1.5),
  requestsMin: z.number().int().min(0).max(10_000_000).default(50),
})
/** See `canaryLimits`. */
export type CanaryLimits = z.infer<typeof canaryLimits>

/** What the counts say. `worse`: the new plan is worse than allowed, for this reason. */
export type CanaryVerdict =
  | { readonly kind: "worse"; readonly reason: string }
  | { readonly kind: "too-few"; readonly reason: string }
  | { readonly kind: "as-good" }

/** One-sided 99.9 %: the counts are looked at every second, and each look may err. */
const z999 = 3.09
/** A ratio of latencies that both are below this says more about the machine than about a plan. */
const noticeableMs = 10

/**
 * Compares the new plan with the old one over the same time. A limit is exceeded when the difference is above it with 99.9 % confidence, so that few
 * requests need a large difference, and many a small one.
 */
export function verdictOf(counts: CanaryCounts, limits: CanaryLimits): CanaryVerdict {
  const { requests } = counts.new
  if (requests < limits.requestsMin)
    return {
      kind: "too-few",
      reason: `the new plan served ${requests} of at least ${limits.requestsMin} requests`,
    }
  const reason =
    worseRate(counts, "failed", "errors", limits.errorPoints) ??
    worseRate(counts, "denied", "denials", limits.denialPoints) ??
    worseLatency(counts, limits.latencyRatio)
  return reason === undefined ? { kind: "as-good" } : { kind: "worse", reason }
}

function worseRate(
  { old, new: fresh }: CanaryCounts,
  outcome: "failed" | "denied",
  what: string,
  pointsMax: number | null,
): string | undefined {
  if (pointsMax === null) return undefined
  if (100 * leastIncrease(rateOf(old, outcome), rateOf(fresh, outcome)) <= pointsMax) return undefined
  const [before, after] = [old, fresh].map((side) => percentText(side[outcome], side.requests))
  return `${what}: ${after} of the new plan's requests, ${before} of the old plan's; allowed are ${pointsMax} points more`
}

interface Rate {
  readonly of: number
  readonly share: number
}

function rateOf(side: SideCounts, outcome: "failed" | "denied"): Rate {
  return { of: side.requests, share: side.requests === 0 ? 0 : side[outcome] / side.requests }
}

/** The lower bound of the difference of two shares: Newcombe (1998), method 10, from the intervals of Wilson. */
function leastIncrease(old: Rate, fresh: Rate): number {
  const below = fresh.share - wilson(fresh).low
  // Without requests of the old plan nothing is known to have failed.
  const above = old.of === 0 ? 0 : wilson(old).high - old.share
  return fresh.share - old.share - Math.hypot(below, above)
}

function wilson({ of, share }: Rate): { readonly low: number; readonly high: number } {
  if (of === 0) return { low: 0, high: 1 }
  const square = z999 ** 2
  const middle = (share + square / (2 * of)) / (1 + square / of)
  const half = (z999 / (1 + square / of)) * Math.sqrt((share * (1 - share)) / of + square / (4 * of ** 2))
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

const percentile = 0.95

/** The bounds of a percentile are percentiles themselves: those at which the number of slower requests is still likely. */
function worseLatency({ old, new: fresh }: CanaryCounts, ratioMax: number | null): string | undefined {
  if (ratioMax === null) return undefined
  const half = ({ latency }: SideCounts) => {
    const of = latency.reduce((sum, number) => sum + number, 0)
    return of === 0 ? 1 : z999 * Math.sqrt((percentile * (1 - percentile)) / of)
  }
  const least = quantileMs(fresh, Math.max(0, percentile - half(fresh)))
  const most = quantileMs(old, Math.min(1, percentile + half(old)))
  if (least === undefined || most === undefined || least <= noticeableMs) return undefined
  if (least <= ratioMax * Math.max(most, noticeableMs / ratioMax)) return undefined
  const [before, after] = [old, fresh].map((side) => `${Math.round(quantileMs(side, percentile) ?? 0)} ms`)
  return `latency: 95 % of the new plan's requests take up to ${after}, of the old plan's ${before}; allowed is ${ratioMax} times as much`
}

/** A share in percent, to one digit. */
export function percentText(part: number, of: number): string {
  return of === 0 ? "0 %" : `${Math.round((1_000 * part) / of) / 10} %`
}
