import { expect, test } from "vitest"
import { type Counts, explainWorld } from "./explained-worlds.ts"

/** Raise for a long run: `SALLYPORT_TEST_QUERIES=1000000`; a failure prints its seed, `SALLYPORT_TEST_SEED` starts there. */
const queries = Number(process.env["SALLYPORT_TEST_QUERIES"] ?? 20_000)
const firstSeed = Number(process.env["SALLYPORT_TEST_SEED"] ?? 1)

test(`explanations of ${queries} random questions hold by the naive evaluator`, {
  timeout: 3_600_000,
}, async () => {
  const counts: Counts = { asked: 0, proofs: 0, denials: 0, misses: 0, conditional: 0, cut: 0 }
  for (let seed = firstSeed; counts.asked < queries; seed++) await explainWorld(seed, counts, 8)
  expect(counts.proofs).toBeGreaterThan(queries / 5)
  expect(counts.misses).toBeGreaterThan(queries / 5)
  expect(counts.conditional).toBeGreaterThan(queries / 200)
})
