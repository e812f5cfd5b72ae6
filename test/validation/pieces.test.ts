import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"
import { violationOf } from "../../runtime/validation/violation.ts"
import { type Random, randomOf } from "../diff/edits.ts"
import { firstSeed, scaled } from "../support/random-run.ts"

const name = `sha256:${"0".repeat(64)}`

/** The same judged by ajv as it is, compiled in one go. */
function whole(schema: ValueSchema): (value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true, logger: false })
  const judge = ajv.compile(schema as object)
  return (value) => {
    judge(value)
    return told((judge.errors ?? []).map((error) => violationOf(error)))
  }
}

function told(violations: readonly { readonly pointer: string; readonly message: string }[]): string[] {
  return violations.map(({ pointer, message }) => `${pointer} ${message}`).sort()
}

const words = ["a", "b", "c", "d"]
const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T

/** Schemas with many properties, many branches, and much inside of one another. */
function schemaOf(random: Random, depth: number, asks: boolean): ValueSchema {
  const kind = depth === 0 ? random(4) : random(12)
  if (kind === 0) return { type: "string", minLength: random(3), enum: words.slice(random(3)) }
  if (kind === 1) return { type: "integer", minimum: random(5), maximum: 5 + random(5) }
  if (kind === 2) return random(2) === 0
  if (kind === 3) return { type: ["string", "null"], maxLength: random(3) }
  if (kind === 4)
    return {
      type: "array",
      maxItems: 3,
      items: schemaOf(random, depth - 1, asks),
    }
  if (kind === 5)
    return {
      type: "array",
      prefixItems: [1, 2].map(() => schemaOf(random, depth - 1, asks)),
      items: schemaOf(random, depth - 1, asks),
    }
  if (kind === 6)
    return {
      [pick(random, ["oneOf", "anyOf", "allOf"])]: Array.from({ length: pick(random, [2, 20]) }, () =>
        schemaOf(random, depth - 1, asks),
      ),
    }
  if (kind === 7) return { not: schemaOf(random, depth - 1, asks) }
  if (kind === 8)
    return {
      if: schemaOf(random, depth - 1, asks),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: schemaOf(random, depth - 1, asks),
      else: schemaOf(random, depth - 1, asks),
    }
  const names = Array.from({ length: pick(random, [3, 30]) }, (_, at) => `${pick(random, words)}${at}`)
  return {
    type: "object",
    required: names.slice(0, random(3)),
    properties: Object.fromEntries(
      [...names, "$id", "a/b~c"].map((each) => [each, schemaOf(random, depth - 1, asks)]),
    ),
    ...(random(2) === 0 ? { additionalProperties: schemaOf(random, depth - 1, asks) } : {}),
    ...(asks && random(2) === 0
      ? { allOf: [{ properties: { more: true } }], unevaluatedProperties: false }
      : {}),
  }
}

function sampleOf(random: Random, schema: ValueSchema, depth = 0): unknown {
  if (typeof schema === "boolean" || depth > 6 || random(12) === 0)
    return pick<unknown>(random, ["a", "long", 3, 12, null, [], {}, { a0: 1 }, ["a", "a"]])
  const list = (schema["oneOf"] ?? schema["anyOf"] ?? schema["allOf"]) as ValueSchema[] | undefined
  if (list !== undefined) return sampleOf(random, pick(random, list), depth + 1)
  const inside = (schema["if"] ?? schema["not"]) as ValueSchema | undefined
  if (inside !== undefined) return sampleOf(random, inside, depth + 1)
  if (schema["properties"] !== undefined) {
    const all = Object.entries(schema["properties"] as Record<string, ValueSchema>)
    const some = all
      .filter(() => random(3) > 0)
      .map(([each, inner]) => [each, sampleOf(random, inner, depth + 1)])
    return Object.fromEntries([...some, ...(random(4) === 0 ? [["other", 1]] : [])])
  }
  if (schema["type"] === "array")
    return Array.from({ length: random(4) }, () =>
      sampleOf(random, (schema["items"] ?? true) as ValueSchema, depth + 1),
    )
  return schema["type"] === "integer" ? random(12) : pick<unknown>(random, [...words, "", "long", null])
}

test("cut into pieces, a schema says what it says as a whole", () => {
  let wrong = 0
  const schemas = scaled(24, 0.4)
  for (let seed = firstSeed - 1; seed < firstSeed - 1 + schemas; seed += 1) {
    const random = randomOf(seed)
    const schema = schemaOf(random, 3, seed % 3 === 0)
    const judge = whole(schema)
    const set = new SchemaSet({ [name]: schema })
    for (let run = 0; run < 15; run += 1) {
      const value = sampleOf(random, schema)
      const wanted = judge(value)
      const found = told(set.get(name).validate(value))
      if (wanted.length > 0) wrong += 1
      // Of more than are told nobody says which.
      if (wanted.length <= 100) expect(found, JSON.stringify({ seed, value })).toEqual(wanted)
      else expect(found).toHaveLength(100)
    }
  }
  expect(wrong).toBeGreaterThan(5 * schemas)
})

function wide(count: number): ValueSchema {
  const part = (at: number): ValueSchema => ({
    type: "object",
    required: ["a"],
    properties: {
      a: { type: "string", minLength: at },
      b: { type: "array", items: { type: "integer", maximum: at } },
    },
    additionalProperties: false,
  })
  const all = Array.from({ length: count }, (_, at) => [`p${at}`, part(at)] as const)
  return { type: "object", properties: Object.fromEntries(all), oneOf: all.map(([, each]) => each) }
}

test("what is large is compiled in many steps, and what the plan before had is taken over piece by piece", () => {
  const steps = (set: SchemaSet): number => {
    let count = 0
    while (set.compileNext()) count += 1
    return count
  }
  const first = new SchemaSet({ [name]: wide(300) })
  expect(steps(first)).toBeGreaterThan(300)
  expect(steps(new SchemaSet({ [name]: { type: "string" } }))).toBeLessThan(10)
  const other = `sha256:${"1".repeat(64)}`
  const next = new SchemaSet({ [name]: wide(300), [other]: { $ref: name } }, first)
  expect(next.get(name)).toBe(first.get(name))
  expect(next.get(other).validate({ p1: { a: "" } })).toEqual(first.get(name).validate({ p1: { a: "" } }))
})
