import { describe, expect, test } from "vitest"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { SchemaSet } from "../../runtime/validation/schema-set.ts"

const named = (letter: string): string => `sha256:${letter.repeat(64)}`

function judge(schema: ValueSchema, value: unknown, others: Record<string, ValueSchema> = {}): string[] {
  const set = new SchemaSet({ ...others, [named("f")]: schema })
  while (set.compileNext());
  return set
    .get(named("f"))
    .validate(value)
    .map(({ pointer, message }) => `${pointer} ${message}`)
}

describe("what is wrong with a value", () => {
  test.each<[string, ValueSchema, unknown, string[]]>([
    ["nothing", { type: "object" }, {}, []],
    ["a type", { type: "string" }, 1, [" must be string"]],
    ["what is missing, at its own place", { required: ["a/b", "c"] }, { c: 1 }, ["/a~1b is required"]],
    ["names of the language itself", { required: ["constructor"] }, {}, ["/constructor is required"]],
    [
      "what is too much",
      { properties: { a: true }, additionalProperties: false },
      { b: 1 },
      ["/b is not expected"],
    ],
    [
      "all of it",
      { items: { type: "integer" } },
      ["a", 1, 2.5],
      ["/0 must be integer", "/2 must be integer"],
    ],
    ["a choice", { enum: ["a", 2, null] }, "b", [' must be one of "a", 2, null']],
    [
      "equal items",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [" must not have two equal items"],
    ],
    ["items that only look alike", { uniqueItems: true }, [1, "1", null, "null", [1], { "0": 1 }], []],
    ["cents", { multipleOf: 0.01 }, 19.99, []],
    ["a pattern", { pattern: "^[a-c]+$" }, "abd", [' must match pattern "^[a-c]+$"']],
    [
      "several patterns, each by itself",
      { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } }, patternProperties: { "^c": false } },
      { a: "a", b: "a", c: 1 },
      ['/b must match pattern "^b$"', "/c is not expected"],
    ],
    ["a format", { format: "date" }, "2026-13-01", [' must match format "date"']],
    ["a format nobody knows", { format: "isbn" }, "x", []],
    ["a format of numbers", { format: "int32" }, 3e9, [' must match format "int32"']],
  ])("%s", (_, schema, value, expected) => {
    expect(judge(schema, value)).toEqual(expected)
  })
})

describe("references", () => {
  test("to other schemas, and in a circle", () => {
    const circle = {
      $defs: {
        "0": { type: "object", properties: { next: { $ref: "#/$defs/1" } } },
        "1": { type: "object", properties: { next: { $ref: "#/$defs/0" } }, additionalProperties: false },
      },
    }
    const found = judge(
      { items: { $ref: `${named("a")}#/$defs/0` } },
      [{ next: { other: 1 } }, { next: { next: 5 } }],
      {
        [named("a")]: circle,
      },
    )
    expect(found).toEqual(["/0/next/other is not expected", "/1/next/next must be object"])
  })

  test("a long chain", () => {
    const chain: Record<string, ValueSchema> = {}
    const name = (index: number): string => `sha256:${String(index).padStart(64, "0")}`
    for (let index = 0; index < 800; index += 1)
      chain[name(index)] =
        index === 799 ? { type: "string" } : { properties: { a: { $ref: name(index + 1) } } }
    expect(judge({ $ref: name(0) }, { a: { a: "x" } }, chain)).toEqual([])
  })
})

