import { expect, test } from "vitest"
import { reduced } from "../../support/random-run.ts"
import { randomOf } from "../edits.ts"
import { measured, randomShapes } from "./measure.ts"

// One random change of random steps, behind a real gateway and before real backends, before it and after it: what `diff` says of it must be what requests see.

const seed = 20261124

test("a change is not a worse for requests than its class", async () => {
  const shapes = [
    ...randomShapes(randomOf(seed), reduced(120, 500), 1),
    ...randomShapes(randomOf(seed + 1), reduced(60, 300), 2),
  ]
  const judged = await measured({ seed, shapes, requests: 6, runs: "not opens", change: true })
  expect(judged.filter(({ difference }) => difference !== undefined)).toEqual([])
  const count = (risk: string) => judged.filter((each) => each.risk === risk).length
  for (const risk of ["neutral", "breaking", "closes"])
    expect(count(risk), risk).toBeGreaterThan(reduced(3, 20))
})
