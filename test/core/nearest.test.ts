import { expect, test } from "vitest"
import { didYouMean, nearest } from "../../compiler/core/nearest.ts"

/** `[typed, candidates, meant]` */
const table: [string, string[], string | undefined][] = [
  ["ordres", ["customers", "orders"], "orders"],
  ["orders", ["orders"], undefined],
  ["Orders", ["orders"], "orders"],
  ["clock_skew", ["clock-skew"], "clock-skew"],
  ["lisen", ["limits", "listen"], "listen"],
  ["v3", ["v1", "v2"], "v1"],
  ["x", ["y"], undefined],
  ["audience", ["issuer"], undefined],
  ["heder", ["header", "healthz"], "header"],
  ["subcription", ["subscription"], "subscription"],
  ["usr", ["use", "user"], "use"],
  ["a".repeat(1000), ["a".repeat(999)], undefined],
  ["anything", [], undefined],
]

test.each(table)("%j among %j is %j", (typed, candidates, meant) => {
  expect(nearest(typed, candidates)).toBe(meant)
})

test("the tail of a message", () => {
  expect(didYouMean("ordres", ["orders"])).toBe("; did you mean `orders`?")
  expect(didYouMean("ordres", ["x"])).toBe("")
})
