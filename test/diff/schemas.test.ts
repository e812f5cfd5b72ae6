import { readFileSync } from "node:fs"
import { describe, expect, it, test } from "vitest"
import { SchemaComparison } from "../../compiler/analysis/schema-comparison.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { type ValueSchema, valueSchema } from "../../runtime/plan/value-schema.ts"
import { SchemaSet, type Validator } from "../../runtime/validation/schema-set.ts"
import { reduced } from "../support/random-run.ts"
import { type Random, randomOf } from "./edits.ts"

// What a comparison of two schemas says of the values that fit: by a table, and by random schemas whose judgements of random values are compared.

const table = readFileSync(new URL("../cases/schema-changes/changes.txt", import.meta.url), "utf8")
const [, ...sections] = table.split(/^-- .* --$/m)
const schemas: Record<string, ValueSchema> = {}
const names = new Map<string, string>()
for (const line of (sections.pop() ?? "").trim().split("\n")) {
  const [, name = "", json = "", member = ""] = /^(\S+) (.*\})(?: (\S+))?$/.exec(line) ?? []
  const schema = JSON.parse(json)
  schemas[digestOf(schema)] = schema
  names.set(name, digestOf(schema) + member)
}

function added(text: string): string {
  const named = text.replace(/\{"\$ref": "(\w+)"\}/g, (_, name) => `{"$ref": "${names.get(name)}"}`)
  const schema = valueSchema.parse(JSON.parse(named))
  schemas[digestOf(schema)] = schema
  return digestOf(schema)
}

describe("the difference between two schemas", () => {
  for (const line of sections.flatMap((section) => section.trim().split("\n"))) {
    const [effects = "", name = "", before = "", after = "", pointers = ""] = line
      .split("¦")
      .map((each) => each.trim())
    it(`${effects}: ${name}`, () => {
      const [old, next] = [added(before), added(after)]
      const body = { schemas } as unknown as PlanBody
      const found = new SchemaComparison(body, body).compare(old, next)
      expect(found.map(({ effect }) => effect).join(" ") || "none", JSON.stringify(found)).toBe(effects)
      expect(found.map(({ pointer }) => pointer).join(" ")).toBe(pointers)
    })
  }
})

class Drawing {
  readonly random: Random

  constructor(random: Random) {
    this.random = random
  }

  one<Item>(...items: readonly Item[]): Item {
    return items[this.random(items.length)] as Item
  }

  value(depth = 3): unknown {
    const kind = this.random(depth > 0 ? 9 : 6)
    if (kind < 2) return this.one(0, 1, 2, 3, 1.5, -1)
    if (kind < 4) return this.one("", "a", "b", "ab", "2020-01-01")
    if (kind < 6) return this.one(null, true, false)
    if (kind < 7) return Array.from({ length: this.random(4) }, () => this.value(depth - 1))
    const keys = ["a", "b", "ab"].filter(() => this.random(2) === 0)
    return Object.fromEntries(keys.map((key) => [key, this.value(depth - 1)]))
  }

  schema(depth = 3): ValueSchema {
    if (this.random(12) === 0) return this.one<ValueSchema>(true, false, {})
    const made: Record<string, unknown> = {}
    for (let count = 1 + this.random(3); count > 0; count -= 1) Object.assign(made, this.keyword(depth))
    return made as ValueSchema
  }

