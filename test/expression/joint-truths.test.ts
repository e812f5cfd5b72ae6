import { describe, expect, it, test } from "vitest"
import { type CompiledCondition, compileCondition } from "../../runtime/expression/condition.ts"
import { compareConditions } from "../../runtime/expression/condition-change.ts"
import { jointTruths } from "../../runtime/expression/joint-truths.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const conditionOf = (types: string, expression: string) => ({
  name: "c",
  expression,
  parameters: Object.fromEntries(
    types.split(", ").map((each) => {
      const [name = "", type = ""] = each.split(": ")
      return [name, { type_name: `TYPE_NAME_${type.toUpperCase()}` }]
    }),
  ),
})

const compiled = (types: string, expression: string): CompiledCondition => {
  const made = compileCondition(conditionOf(types, expression))
  if (!made.ok) throw new Error(`${expression}: ${JSON.stringify(made.findings)}`)
  return made.condition
}

const compared = (types: string, old: string, next: string) =>
  compareConditions(conditionOf(types, old), conditionOf(types, next))

describe("two conditions", () => {
  const rows: readonly (readonly [types: string, old: string, next: string, expected: object])[] = [
    ["hour: int", "hour < 12", "hour < 13", { relation: "wider", onlyNew: { hour: 12 } }],
    ["hour: int", "hour < 13", "12 > hour", { relation: "narrower", onlyOld: { hour: 12 } }],
    ["hour: int", "hour < 12", "hour <= 11", { relation: "same" }],
    ["x: double", "x < 12", "x <= 11.0", { relation: "narrower", onlyOld: { x: 11.5 } }],
    ["hour: uint", "hour >= 1u", "hour != 0u", { relation: "same" }],
    ["hour: int", "hour < 12 || hour > 20", "hour > 6", { relation: "other", onlyOld: { hour: 6 } }],
    ["a: string", 'a == "x"', 'a in ["x", "y"]', { relation: "wider", onlyNew: { a: "y" } }],
    ["a: string", 'a != "x"', "true", { relation: "wider", onlyNew: { a: "x" } }],
    ["p: bool, hour: int", "p && hour < 5", "hour < 5", { relation: "wider", onlyNew: { p: false } }],
    ["p: bool", "p", "p || !p", { relation: "wider", onlyNew: { p: false } }],
    [
      "at: timestamp",
      'at < timestamp("2026-01-01T00:00:00Z")',
      'at < timestamp("2026-02-01T00:00:00Z")',
      { relation: "wider", onlyNew: { at: "2026-01-01T00:00:00Z" } },
    ],
    [
      "d: duration",
      'd <= duration("1h")',
      'd < duration("1h")',
      { relation: "narrower", onlyOld: { d: "3600s" } },
    ],
    ["a: string", 'a < "m"', 'a <= "m"', { relation: "wider", onlyNew: { a: "m" } }],
    ["a: string", 'a < "m"', 'a < "n"', { relation: "wider", onlyNew: { a: "m" } }],
    ["a: string", 'a > ""', 'a != ""', { relation: "same" }],
    ["a: string", 'a > "m" && a < "m\\u0000"', 'a < "m" && a > "m"', { relation: "same" }],
    ["a: int, b: int", "a < b", "a < b || a == 3", { relation: "wider", onlyNew: { a: 3 } }],
    ["a: int, b: int", "a < b", "b > a", { relation: "same" }],
    ["a: int, b: int", "a < b && b < 3", "a < b && a < 2", { relation: "wider" }],
    ["a: double, b: double", "a < b && a > 1.0 && b < 2.0", "a < b && b < a", { relation: "narrower" }],
    ["a: int, b: int", "a < b && a > 1 && b < 3", "a < b && b < a", { relation: "same" }],
    ["a: uint, b: uint", "a < b && b < 1u", "a < b && b < a", { relation: "same" }],
    ["a: string, b: string", "a == b", "a <= b && b <= a", { relation: "same" }],
    [
      "ip: ipaddress",
      'ip.in_cidr("10.0.0.0/8")',
      'ip.in_cidr("10.1.0.0/16")',
      { relation: "narrower", onlyOld: { ip: "10.0.0.0" } },
    ],
    [
      "ip: ipaddress",
      'ip.in_cidr("10.0.0.0/9") || ip.in_cidr("10.128.0.0/9")',
      'ip.in_cidr("::ffff:10.0.0.0/104")',
      { relation: "same" },
    ],
    [
      "ip: ipaddress",
      'ip.in_cidr("2001:db8::/32")',
      'ip.in_cidr("2001:db8::/31")',
      { relation: "wider", onlyNew: { ip: "2001:db9::" } },
    ],
    // More than comparisons: the logic of the parts decides, as far as it can.
    ["a: int, b: int", "a + 1 < b", "a + 1 < b || a == 3", { relation: "wider" }],
    ["a: int, b: int", "a + 1 < b", "a + 2 < b", { relation: "other" }],
  ]
  for (const [types, old, next, expected] of rows)
    it(`${old} and ${next}`, () => {
      expect(compared(types, old, next)).toMatchObject(expected)
    })

  it("of which only one reads a parameter are never the same", () => {
    expect(compared("x: int, y: int", "x < 3", "x < 3 && (y < 5 || y >= 5)").relation).toBe("narrower")
  })
})

