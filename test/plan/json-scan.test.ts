import { expect, test } from "vitest"
import { duplicateKey as duplicateOf, readJson, scanJson } from "../../runtime/plan/json-scan.ts"
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

test("accepts exactly the texts that JSON.parse accepts", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\\u00e9",
    "\\x",
    "\n",
    " ",
    "\u000b",
    "\u0001",
    "\u2028",
  ]
  const words = [
    "true",
    "nul",
    "null",
    "-",
    "0",
    "01",
    "1.5",
    "1.",
    "-2e+3",
    "1E5",
    '"a"',
    '"b"',
    '"\\u0061"',
    "{}",
    "[]",
  ]
  const seen = { accepted: 0, refused: 0 }
  for (let seed = 1; seed <= 10_000; seed++) {
    const random = new Random(seed)
    let text = textOf(randomValue(random, 2), random)
    for (let changes = random.below(3); changes > 0; changes--) {
      const at = random.below(text.length + 1)
      text =
        text.slice(0, at) + random.pick(random.chance(50) ? pieces : words) + text.slice(at + random.below(2))
    }
    const parsed = parseOf(text)
    const problem = scanJson(text)
    seen[parsed === undefined ? "refused" : "accepted"]++
    const told = problem === undefined || problem.duplicate !== undefined
    if (problem?.duplicate === undefined && told !== (parsed !== undefined))
      throw new Error(`${JSON.stringify(problem)} for ${text}`)
    if (parsed !== undefined && problem === undefined) expectPlaces(text, parsed.value)
  }
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(1_500)
})

function parseOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Each value stands where its place says, behind its key. */
function expectPlaces(text: string, value: unknown): void {
  const read = readJson(text)
  if ("problem" in read) throw new Error(read.problem.message)
  const visit = (path: readonly (string | number)[], inner: unknown): void => {
    const place = read.placeOf(path)
    if (place === undefined) throw new Error(`no place of ${JSON.stringify(path)} in ${text}`)
    expect(JSON.parse(text.slice(place.start, place.end))).toEqual(inner)
    const { key } = place
    const step = path.at(-1)
    expect(key === undefined ? undefined : JSON.parse(text.slice(key.start, key.end))).toBe(
      typeof step === "string" ? step : undefined,
    )
    if (Array.isArray(inner)) for (const [index, item] of inner.entries()) visit([...path, index], item)
    else if (typeof inner === "object" && inner !== null)
      for (const name of Object.keys(inner)) visit([...path, name], (inner as Record<string, unknown>)[name])
  }
  visit([], value)
}

test("files are nested at most 100 deep", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`
  expect(scanJson(nested(100))).toBeUndefined()
  expect(scanJson(nested(101))).toEqual({
    at: 101,
    message: "nested deeper than 100 levels",
  })
})
