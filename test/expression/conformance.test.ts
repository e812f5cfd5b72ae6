import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { type ConditionSource, checkContext, compileCondition } from "../../runtime/expression/condition.ts"
import { parametersOf } from "./parameters.ts"

const root = fileURLToPath(new URL("../../../shared/conformance", import.meta.url))
const reason = "the folder ../shared/conformance is not there"

// This condition of a transformer case names a parameter it does not declare; OpenFGA's server refuses it too.
const undeclared = "doc_viewer_condition"

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(yaml|fga|json)$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}

/** Parameters as written: `x: int, m: map<string>`. */
function readParameters(text: string): Record<string, string> {
  const parts = text.split(",").filter((part) => part.trim() !== "")
  return Object.fromEntries(parts.map((part) => part.split(":").map((side) => side.trim())))
}

const inText = /condition\s+(\w+)\s*\(([^)]*)\)\s*\{([^{}]*)\}/g

function conditionsOfText(text: string): ConditionSource[] {
  return Array.from(text.matchAll(inText), ([, name = "", parameters = "", expression = ""]) => ({
    name,
    expression: expression.trim(),
    parameters: parametersOf(readParameters(parameters)),
  }))
}

function conditionsOfFile(file: string): ConditionSource[] {
  const text = readFileSync(file, "utf8")
  if (!file.endsWith(".json")) return conditionsOfText(text)
  const model = JSON.parse(text) as { conditions?: Record<string, ConditionSource> }
  return Object.values(model.conditions ?? {})
}

/** Each distinct expression with its parameters, by the first file that has it. */
function distinct(folders: readonly string[]): Map<string, ConditionSource> {
  const found = new Map<string, ConditionSource>()
  for (const folder of folders) {
    for (const file of filesBelow(`${root}/${folder}`)) {
      for (const condition of conditionsOfFile(file)) {
        if (condition.name !== undeclared)
          found.set(`${condition.expression} ${JSON.stringify(condition.parameters)}`, condition)
      }
    }
  }
  return found
}

// What the suites themselves expect of these expressions, over the values they give them.
const outcomes: [
  expression: string,
  parameters: Record<string, string>,
  context: object,
  outcome: unknown,
][] = [
  ["x < 100", { x: "int" }, { x: 10 }, true],
  ["x < 100", { x: "int" }, { x: 200 }, false],
  [
    'ts < timestamp("2023-10-11T10:00:00.000Z")',
    { ts: "timestamp" },
    { ts: "2023-10-11T09:00:00.000Z" },
    true,
  ],
  [
    'ts < timestamp("2023-10-11T10:00:00.000Z")',
    { ts: "timestamp" },
    { ts: "2023-10-11T11:00:00.000Z" },
    false,
  ],
  [
    "user_ip.in_cidr(cidr)",
    { user_ip: "ipaddress", cidr: "string" },
    { user_ip: "192.168.0.1", cidr: "192.168.0.0/24" },
    true,
  ],
  [
    "user_ip.in_cidr(cidr)",
    { user_ip: "ipaddress", cidr: "string" },
    { user_ip: "192.169.0.1", cidr: "192.168.0.0/24" },
    false,
  ],
  ["x > 0.0", { x: "double" }, { x: 0.5 }, true],
]

describe("conditions of OpenFGA's suites", () => {
  const conditions = distinct([
    "openfga",
    "sample-stores",
    "language/transformer",
    "language/transformer-module",
  ])

  test("are found", (context) => {
    if (!existsSync(root)) context.skip(reason)
    expect(conditions.size).toBeGreaterThan(25)
  })

  test.each([...conditions.values()])("compiles $expression", (condition) => {
    const made = compileCondition(condition)
    expect(made).toMatchObject({ ok: true })
    if (!made.ok) return
    expect(made.condition.evaluate({})).toEqual({ missing: made.condition.used })
    expect(checkContext(condition, {})).toBeUndefined()
  })

  test.each(outcomes)("%s %o with %o", (expression, parameters, request, outcome) => {
    const made = compileCondition({ name: "c", expression, parameters: parametersOf(parameters) })
    expect(made.ok && made.condition.evaluate({ request: { ...request } })).toBe(outcome)
  })
})
