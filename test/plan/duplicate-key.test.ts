import { expect, test } from "vitest"
import { duplicateKey as duplicateOf } from "../../runtime/plan/duplicate-key.ts"
import { Random } from "../naive/random.ts"

const duplicateKey = (text: string) => duplicateOf(text, JSON.parse(text))

/** What an object is made of here: its members in order, so that a key may stand twice. */
type Value = number | string | readonly Value[] | { readonly members: readonly (readonly [string, Value])[] }

const keys = ["__proto__", "7", "a", "b", "ab", "", "\\", '"', 'a"', "\n", "{", "\u00e9", ":,"]

function randomValue(random: Random, depth: number): Value {
  const kind = random.below(depth > 3 ? 2 : 4)
  if (kind === 0) return random.below(100)
  if (kind === 1) return random.pick(keys)
  const count = random.below(random.chance(5) ? 40 : 5)
  if (kind === 2) return Array.from({ length: count }, () => randomValue(random, depth + 1))
  const named = (at: number) => (count > 5 || random.chance(60) ? `k${at}` : random.pick(keys))
  const members = Array.from(
    { length: count },
    (_, at) => [named(at), randomValue(random, depth + 1)] as const,
  )
  const again = members[0]
  return { members: again !== undefined && random.chance(5) ? [...members, again] : members }
}

function textOf(value: Value, random: Random): string {
  const blank = () => random.pick(["", "", " ", "\n"])
  if (typeof value !== "object") return JSON.stringify(value)
  if ("members" in value) {
    const members = value.members.map(
      ([key, inner]) =>
        `${blank()}${keyText(key, random)}${blank()}:${blank()}${textOf(inner, random)}${blank()}`,
    )
    return `{${members.join(",")}}`
  }
  return `[${value.map((inner) => blank() + textOf(inner, random) + blank()).join(",")}]`
}

/** Now and then with an escape that nobody needs. */
function keyText(key: string, random: Random): string {
  const plain = JSON.stringify(key)
  return random.chance(10)
    ? plain.replace(/^"([a-z])/, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`)
    : plain
}

function hasTwice(value: Value): boolean {
  if (typeof value !== "object") return false
  if (!("members" in value)) return value.some(hasTwice)
  const names = value.members.map(([key]) => key)
  return new Set(names).size < names.length || value.members.some(([, inner]) => hasTwice(inner))
}

test("finds a key that stands twice in its object, however it is written, and nothing else", () => {
  const seen = new Set<boolean>()
  for (let seed = 1; seed <= 20_000; seed++) {
    const random = new Random(seed)
    const value = randomValue(random, 0)
    const text = textOf(value, random)
    const twice = hasTwice(value)
    seen.add(twice)
    expect([text, duplicateKey(text) !== undefined]).toEqual([text, twice])
  }
  expect(seen.size).toBe(2)
})

test("says which, and in which line", () => {
  expect(duplicateKey('{"a": 1,\n "b": {"a": 2,\n "a": 3}}')).toEqual({ key: "a", line: 3 })
  expect(duplicateKey('{"a": {}, "\\u0061": 1}')).toEqual({ key: "a", line: 1 })
})

test("an object of very many keys takes no longer than its text", () => {
  const members = Array.from({ length: 200_000 }, (_, at) => `"${String(at).padStart(6, "0")}":0`)
  expect(duplicateKey(`{${members.join(",")}}`)).toBeUndefined()
  expect(duplicateKey(`{${members.join(",")},"000000":0}`)?.key).toBe("000000")
})

test("a value of any depth is looked at", () => {
  const deep = (inner: string) => `${'{"a":['.repeat(100_000)}${inner}${"]}".repeat(100_000)}`
  expect(duplicateKey(deep("1"))).toBeUndefined()
  expect(duplicateKey(deep('{"b":1,"b":2}'))?.key).toBe("b")
})
