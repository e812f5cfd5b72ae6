import { expect, test } from "vitest"
import { randomOf } from "../diff/edits.ts"
import { type Judged, measured, pairsOfKinds, randomShapes, type Terms } from "../diff/order/measure.ts"
import { firstSeed } from "../support/random-run.ts"

// What `diff` says of an order, and whether any request can tell: every two kinds of steps, lists of three and four, and lists inside of other steps.

const rounds = Number(process.env["ROUNDS"] ?? 8)
const runs = process.env["RUNS"] === "neutral" ? "neutral" : "all"

function tell(what: string, judged: readonly Judged[]): void {
  const neutral = judged.filter(({ isNeutral }) => isNeutral)
  const alike = judged.filter(({ difference }) => difference === undefined)
  const found = alike.filter(({ isNeutral }) => isNeutral)
  console.info(
    `${what}: ${judged.length} lists, ${neutral.length} called neutral, ${alike.length} no request could tell apart, ${found.length} of those called neutral`,
  )
}

async function run(what: string, terms: (seed: number) => Omit<Terms, "seed" | "runs">): Promise<void> {
  const all: Judged[] = []
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1)
    all.push(...(await measured({ ...terms(seed), seed, runs })))
  tell(what, all)
  expect(all.filter(({ isNeutral, difference }) => isNeutral && difference !== undefined)).toEqual([])
}

test("every two kinds of steps", () => run("pairs", () => ({ shapes: pairsOfKinds(), requests: 8 })))

test("a step that moves across others", () =>
  run("three and four", (seed) => ({
    shapes: [...randomShapes(randomOf(seed), 300, 3), ...randomShapes(randomOf(seed + 1), 200, 4)],
    requests: 6,
  })))

test("inside of a step that holds others", () =>
  run("nested", (seed) => ({
    shapes: [...randomShapes(randomOf(seed), 400, 2), ...randomShapes(randomOf(seed + 1), 100, 3)],
    inside: true,
    requests: 6,
  })))
