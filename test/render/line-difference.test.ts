import { expect, test } from "vitest"
import { type DifferentLine, lineDifference } from "../../compiler/render/line-difference.ts"

const sides = (lines: readonly DifferentLine[]) => ({
  before: lines.filter(([sign]) => sign !== "+").map(([, text]) => text),
  after: lines.filter(([sign]) => sign !== "-").map(([, text]) => text),
})
const changes = (lines: readonly DifferentLine[]) => lines.filter(([sign]) => sign !== " ")

test("contains both texts, whatever they are", () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const text = () => Array.from({ length: random(40) }, () => String(random(6)))
  for (let turn = 0; turn < 500; turn++) {
    const [before, after] = [text(), text()]
    expect(sides(lineDifference(before, after))).toEqual({ before, after })
  }
})

test("finds two changes far apart in a text that is too large for every comparison", () => {
  const before = Array.from({ length: 60_000 }, (_, at) => (at % 3 === 0 ? "}" : `line ${at}`))
  const after = [...before]
  after[10] = "changed"
  after.splice(30_000, 2, "new 1", "new 2", "new 3")
  after[59_990] = "changed, too"
  const found = lineDifference(before, after)
  expect(sides(found)).toEqual({ before, after })
  expect(changes(found).length).toBeLessThanOrEqual(10)
})

test("shows a large text without common lines as a whole", () => {
  const before = Array.from({ length: 3_000 }, (_, at) => `old ${at}`)
  const after = Array.from({ length: 3_000 }, (_, at) => `new ${at}`)
  expect(changes(lineDifference(before, after))).toHaveLength(6_000)
})
