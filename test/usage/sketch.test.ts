import { expect, test } from "vitest"
import { bucketOf, quantile, sketchLength } from "../../runtime/usage/sketch.ts"

function sketchOf(times: readonly number[]): number[] {
  const counts = new Array<number>(sketchLength).fill(0)
  for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1
  return counts
}

test("what is read from a sketch is within a tenth of the truth, and two added are one of both", () => {
  const some = Array.from({ length: 2_000 }, (_, index) => 0.3 * 1.006 ** index)
  const others = Array.from({ length: 500 }, (_, index) => 1 + index)
  const both = [...some, ...others].sort((a, b) => a - b)
  const added = sketchOf(some).map((count, index) => count + (sketchOf(others)[index] ?? 0))
  expect(added).toEqual(sketchOf(both))
  for (const share of [0.01, 0.5, 0.9, 0.95, 0.99]) {
    const truth = both[Math.ceil(share * both.length) - 1] ?? 0
    expect(Math.abs((quantile(added, share) ?? 0) / truth - 1)).toBeLessThan(0.1)
  }
})

test("nothing at all, nothing measurable and times without end have their places", () => {
  expect(quantile(sketchOf([]), 0.5)).toBeUndefined()
  expect(bucketOf(0)).toBe(0)
  expect(bucketOf(Number.NaN)).toBe(0)
  expect(bucketOf(1e12)).toBe(sketchLength - 1)
  expect(quantile(sketchOf([0, 0]), 0.99)).toBe(0.25)
})