test("values that a tuple has are constants, also in sums", () => {
  const condition = compiled(
    "at: timestamp, from: timestamp, days: duration",
    "at > from && at < from + days",
  )
  const known = (from: string) => ({ condition, known: { from, days: "24h" } })
  const ways = (...from: string[]) =>
    jointTruths(from.map(known))
      ?.map(({ truths }) => truths.join())
      .sort()
  expect(ways("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z")).toEqual([
    "false,false",
    "false,true",
    "true,false",
  ])
  expect(ways("2026-01-01T00:00:00Z", "2026-01-01T12:00:00Z")).toHaveLength(4)
  expect(jointTruths([{ condition, known: {} }])).toBeUndefined()
})

const conditions = scaled(500, 0.2)

test(`all ways are found, and no others (${conditions} sets of conditions)`, (context) => {
  const counts = { ways: 0, impossible: 0 }
  for (let at = 0; at < conditions; at++) {
    const random = new Random(firstSeed + at)
    const set = Array.from({ length: 1 + random.below(3) }, () => randomExpression(random, 0))
    const cases = set.map((expression) => ({
      condition: compiled("x: int, y: double, p: bool, s: string", expression),
      known: {},
    }))
    const found = jointTruths(cases)?.map(({ truths }) => truths.join()) ?? []
    const expected = new Set<string>()
    for (const values of everything)
      expected.add(cases.map(({ condition }) => condition.evaluate({ request: values })).join())
    expect([...found].sort(), `seed ${firstSeed + at}: ${set.join("; ")}`).toEqual([...expected].sort())
    counts.ways += found.length
    if (found.length < 2 ** set.length) counts.impossible++
  }
  tellAsked(context, counts)
  expect(counts.impossible).toBeGreaterThan(conditions / 20)
})

/** Parameters of one type that are compared with constants and with each other, and values from all regions between the constants, two from each. */
const families: Readonly<
  Record<string, { readonly parts: (random: Random) => string; readonly domain: readonly unknown[] }>
