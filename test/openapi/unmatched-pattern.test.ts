import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { PlanSchemas } from "../../compiler/openapi/plan-schemas.ts"
import { readSchemaDocument } from "../../compiler/openapi/schema-document.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

/** Takes nothing, and makes a pattern too large. */
const large = "(?:z{100}){0,100}"
const patterns = [`^(?!x)${large}`, `(a)\\1${large}`, "^x", `(?<=a)b${large}`]
const texts = ["", "x", "xa", "aa", "ab", "b"]

function randomSchema(random: Random, depth: number): unknown {
  const inner = (): unknown => randomSchema(random, depth - 1)
  const words: Record<string, () => unknown> = {
    pattern: () => random.pick(patterns),
    type: () => random.pick(["string", "object", ["string", "null"]]),
    minLength: () => 1,
  }
  if (depth > 0)
    Object.assign(words, {
      not: inner,
      oneOf: () => [inner(), inner()],
      anyOf: () => [inner(), inner()],
      allOf: () => [inner()],
      if: inner,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: inner,
      else: inner,
      properties: () => ({ a: inner(), xa: inner() }),
      patternProperties: () => ({ [random.pick(patterns)]: inner() }),
      additionalProperties: () => (random.below(2) === 0 ? false : inner()),
      propertyNames: inner,
      contains: inner,
      maxContains: () => 1,
      items: inner,
      $ref: () => `#/$defs/${random.pick(["one", "two"])}`,
    })
  const names = Object.keys(words)
  return Object.fromEntries(
    Array.from({ length: 1 + random.below(3) }, () => random.pick(names)).map((name) => [
      name,
      words[name]?.(),
    ]),
  )
}

function randomValue(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(4)
  if (kind === 1) return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1))
  if (kind === 2 || kind === 3)
    return Object.fromEntries(
      Array.from({ length: random.below(3) }, () => [random.pick(texts), randomValue(random, depth - 1)]),
    )
  return random.pick([...texts, null, 1])
}

function validatorOf(schema: object) {
  const report = new Report()
  const project = new Project(new MemoryFiles([["s.json", JSON.stringify(schema)]]), report)
  const file = project.read("s.json", undefined)
  const at = file?.span(0, 0)
  if (file === undefined || at === undefined) throw new Error("no file")
  const document = readSchemaDocument(file, report, () => undefined)
  const key = document?.key(undefined, at)
  if (document === undefined || key === undefined) throw new Error("no schema")
  const schemas = new PlanSchemas(report)
  const name = schemas.use(document.schemas, key, "request")
  return { validator: new SchemaSet(schemas.table()).get(name), report }
}

test("what a schema takes is taken without the patterns that can't be run", (context) => {
  const asked = { taken: 0, "taken by the rest alone": 0, refused: 0 }
  for (let seed = firstSeed; seed < firstSeed + scaled(150, 0.15); seed += 1) {
    const random = new Random(seed)
    const leaf = () => randomSchema(random, 0)
    const schema = { ...(randomSchema(random, 3) as object), $defs: { one: leaf(), two: leaf() } }
    const ajv = new Ajv2020({ strict: false, logger: false })
    // What it notes for `unevaluatedProperties` throws beside some `patternProperties`.
    ajv.opts.unevaluated = false
    const whole = ajv.compile(schema)
    const { validator, report } = validatorOf(schema)
    expect(report.blocked, `seed ${seed}`).toBe(false)
    for (let count = 0; count < 10; count += 1) {
      const value = randomValue(random, 2)
      const passes = validator.validate(value).length === 0
      const right = whole(value)
      if (right) expect(passes, `seed ${seed}: ${JSON.stringify([schema, value])}`).toBe(true)
      asked[right ? "taken" : passes ? "taken by the rest alone" : "refused"] += 1
    }
  }
  expect(Math.min(...Object.values(asked))).toBeGreaterThan(0)
  tellAsked(context, asked)
})

test("what a pattern that can't be run would have named is not taken for a property nobody named", () => {
  const { validator } = validatorOf({
    if: { patternProperties: { [`^(?!x)${large}`]: { type: "number" } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { b: {} } },
    unevaluatedProperties: false,
  })
  expect([{ a: 1 }, { a: 1, b: 2 }].flatMap((value) => validator.validate(value))).toEqual([])
})

test("a schema whose patterns can all be run judges by all it says", () => {
  const { validator, report } = validatorOf({ oneOf: [{ pattern: "^x" }, { pattern: "a" }] })
  expect(report.sorted()).toEqual([])
  expect(["x", "a", "xa"].map((value) => validator.validate(value).length === 0)).toEqual([true, true, false])
})