test("an empty object is not an empty list, and keys have no order", () => {
  const schema = { type: "array", uniqueItems: true }
  expect(judge(schema, [{}, [], { a: 1 }, [["a", 1]]])).toEqual([])
  expect(
    judge(schema, [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).toEqual([" must not have two equal items"])
})

test("what was compiled is taken over by the next plan", () => {
  const schemas = { [named("a")]: { type: "string" }, [named("b")]: { items: { $ref: named("a") } } }
  const first = new SchemaSet(schemas)
  while (first.compileNext());
  const second = new SchemaSet({ [named("a")]: { type: "string" }, [named("c")]: true }, first)
  expect(second.get(named("a"))).toBe(first.get(named("a")))
  expect(() => second.get(named("b"))).toThrow("there is no schema")
})

describe("what would take for ever", () => {
  test("a pattern made to go back", () => {
    expect(judge({ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}b`)).toHaveLength(1)
  })

  test("texts whose pattern goes back too often for all of them: the value is refused, also where the pattern must not fit", () => {
    const schemas = { a: { items: { pattern: "^(?=(a|a)*b)" } }, b: { not: { pattern: "^(?=(a|a)*b)" } } }
    const set = new SchemaSet(schemas as never)
    const wrong = [{ pointer: "", message: "has texts that take too long to compare with their patterns" }]
    expect(set.get("a").validate(["b", "ab", "c"])).toEqual([{ pointer: "/2", message: expect.any(String) }])
    expect(set.get("a").validate(["ab", "a".repeat(40)])).toEqual(wrong)
    expect(set.get("b").validate("a".repeat(40))).toEqual(wrong)
    // The next value has steps of its own.
    expect(set.get("a").validate(["ab"])).toEqual([])
  })

  test("alternatives that refer to themselves", () => {
    const node: ValueSchema = {
      $defs: {
        "0": {
          anyOf: [
            { type: "object", properties: { a: { $ref: "#/$defs/0" } }, required: ["x"] },
            { type: "object", properties: { a: { $ref: "#/$defs/0" } }, required: ["y"] },
          ],
        },
      },
    }
    let value: unknown = {}
    for (let depth = 0; depth < 60; depth += 1) value = { a: value }
    expect(judge({ $ref: `${named("b")}#/$defs/0` }, value, { [named("b")]: node })).toEqual([
      " is too complex to be judged",
    ])
  })

  test("a value that is too deep, or too large", () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep]
    expect(judge(true, deep)).toEqual([" is nested deeper than 100"])
    expect(judge(true, new Array(300_000).fill(0))).toEqual([" has more than 200000 values"])
  })

  test("a hundred thousand mistakes: a hundred are told", () => {
    expect(judge({ items: { type: "string" } }, new Array(100_000).fill(0))).toHaveLength(100)
  })

  test("a hundred thousand objects that must differ", () => {
    const items = Array.from({ length: 50_000 }, (_, index) => ({ index }))
    expect(judge({ uniqueItems: true }, items)).toEqual([])
  })

  test("long texts for formats", () => {
    for (const format of ["email", "uri", "hostname", "duration", "uri-template"])
      expect(judge({ format }, `a@${"a-".repeat(100_000)}`)).toHaveLength(1)
  })
})

test("names matched by patterns beside a reference that fails are judged", () => {
  const one = { patternProperties: { "^x": {} }, required: ["a"] }
  const schema = { patternProperties: { b: {} }, $ref: "#/$defs/one", $defs: { one } }
  expect(judge(schema as never, { b: 1 })).toEqual(["/a is required"])
  expect(judge({ ...schema, unevaluatedProperties: false } as never, { a: 1, b: 1, x: 1 })).toHaveLength(1)
  expect(judge({ ...schema, unevaluatedProperties: false } as never, { b: 1, x: 1 })).not.toEqual([])
})

test("a schema that is nothing but itself takes nothing", () => {
  expect(judge({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } } as never, 1)).toEqual([
    " is too complex to be judged",
  ])
})

test("names matched by patterns beside a condition are judged, and keep no value from being judged", () => {
  const schema = {
    if: { type: "array" },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { patternProperties: { "^x": true } },
    patternProperties: { "^y": { type: "number" } },
  }
  const validator = new SchemaSet({ s: schema }).get("s")
  expect(validator.validate({ ya: 1 })).toEqual([])
  expect(validator.validate({ ya: "1" })).toHaveLength(1)
})
