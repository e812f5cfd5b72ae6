import { tests } from "@bufbuild/cel-spec/testdata/conformance.js"
import type { SerializedIncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js"
import { describe, expect, test } from "vitest"
import { TreeChecker } from "../../runtime/expression/check-tree.ts"
import type { CelClosure } from "../../runtime/expression/closures.ts"
import { TreeCompiler } from "../../runtime/expression/compile-tree.ts"
import { declareEnvironment, type Environment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import type { ExpressionFinding } from "../../runtime/expression/finding.ts"
import { costMaxDefault, metered } from "../../runtime/expression/meter.ts"
import { parseExpression } from "../../runtime/expression/parse.ts"
import { parseDuration } from "../../runtime/expression/time.ts"
import {
  type CelMap,
  kindOf,
  CelMap as Maps,
  mapEntries,
  mapGet,
  mapSize,
  TypeValue,
  Uint,
} from "../../runtime/expression/values.ts"

// The conformance cases of the language's specification, as its package has them in protobuf's JSON.

const suites = [
  "basic",
  "bindings_ext",
  "comparisons",
  "conversions",
  "encoders_ext",
  "fields",
  "fp_math",
  "integer_math",
  "lists",
  "logic",
  "macros",
  "macros2",
  "math_ext",
  "namespace",
  "parse",
  "plumbing",
  "string",
  "string_ext",
  "timestamps",
]

/** Messages of protobuf are not part of this language. */
const message = /\b(?:Nested)?TestAllTypes\b|\bgoogle\s*\.\s*protobuf\s*\.\s*\w+\s*\{/

const lossy =
  "an int and a double are compared exactly; the case wants the int rounded to the nearest double first"

const wholeDuration =
  "OpenFGA's implementation gives the whole duration in milliseconds, as in hours; the case wants a part"

/** Cases that come out otherwise, and why. Each is held to do so: one that comes out right is to be taken off the list. */
const deviations: Readonly<Record<string, string>> = {
  "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double": lossy,
  "comparisons/gt_literal/not_gt_dyn_big_double_int": lossy,
  "comparisons/lte_literal/lte_dyn_big_double_int": lossy,
  "comparisons/gte_literal/gte_dyn_int_big_lossy_double": lossy,
  "timestamps/duration_converters/get_milliseconds": wholeDuration,
}

/** Where the type found here says less: of an empty list it is not asked what it could hold. */
const vaguer = [
  "lists/concatenation/left_unit: list<dyn>, not list<int>",
  "macros/filter/list_empty: list<dyn>, not list<int>",
]

interface Case {
  readonly name: string
  readonly expr: string
  readonly container?: string
  readonly disableCheck?: boolean
  readonly typeEnv?: readonly { name: string; ident: { type: TypeJson } }[]
  readonly bindings?: Readonly<Record<string, { value: ValueJson }>>
  readonly value?: ValueJson
  readonly evalError?: unknown
}

type TypeJson = {
  primitive?: string
  messageType?: string
  listType?: { elemType?: TypeJson }
  mapType?: { keyType?: TypeJson; valueType?: TypeJson }
}

type ValueJson = {
  int64Value?: string
  uint64Value?: string
  doubleValue?: number | string
  stringValue?: string
  bytesValue?: string
  boolValue?: boolean
  nullValue?: null
  typeValue?: string
  listValue?: { values?: readonly ValueJson[] }
  mapValue?: { entries?: readonly { key: ValueJson; value: ValueJson }[] }
  objectValue?: { "@type": string; value: string }
}

const primitives: Readonly<Record<string, string>> = {
  BOOL: "bool",
  INT64: "int",
  UINT64: "uint",
  DOUBLE: "double",
  STRING: "string",
  BYTES: "bytes",
}

function typeOf(type: TypeJson | undefined): string {
  if (type?.primitive !== undefined) return primitives[type.primitive] ?? "dyn"
  if (type?.messageType === "google.protobuf.Duration") return "duration"
  if (type?.listType !== undefined) return `list<${typeOf(type.listType.elemType)}>`
  if (type?.mapType !== undefined)
    return `map<${typeOf(type.mapType.keyType)}, ${typeOf(type.mapType.valueType)}>`
  return "dyn"
}

function readValue(json: ValueJson): unknown {
  if (json.int64Value !== undefined) return BigInt(json.int64Value)
  if (json.uint64Value !== undefined) return new Uint(BigInt(json.uint64Value))
  if (json.doubleValue !== undefined) return Number(json.doubleValue)
  if (json.stringValue !== undefined) return json.stringValue
  if (json.bytesValue !== undefined) return new Uint8Array(Buffer.from(json.bytesValue, "base64"))
  if (json.boolValue !== undefined) return json.boolValue
  if (json.nullValue !== undefined) return null
  if (json.typeValue !== undefined) return new TypeValue(json.typeValue)
  if (json.listValue !== undefined) return (json.listValue.values ?? []).map(readValue)
  if (json.mapValue !== undefined) {
    const entries = json.mapValue.entries ?? []
    return Maps.of(entries.map(({ key, value }) => [readValue(key), readValue(value)] as const))
  }
  if (json.objectValue?.["@type"].endsWith("google.protobuf.Duration"))
    return parseDuration(json.objectValue.value)
  throw new Error(`a value this test does not read: ${JSON.stringify(json)}`)
}

/** Equal in type and value; numbers of different types are not, other than with `==` of the language. */
function same(left: unknown, right: unknown): boolean {
  const kind = kindOf(left)
  if (kind !== kindOf(right)) return false
  if (kind === "double") return left === right || (Number.isNaN(left) && Number.isNaN(right))
  if (kind === "uint") return (left as Uint).value === (right as Uint).value
  if (kind === "type") return (left as TypeValue).name === (right as TypeValue).name
  if (kind === "bytes") return Buffer.compare(left as Uint8Array, right as Uint8Array) === 0
  if (kind === "list") {
    const [a, b] = [left as unknown[], right as unknown[]]
    return a.length === b.length && a.every((element, index) => same(element, b[index]))
  }
  if (kind !== "map") return left === right
  const [a, b] = [left as CelMap, right as CelMap]
  return (
    mapSize(a) === mapSize(b) &&
    Array.from(mapEntries(a)).every(([key, value]) => same(value, mapGet(b, key)))
  )
}

type Outcome = { readonly value: unknown } | { readonly error: ExpressionError }

interface Prepared {
  readonly found: string
  readonly findings: readonly ExpressionFinding[]
  run(isPartial: boolean): Outcome
}

function prepare({ expr, container, typeEnv = [], bindings = {} }: Case): Prepared {
  const variables = Object.fromEntries(typeEnv.map(({ name, ident }) => [name, typeOf(ident.type)]))
  const environment: Environment = declareEnvironment({
    variables,
    extended: true,
    ...(container === undefined ? {} : { container }),
  })
  const parsed = parseExpression(expr, true)
  if (!parsed.ok) return { findings: parsed.findings, found: "", run: () => ({ value: "no tree" }) }
  const checker = new TreeChecker(expr, environment)
  const found = checker.check(parsed.tree).text
  const values = new Map(Object.entries(bindings).map(([name, { value }]) => [name, readValue(value)]))
  const readVariable = (name: string): CelClosure => {
    return () => values.get(name)
  }
  const run = (isPartial: boolean): Outcome => {
    const compiler = new TreeCompiler({ environment, readVariable, isPartial })
    const closure = compiler.compile(parsed.tree)
    try {
      return {
        value: metered(costMaxDefault, closure, { values: undefined, locals: new Array(compiler.slots) }),
      }
    } catch (error) {
      if (error instanceof ExpressionError) return { error }
      throw error
    }
  }
  return { findings: checker.findings, found, run }
}

/** What a constant argument does wrong is found when the expression is checked, earlier than the case asks. */
function isEarlyError({ kind }: ExpressionFinding): boolean {
  return kind === "type" || kind === "regex"
}

function show(outcome: Outcome): string {
  if ("error" in outcome) return `error: ${outcome.error.message}`
  return `${kindOf(outcome.value)} ${String(outcome.value)}`
}

/** Undefined when a case comes out as it should, else what came out. */
function failureOf(original: Case): string | undefined {
  const { findings, run } = prepare(original)
  if (original.disableCheck !== true && findings.length > 0) {
    if (original.evalError !== undefined && findings.every(isEarlyError)) return undefined
    return findings.map((finding) => `${finding.kind}: ${finding.message}`).join("; ")
  }
  const wanted = original.value === undefined ? true : readValue(original.value)
  // A condition whose parameters are all there is evaluated in either way.
  for (const isPartial of [false, true]) {
    const outcome = run(isPartial)
    const isRight =
      original.evalError === undefined
        ? "value" in outcome && same(wanted, outcome.value)
        : "error" in outcome
    if (!isRight) return show(outcome)
  }
  return undefined
}

interface Found {
  readonly id: string
  readonly original: Case
  /** What cel-go's checker takes the expression for. */
  readonly type: string | undefined
}

function casesBelow(suite: SerializedIncrementalTestSuite, path: string): Found[] {
  const own = (suite.tests ?? []).map(({ original, type }) => ({
    id: `${path}/${original.name}`,
    original: original as unknown as Case,
    type,
  }))
  return [...own, ...(suite.suites ?? []).flatMap((child) => casesBelow(child, `${path}/${child.name}`))]
}

const all = (tests.suites ?? [])
  .filter(({ name }) => suites.includes(name))
  .flatMap((suite) => casesBelow(suite, suite.name))
const withMessages = all.filter(({ original }) => message.test(original.expr))
const cases = all.filter(({ original }) => !message.test(original.expr))

describe("the conformance cases of CEL", () => {
  test("are all there", () => {
    expect(new Set(all.map(({ id }) => id.split("/")[0])).size).toBe(suites.length)
    expect({ cases: cases.length, withMessages: withMessages.length }).toEqual({
      cases: 1541,
      withMessages: 101,
    })
  })

  test.each(cases)("$id", ({ id, original }) => {
    const failure = failureOf(original)
    if (deviations[id] === undefined) expect(failure, original.expr).toBeUndefined()
    else expect(failure, `${original.expr} comes out right`).toBeDefined()
  })

  test("have the types cel-go finds", () => {
    const others = cases.flatMap(({ id, original, type }) => {
      if (type === undefined) return []
      const { findings, found } = prepare(original)
      // A value of a type is of the type `type` here, whatever it is the type of.
      const wanted = type
        .replace(/^type\(.*\)$/, "type")
        .replaceAll("(", "<")
        .replaceAll(")", ">")
      if (found === wanted || (findings.length > 0 && findings.every(isEarlyError))) return []
      return [`${id}: ${found}, not ${wanted}`]
    })
    expect(others).toEqual(vaguer)
  })

  test("are listed where they come out otherwise", () => {
    const ids = new Set(cases.map(({ id }) => id))
    expect(Object.keys(deviations).filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(deviations).length).toBeLessThanOrEqual(10)
  })
})
