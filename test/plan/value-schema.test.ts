import { expect, test } from "vitest"
import { valueSchema } from "../../runtime/plan/value-schema.ts"

const digest = `sha256:${"0".repeat(64)}`

test.each([
  [true],
  [{ type: ["string", "null"], pattern: "a+" }],
  [{ properties: { a: { $ref: digest } }, required: ["a"], additionalProperties: false }],
  [{ $defs: { "0": { items: { $ref: "#/$defs/0" } } } }],
  [{ anyOf: [{ $ref: `${digest}#/$defs/1` }, { const: null }], enum: [1, "a", null, { b: [] }] }],
])("schemas of the plan: %j", (schema) => {
  expect(valueSchema.safeParse(schema).success).toBe(true)
})

test.each([
  ["an unknown keyword", { typ: "string" }],
  ["a reference to the outside", { $ref: "https://example.com/a.json" }],
  ["a keyword that names itself", { $id: "x" }],
  ["a wrong type", { properties: { a: { type: "strin" } } }],
  ["a wrong bound", { minLength: -1 }],
])("refuses %s", (_, schema) => {
  expect(valueSchema.safeParse(schema).success).toBe(false)
})
