import { describe, expect, it } from "vitest"
import {
  type CanaryCounts,
  canaryCounts,
  countRequest,
  noCounts,
  sumCounts,
} from "../../runtime/canary/counts.ts"
import { latencyBoundsMs, quantileMs } from "../../runtime/canary/latency.ts"
import { canaryLimits, verdictOf } from "../../runtime/canary/verdict.ts"

interface Side {
  readonly of: number
  readonly failed?: number
  readonly denied?: number
  readonly ms?: number
}

function counted(old: Side, fresh: Side): CanaryCounts {
  const counts = noCounts()
  for (const [side, { of, failed = 0, denied = 0, ms = 5 }] of [
    [counts.old, old],
    [counts.new, fresh],
  ] as const)
    for (let at = 0; at < of; at += 1)
      countRequest(side, at < failed ? "failed" : at < failed + denied ? "denied" : "ok", ms)
  return counts
}

const defaults = canaryLimits.parse({})
const judged = (old: Side, fresh: Side, limits = {}) =>
  verdictOf(counted(old, fresh), { ...defaults, ...limits })

describe("the counts of a canary", () => {
  it("add up over processes and survive being stored", () => {
    const one = counted({ of: 10, failed: 1 }, { of: 3, denied: 2, ms: 70 })
    const two = canaryCounts.parse(JSON.parse(JSON.stringify(one)))
    const sum = sumCounts([one, two])
    expect([sum.old.requests, sum.old.failed, sum.new.requests, sum.new.denied]).toEqual([20, 2, 6, 4])
    expect(quantileMs(sum.new, 0.5)).toBe(quantileMs(one.new, 0.5))
  })

  it.each([0, 0.4, 1, 1.01, 5, 37, 999, 60_000])("know a latency of %d ms to 15 %%", (ms) => {
    const counts = counted({ of: 1, ms }, { of: 0 })
    const found = quantileMs(counts.old, 0.95) ?? 0
    expect(found).toBeGreaterThanOrEqual(ms)
    expect(found).toBeLessThanOrEqual(Math.max(1, ms * 1.1501))
  })

  it("keep what takes longer than all bounds, and nothing of what has no latency", () => {
    const counts = counted({ of: 1, ms: 10_000_000 }, { of: 0 })
    countRequest(counts.new, "ok", undefined)
    expect(counts.old.latency[latencyBoundsMs.length]).toBe(1)
    expect(quantileMs(counts.new, 0.95)).toBeUndefined()
    expect(counts.new.requests).toBe(1)
  })
})

describe("the verdict about a canary", () => {
  it("waits for the fewest requests", () => {
    expect(judged({ of: 1_000 }, { of: 49, failed: 49 })).toEqual({
      kind: "too-few",
      reason: "the new plan served 49 of at least 50 requests",
    })
    expect(judged({ of: 1_000 }, { of: 50, failed: 50 }).kind).toBe("worse")
  })

  it.each([
    ["few requests and a large difference", { of: 1_000 }, { of: 50, failed: 6 }],
    ["many requests and a small difference", { of: 100_000, failed: 100 }, { of: 20_000, failed: 300 }],
    ["no requests of the old plan", { of: 0 }, { of: 100, failed: 60 }],
  ])("finds more errors: %s", (_, old, fresh) => {
    expect(judged(old, fresh)).toMatchObject({ kind: "worse", reason: expect.stringContaining("errors: ") })
  })

  it.each([
    ["a difference that chance explains", { of: 1_000, failed: 10 }, { of: 50, failed: 2 }],
    ["a difference that is allowed", { of: 100_000, failed: 100 }, { of: 20_000, failed: 200 }],
    ["an error that both have", { of: 1_000, failed: 900 }, { of: 100, failed: 92 }],
    ["fewer errors", { of: 1_000, failed: 500 }, { of: 100 }],
  ])("lets pass: %s", (_, old, fresh) => {
    expect(judged(old, fresh).kind).toBe("as-good")
  })

  it("compares denials on their own, and nothing that is turned off", () => {
    const old = { of: 1_000, denied: 10 }
    const fresh = { of: 100, denied: 40 }
    expect(judged(old, fresh)).toEqual({
      kind: "worse",
      reason: "denials: 40 % of the new plan's requests, 1 % of the old plan's; allowed are 1 points more",
    })
    expect(judged(old, fresh, { denialPoints: null }).kind).toBe("as-good")
    expect(judged(old, fresh, { denialPoints: 50 }).kind).toBe("as-good")
  })

  it("compares the 95th percentile, above what is noticeable", () => {
    const slow = judged({ of: 2_000, ms: 100 }, { of: 200, ms: 300 })
    expect(slow).toMatchObject({
      kind: "worse",
      reason: expect.stringMatching(/^latency: 95 % .* 1.5 times/),
    })
    expect(judged({ of: 2_000, ms: 100 }, { of: 200, ms: 120 }).kind).toBe("as-good")
    expect(judged({ of: 2_000, ms: 1 }, { of: 200, ms: 8 }).kind).toBe("as-good")
    expect(judged({ of: 2_000, ms: 100 }, { of: 200, ms: 300 }, { latencyRatio: null }).kind).toBe("as-good")
  })

  it("seldom errs while both plans are the same, although it looks after every request", () => {
    // A generator of its own, so that the figure is the same in every run.
    let seed = 7
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed / 2_147_483_648
    }
    let wrong = 0
    for (let world = 0; world < 100; world += 1) {
      const counts = noCounts()
      for (let at = 0; at < 2_000; at += 1) {
        const outcome = random() < 0.02 ? "failed" : "ok"
        countRequest(random() < 0.1 ? counts.new : counts.old, outcome, 20 + 80 * random())
        if (at % 10 === 0 && verdictOf(counts, defaults).kind === "worse") {
          wrong += 1
          break
        }
      }
    }
    expect(wrong).toBeLessThanOrEqual(1)
  })
})
