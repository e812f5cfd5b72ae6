import { expect, test } from "vitest"
import { BoundedPattern } from "../../runtime/pattern/bounded-pattern.ts"
import { PatternWorkError } from "../../runtime/pattern/run-program.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled } from "../support/random-run.ts"

const characters = ["a", "b", "c", "A", "1", "_", " ", "\n", "é", "😀"]
const atoms = [
  "a",
  "b",
  "c",
  "A",
  ".",
  "\\d",
  "\\w",
  "\\s",
  "\\W",
  "[ab]",
  "[^a]",
  "[a-c1]",
  "\\p{L}",
  "😀",
  "[😀é]",
]
const quantifiers = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}"]

/** A pattern of ECMAScript's flag `u`; `groups` counts those that are open or closed already. */
function randomPattern(random: Random, depth: number, groups: { count: number }, looks = true): string {
  const items: string[] = []
  for (let left = 1 + random.below(3); left > 0; left--) {
    const roll = depth === 0 ? 0 : random.below(12)
    const inside = (): string => randomPattern(random, depth - 1, groups, looks)
    if (roll < 4) items.push(random.pick(atoms) + (random.below(3) === 0 ? random.pick(quantifiers) : ""))
    else if (roll < 6) {
      groups.count += 1
      items.push(`(${inside()})${random.below(2) === 0 ? random.pick(quantifiers) : ""}`)
    } else if (roll === 6)
      items.push(`(?:${inside()})${random.below(2) === 0 ? random.pick(quantifiers) : ""}`)
    else if (roll === 7) items.push(`(?:${inside()}|${inside()})`)
    else if (!looks) items.push(random.pick(["a", "b", "a*", "[ab]+", ".*", "a?", "b{0,2}"]))
    else if (roll < 10) items.push(`(?${random.pick(["=", "!", "<=", "<!"])}${inside()})`)
    else if (roll === 10) items.push(random.pick(["^", "$", "\\b", "\\B"]))
    else if (groups.count > 0) items.push(`\\${1 + random.below(Math.min(9, groups.count))}`)
  }
  return items.join("")
}

function groupsByRegExp(pattern: RegExp, text: string): (readonly [number, number])[] | undefined {
  const found = pattern.exec(text)
  return found?.indices?.map((pair) => pair ?? ([-1, -1] as const))
}

function groupsHere(pattern: BoundedPattern, text: string): (readonly [number, number])[] | undefined {
  const found = pattern.over(text).next(0, { stepsLeft: 200_000 })
  if (found === undefined) return undefined
  return Array.from({ length: found.length / 2 }, (_, group) => [
    found[group * 2] as number,
    found[group * 2 + 1] as number,
  ])
}

test("finds what RegExp finds, and the same groups", () => {
  const random = new Random(firstSeed)
  let found = 0
  let given = 0
  const rounds = scaled(4_000, 0.4)
  for (let round = 0; round < rounds; round++) {
    const source = randomPattern(random, 3, { count: 0 })
    const flags = {
      ignoreCase: random.below(4) === 0,
      multiline: random.below(4) === 0,
      dotAll: random.below(4) === 0,
    }
    const letters = `du${flags.ignoreCase ? "i" : ""}${flags.multiline ? "m" : ""}${flags.dotAll ? "s" : ""}`
    let theirs: RegExp
    try {
      theirs = new RegExp(source, letters)
    } catch {
      // A reference to a group that a later alternative would have had.
      continue
    }
    const ours = new BoundedPattern(source, "ecma", flags)
    const text = Array.from({ length: random.below(12) }, () => random.pick(characters)).join("")
    const expected = groupsByRegExp(theirs, text)
    // V8 also begins within a code point, where ECMAScript does not look.
    if (expected !== undefined && /[\ud800-\udbff]$/.test(text.slice(0, expected[0]?.[0]))) continue
    try {
      const groups = groupsHere(ours, text)
      if (groups !== undefined) found += 1
      expect(groups, `/${source}/${letters} in ${JSON.stringify(text)}`).toEqual(expected)
    } catch (error) {
      if (!(error instanceof PatternWorkError)) throw error
      given += 1
    }
  }
  expect(found).toBeGreaterThan(rounds / 4)
  expect(given).toBeLessThan(rounds / 100)
})

test("finds all matches that RegExp finds, one behind the other, also where much is remembered of what failed", () => {
  const random = new Random(firstSeed)
  let found = 0
  let given = 0
  const rounds = scaled(3_000, 0.4)
  for (let round = 0; round < rounds; round++) {
    const source = randomPattern(random, 3, { count: 0 }, false)
    const text = Array.from({ length: random.below(15) }, () => random.pick(["a", "b"])).join("")
    const expected = [...text.matchAll(new RegExp(source, "dgu"))].map(({ indices }) =>
      Array.from(indices ?? [], (pair) => pair ?? [-1, -1]).flat(),
    )
    const search = new BoundedPattern(source, "ecma").over(text)
    const work = { stepsLeft: 100_000 }
    const all: number[][] = []
    try {
      for (let at = 0; at <= text.length; ) {
        const match = search.next(at, work)
        if (match === undefined) break
        all.push([...match])
        const [start, end] = match as unknown as [number, number]
        at = end > start ? end : end + 1
      }
      found += all.length
      expect(all, `/${source}/ in ${JSON.stringify(text)}`).toEqual(expected)
    } catch (error) {
      if (!(error instanceof PatternWorkError)) throw error
      given += 1
    }
  }
  expect(found).toBeGreaterThan(rounds)
  expect(given).toBeLessThan(rounds / 100)
})
