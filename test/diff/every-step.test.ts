import { describe, expect, it } from "vitest"
import { z } from "zod"
import { ListComparison } from "../../compiler/diff/compare-lists.ts"
import { StepWords } from "../../compiler/diff/step-words.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { type Step, type StepId, step } from "../../runtime/plan/steps.ts"

// Every kind of step the plan knows, and every field of it, by the plan's own schema: a new one is compared here without anybody adding it.

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly minimum?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly $ref?: string
}

const root = z.toJSONSchema(step, { reused: "inline", unrepresentable: "any" }) as Schema & {
  readonly $defs?: Readonly<Record<string, Schema>>
}
const kinds = root.oneOf ?? root.anyOf ?? []

/** Steps inside of others: two that decide who may pass, so that it matters which one is there. */
const inner: Readonly<Record<StepId, Step>> = {
  s1: { kind: "check-header", name: "x-one", values: [], ignoreCase: false, status: 401 } as unknown as Step,
  s2: { kind: "check-header", name: "x-two", values: [], ignoreCase: false, status: 401 } as unknown as Step,
}

/** What a statement is about: another one there is another statement, one goes and one comes. Else the field is what changes, and nothing goes. */
const identity: Readonly<Record<string, readonly string[]>> = {
  "set-header": ["message", "name"],
  "set-query": ["name"],
  "rename-header": ["message", "from"],
  "set-body": ["message"],
  "find-replace": ["message"],
  "mask-urls": ["message"],
  "set-variable": ["name"],
  metric: ["name"],
  grant: ["action"],
  quota: ["callsMax", "bytesMax"],
}

/** Different values a schema allows, at least two where it allows two; patterns are not looked at. */
function valuesOf(schema: Schema, name: string): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return schema.enum
  if (schema.$ref !== undefined)
    return valuesOf(root.$defs?.[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name)
  const either = schema.anyOf ?? schema.oneOf
  // A program of C# has parts without number: its text and type tell it.
  if (either !== undefined) return either.flatMap((each) => valuesOf(each, name))
  if (schema.type === "object") return objectsOf(schema)
  if (schema.type === "array") return listsOf(schema, name)
  if (schema.type === "boolean") return [false, true]
  if (schema.type === "null") return [null]
  if (schema.type === "number" || schema.type === "integer") {
    const least = Math.max(schema.minimum ?? 1, 1)
    return [least, least + 1]
  }
  if (schema.format === "date") return ["2030-01-01", "2031-01-01"]
  if (schema.format === "date-time") return ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"]
  return schema.type === "string" ? ["one", "two"] : [null]
}

function listsOf(schema: Schema, name: string): readonly unknown[] {
  if (isSteps(schema, name)) return [["s1"], ["s2"]]
  return valuesOf(schema.items ?? {}, name).map((item) => [item])
}

function isSteps(schema: Schema, name: string): boolean {
  return ["steps", "matched", "otherwise", "branches"].includes(name) && schema.items?.type === "string"
}

/** An object with its first values, and one with another value for each of its fields. */
function objectsOf(schema: Schema): readonly object[] {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "program")
  const values = fields.map(([name, each]) => [name, valuesOf(each, name)] as const)
  const first = Object.fromEntries(values.map(([name, [value]]) => [name, value]))
  const others = values.flatMap(([name, [, ...more]]) => more.map((value) => ({ ...first, [name]: value })))
  return [first, ...others]
}

function bodyOf(own: Step): PlanBody {
  return { steps: { ...inner, own }, backends: {}, authz: null, models: {} } as unknown as PlanBody
}

function compared(before: Step, after: Step) {
  const [old, next] = [bodyOf(before), { ...bodyOf(after) }]
  const id = JSON.stringify(before) === JSON.stringify(after) ? "own" : "next"
  const steps = { ...inner, [id]: after }
  const comparison = new ListComparison(
    new StepWords(old),
    new StepWords({ ...next, steps } as unknown as PlanBody),
  )
  return comparison.compare("inbound", ["own"], [id])
}

const samples = kinds.map((schema) => {
  const [first] = objectsOf(schema)
  const { kind } = first as Step
  const optional = Object.keys(schema.properties ?? {}).filter((name) => !schema.required?.includes(name))
  return { kind, schema, first: first as Step, optional }
})

describe("every kind of step", () => {
  it("is in the plan's schema with its own name", () => {
    expect(samples.length).toBeGreaterThan(40)
    expect(new Set(samples.map(({ kind }) => kind)).size).toBe(samples.length)
  })

  for (const { kind, schema, first, optional } of samples) {
    it(`${kind}: the same step is not a change, and it has words`, () => {
      expect(compared(first, structuredClone(first))).toEqual([])
      expect(new StepWords(bodyOf(first)).of("own")).not.toBe("")
    })

    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (name === "kind") continue
      const values: unknown[] = [...valuesOf(field, name), ...(optional.includes(name) ? [undefined] : [])]
      it(`${kind}: what another ${name} means is said`, () => {
        expect(values.length).toBeGreaterThan(field.const === undefined ? 1 : 0)
        for (const [at, value] of values.entries()) {
          const other = values[(at + 1) % values.length]
          const [before, after] = [value, other].map((each) => withField(first, name, each))
          const told = compared(before as Step, after as Step)
          expect(told, JSON.stringify([value, other])).not.toEqual([])
          for (const { verdict, path } of told) {
            expect(verdict.reasons, JSON.stringify([value, other])).not.toEqual([])
            for (const { why } of verdict.reasons) expect(why).not.toBe(`another ${name}`)
            expect(path).toMatch(/^inbound\.0/)
          }
          const actions = told.map(({ action }) => action)
          if (isSteps(field, name) || name === "branches") continue
          if (identity[kind]?.includes(name) !== true) expect(actions).toEqual(["changed"])
          else expect([["changed"], ["removed", "added"]]).toContainEqual(actions)
        }
      })
    }
  }
})

/** Fields of which a step has one: with the one the other goes. */
const instead: Readonly<Record<string, string>> = { pdp: "store" }

function withField(sample: Step, name: string, value: unknown): Step {
  const gone = value === undefined ? undefined : instead[name]
  const rest = Object.fromEntries(Object.entries(sample).filter(([key]) => key !== name && key !== gone))
  return (value === undefined ? rest : { ...rest, [name]: value }) as unknown as Step
}
