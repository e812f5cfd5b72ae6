import { describe, expect, test } from "vitest"
import { reduced } from "../../support/random-run.ts"
import { randomOf } from "../edits.ts"
import { type Judged, measured, pairsOfKinds, randomShapes, type Terms } from "./measure.ts"

// Two orders of the same steps, behind a real gateway and before real backends: what `diff` calls neutral must look the same to whoever asks, is asked or counts. More of it is in test/long.

const seed = 20261123

/** Runs what is called neutral, and says how much that was. */
async function neutralOf(terms: Omit<Terms, "runs" | "seed">): Promise<readonly Judged[]> {
  const judged = await measured({ ...terms, seed, runs: "neutral" })
  expect(judged.filter(({ difference }) => difference !== undefined)).toEqual([])
  return judged
}

describe("an order that is called neutral", () => {
  test("makes no difference between two steps", async () => {
    const random = randomOf(seed)
    const pairs = pairsOfKinds().filter(() => random(reduced(20, 8)) === 0)
    expect((await neutralOf({ shapes: pairs, requests: 5 })).length).toBeGreaterThan(pairs.length / 8)
  })

  test("makes no difference to a step that moves across two others, also inside of a step that holds them", async () => {
    const shapes = randomShapes(randomOf(seed), reduced(40, 100), 3)
    expect((await neutralOf({ shapes, requests: 4 })).length).toBeGreaterThan(reduced(1, 3))
    expect(
      (await neutralOf({ shapes: randomShapes(randomOf(1), reduced(30, 60), 2), inside: true, requests: 4 }))
        .length,
    ).toBeGreaterThan(reduced(1, 3))
  })
})

test("orders that make a difference are seen by the same requests", async () => {
  const judged = await measured({ seed, shapes: randomShapes(randomOf(3), 30, 2), requests: 5, runs: "all" })
  expect(judged.filter(({ difference }) => difference !== undefined).length).toBeGreaterThan(reduced(1, 3))
})
