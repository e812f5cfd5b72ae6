import { describe, expect, test } from "vitest"
import { lastPositionOf, piecesOf, positionOf } from "../../runtime/pattern/text-search.ts"
import { Random } from "../naive/random.ts"
import { leastCpuMs } from "../support/busy.ts"

/** A text of two letters, where much agrees with much. */
function written(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(["a", "a", "a", "b", "\u{1f600}"])).join("")
}

test("what is found is what the engine finds, in texts short and long", () => {
  const random = new Random(11)
  let found = 0
  for (let round = 0; round < 600; round += 1) {
    const text = written(random, random.below(round % 3 === 0 ? 3000 : 60))
    const length = random.below(round % 2 === 0 ? 40 : 4)
    const at = random.below(text.length + 1)
    const part = random.chance(60) ? text.slice(at, at + length) : written(random, length)
    const from = random.below(text.length + 3) - 1
    expect(positionOf(text, part)).toBe(text.indexOf(part))
    expect(positionOf(text, part, from)).toBe(text.indexOf(part, from))
    expect(lastPositionOf(text, part)).toBe(text.lastIndexOf(part))
    expect(lastPositionOf(text, part, from)).toBe(text.lastIndexOf(part, from))
    expect(piecesOf(text, part)).toEqual(text.split(part))
    if (part.length > 16 && text.includes(part)) found += 1
  }
  expect(found).toBeGreaterThan(50)
})

describe("a text that agrees with much of what is sought in it", () => {
  const text = "a".repeat(1_000_000)
  const half = "a".repeat(8_000)
  test.each([`${half}b${half}`, `${half}b`, `b${half}`])("takes no time, case %#", (part) => {
    const search = () => {
      expect([positionOf(text, part), lastPositionOf(text, part), piecesOf(text, part).length]).toEqual([
        -1, -1, 1,
      ])
      expect(positionOf(text + part, part)).toBe(1_000_000)
    }
    // The engine's own search takes seconds.
    expect(leastCpuMs(search, 500)).toBeLessThan(500)
  })
})