> = {
  int: {
    parts: comparison((random) => String(random.below(4) * 2)),
    domain: [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8],
  },
  double: {
    parts: comparison((random) => `${random.below(3)}.0`),
    domain: [-2, -1, 0, 0.25, 0.75, 1, 1.25, 1.75, 2, 3, 4],
  },
  string: {
    parts: comparison((random) => `"${random.pick(["", "a", "ab", "b"])}"`),
    domain: ["", "A", "B", "a", "aA", "aB", "ab", "abb", "ac", "b", "c", "d"],
  },
  ipaddress: {
    parts: (random) =>
      random.chance(30)
        ? `a ${random.pick(["==", "!="])} b`
        : `${random.pick(["a", "b"])}.in_cidr("${random.pick([
            ...[
              "10.0.0.0/8",
              "10.1.0.0/16",
              "10.1.2.3/32",
              "0.0.0.0/0",
              "2001:db8::/32",
              "::/0",
              "::fffe:0:0/95",
            ],
            "::ffff:10.0.0.0/104",
          ])}")`,
    domain: [
      ...["0.0.0.0", "1.1.1.1", "10.0.0.0", "10.0.0.1", "10.1.0.0", "10.1.0.1", "10.1.2.3", "10.1.2.4"],
      ...[
        "10.1.2.5",
        "10.2.0.0",
        "10.3.0.0",
        "11.0.0.0",
        "12.0.0.0",
        "::",
        "::1",
        "::fffe:0:0",
        "::fffe:0:1",
      ],
      ...["::1:0:0:0", "::1:0:0:1", "2001:db8::", "2001:db8::1", "2001:db9::", "2001:db9::1"],
    ],
  },
}

for (const [type, { parts, domain }] of Object.entries(families))
  test(`parameters of type ${type} that are compared with each other: all ways are found, and no others`, () => {
    const count = scaled(150, 0.2)
    for (let at = 0; at < count; at++) {
      const random = new Random(firstSeed + at)
      const set = Array.from({ length: 1 + random.below(3) }, () => joinedParts(random, parts, 0))
      const cases = set.map((expression) => ({
        condition: compiled(`a: ${type}, b: ${type}, p: bool`, expression),
        known: {},
      }))
      const found = jointTruths(cases)?.map(({ truths }) => truths.join()) ?? []
      const expected = new Set<string>()
      for (const a of domain)
        for (const b of domain)
          for (const p of [true, false])
            expected.add(cases.map(({ condition }) => condition.evaluate({ request: { a, b, p } })).join())
      expect([...found].sort(), `seed ${firstSeed + at}: ${set.join("; ")}`).toEqual([...expected].sort())
    }
  })

function comparison(constant: (random: Random) => string): (random: Random) => string {
  return (random) => {
    const order = random.pick(["<", "<=", ">", ">=", "==", "!="])
    const [one, other] = random.pick([
      ["a", "b"],
      ["b", "a"],
    ])
    if (random.chance(40)) return `${one} ${order} ${other}`
    return random.chance(50) ? `${one} ${order} ${constant(random)}` : `${constant(random)} ${order} ${one}`
  }
}

function joinedParts(random: Random, part: (random: Random) => string, depth: number): string {
  const inner = () => joinedParts(random, part, depth + 1)
  if (depth < 2 && random.chance(65))
    return random.pick([
      () => `(${inner()} && ${inner()})`,
      () => `(${inner()} || ${inner()})`,
      () => `!(${inner()})`,
    ])()
  return random.chance(10) ? "p" : part(random)
}

/** Whole numbers and halves around all constants, so that every region has a value. */
const everything = Array.from({ length: 8 }, (_, x) => x - 1).flatMap((x) =>
  Array.from({ length: 15 }, (_, y) => y / 2 - 1).flatMap((y) =>
    [true, false].flatMap((p) => ["a", "b", "c"].map((s) => ({ x, y, p, s }))),
  ),
)

function randomExpression(random: Random, depth: number): string {
  const inner = () => randomExpression(random, depth + 1)
  if (depth < 2 && random.chance(60))
    return random.pick([
      () => `(${inner()} && ${inner()})`,
      () => `(${inner()} || ${inner()})`,
      () => `!(${inner()})`,
      () => `(${inner()} ? ${inner()} : ${inner()})`,
    ])()
  const order = random.pick(["<", "<=", ">", ">=", "==", "!="])
  return random.pick([
    `x ${order} ${random.below(6)}`,
    `${random.below(6)} ${order} x`,
    `y ${order} ${random.below(6)}.${random.pick(["0", "5"])}`,
    `x in [${random.below(6)}, ${random.below(6)}]`,
    "p",
    `s ${random.pick(["==", "!="])} "${random.pick(["a", "b"])}"`,
  ])
}