  keyword(depth: number): object {
    const inner = () => this.schema(depth - 1)
    const list = (): ValueSchema[] => Array.from({ length: 1 + this.random(3) }, inner)
    const map = () =>
      Object.fromEntries(["a", "b"].filter(() => this.random(2) === 0).map((key) => [key, inner()]))
    const flat: (() => object)[] = [
      () => ({
        type: this.one<string | string[]>("string", "number", "integer", "object", "array", [
          "string",
          "null",
        ]),
      }),
      () => ({
        type: this.one<string | string[]>(["object", "array"], ["object", "null"], "object", "array"),
      }),
      () => this.one<object>({ enum: [1, "a"] }, { enum: ["a"] }, { const: 1 }, { enum: [null, "a", 1] }),
      () => this.one<object>({ maximum: this.random(3) }, { exclusiveMaximum: this.random(3) }),
      () => this.one<object>({ minimum: this.random(3) }, { exclusiveMinimum: this.random(3) }),
      () =>
        this.one<object>({ multipleOf: 1 + this.random(4) }, { format: this.one("date", "int32", "iban") }),
      () =>
        this.one<object>(
          { maxLength: this.random(3) },
          { minLength: this.random(3) },
          { pattern: this.one("^a", "b$") },
        ),
      () =>
        this.one<object>(
          { maxItems: this.random(3) },
          { minItems: this.random(3) },
          { uniqueItems: this.one(true, false) },
        ),
      () => this.one<object>({ maxProperties: this.random(3) }, { minProperties: this.random(3) }),
      () => this.one<object>({ required: this.one(["a"], ["a", "b"]) }, { dependentRequired: { a: ["b"] } }),
    ]
    const deep: (() => object)[] = [
      () => ({ properties: map() }),
      () => ({ properties: map(), additionalProperties: inner() }),
      () => ({ properties: map(), additionalProperties: false }),
      () => ({ patternProperties: { "^a": inner() } }),
      () => ({ items: inner() }),
      () => ({ prefixItems: list() }),
      () => ({ contains: inner() }),
      () => ({ contains: inner(), ...this.one<object>({ maxContains: 1 }, { minContains: 2 }) }),
      () => ({ allOf: list() }),
      () => ({ anyOf: list() }),
      () => ({ oneOf: list() }),
      () => ({
        oneOf: [{ type: "string", maxLength: this.random(3) }, { type: "null" }].slice(this.random(2)),
      }),
      () => ({ not: inner() }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      () => ({ if: inner(), then: inner(), ...(this.random(2) === 0 ? { else: inner() } : {}) }),
      () => ({ dependentSchemas: { a: inner() } }),
      () => ({ propertyNames: inner() }),
      () => ({ unevaluatedProperties: this.one<ValueSchema>(false, inner()) }),
      () => ({ unevaluatedItems: this.one<ValueSchema>(false, inner()) }),
    ]
    return this.one(...flat, ...(depth > 0 ? deep : []))()
  }

  /** The same schema with one keyword gone, new or another, somewhere in it. */
  edited(schema: ValueSchema): ValueSchema {
    const copy = structuredClone(schema)
    const places: Record<string, unknown>[] = []
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return
      if (!Array.isArray(node)) places.push(node as Record<string, unknown>)
      for (const each of Object.values(node)) walk(each)
    }
    walk(copy)
    const place = this.one(...places)
    if (place === undefined) return this.schema()
    const key = this.one(...Object.keys(place))
    if (key !== undefined && this.random(3) === 0) delete place[key]
    else Object.assign(place, this.keyword(2))
    return copy
  }
}

/** Undefined: ajv fails on some schemas with `patternProperties` beside a choice. */
function judgements(
  [old, next]: readonly [Validator, Validator],
  value: unknown,
): [boolean, boolean] | undefined {
  try {
    return [old.validate(value).length === 0, next.validate(value).length === 0]
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

const rounds = reduced(200, 600)

test("random schemas judge random values as the comparison says", () => {
  const draw = new Drawing(randomOf(20261123))
  const said = { none: 0, narrower: 0, wider: 0, other: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const before = draw.schema()
    const parsed = valueSchema.safeParse(draw.random(8) === 0 ? draw.schema() : draw.edited(before))
    if (!parsed.success) continue
    const after = parsed.data
    const sides = { [digestOf(before)]: before, [digestOf(after)]: after }
    const body = { schemas: sides } as unknown as PlanBody
    const found = new SchemaComparison(body, body).compare(digestOf(before), digestOf(after))
    const effects = new Set(found.map(({ effect }) => effect))
    const kind = effects.size === 0 ? "none" : effects.size === 1 ? [...effects][0] : "other"
    said[kind ?? "other"] += 1
    if (kind === "other") continue
    const set = new SchemaSet(sides)
    const [old, next] = [set.get(digestOf(before)), set.get(digestOf(after))]
    for (let at = 0; at < 40; at += 1) {
      const value = draw.value()
      const judged = judgements([old, next], value)
      if (judged === undefined) break
      const [fitted, fits] = judged
      const shown = JSON.stringify({ before, after, value, found })
      if (kind !== "wider") expect(!fitted && fits, shown).toBe(false)
      if (kind !== "narrower") expect(fitted && !fits, shown).toBe(false)
    }
  }
  for (const kind of ["none", "narrower", "wider"] as const)
    expect(said[kind]).toBeGreaterThan(reduced(4, 15))
})
