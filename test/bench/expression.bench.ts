import { Environment as Library } from "@marcbachmann/cel-js"
import { checkExpression, compileExpression } from "../../runtime/expression/compile.ts"
import { compileCondition } from "../../runtime/expression/condition.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { compare, must } from "./side-by-side.ts"

// Expressions checked and evaluated, in one run with the fastest library of the language for JavaScript, round by round in turn.

const measuring = { roundMs: 120, warmUps: 1, unit: "× cel-js", least: 1 }

const variables = {
  i: "int",
  j: "int",
  s: "string",
  l: "list<int>",
  jwt: "map<string, dyn>",
  t: "timestamp",
} as const

const bindings = {
  i: 1234n,
  j: 77n,
  s: "hello",
  l: Array.from({ length: 20 }, (_, index) => BigInt(index * 5)),
  jwt: { sub: "ann", level: 3, roles: ["staff", "auditor"], tenant: { id: "t1" } },
  t: new Date("2026-01-31T08:00:00Z"),
}

const expressions: readonly [name: string, source: string][] = [
  ["a comparison", "i < 2000"],
  ["arithmetic", "i * 2 + j % 7 - 3 > i / 2"],
  ["strings", 's.startsWith("he") && s + "!" != "hello" && s.contains("ell")'],
  ["a pattern", 's.matches("^h[a-z]+o$")'],
  ["a comprehension", "l.exists(x, x > 90) && l.filter(x, x % 2 == 0).size() > 3"],
  ["a map of a list", "l.map(x, x * 2 + i).size() == 20"],
  ["claims", '"admin" in jwt.roles || jwt.level >= 3.0 && jwt.tenant.id == "t1"'],
  ["a timestamp", 't < timestamp("2026-02-01T00:00:00Z")'],
]

const ours = declareEnvironment({ variables })
const theirs = new Library()
for (const [name, type] of Object.entries(variables)) {
  theirs.registerVariable(name, name === "t" ? "google.protobuf.Timestamp" : type)
}

for (const [name, source] of expressions) {
  compare(
    `check ${name}`,
    () => must(checkExpression(source, ours).ok, true, source),
    () => must(theirs.parse(source).check().valid, true, source),
    measuring,
  )
}

for (const [name, source] of expressions) {
  const our = compileExpression(source, ours)
  const their = theirs.parse(source)
  compare(
    `evaluate ${name}`,
    () => must(our(bindings), true, source),
    () => must(their(bindings), true, source),
    measuring,
  )
}

/** Conditions of a model: ours convert the JSON of a request themselves, the library gets values it understands. */
const conditions: readonly [string, Record<string, string>, string, object, object][] = [
  [
    "a condition of numbers",
    { x: "int", y: "int" },
    "x < 100 || y < 50",
    { x: 500, y: 5 },
    { x: 500n, y: 5n },
  ],
  [
    "a condition of texts",
    { grade: "string", allowed: "list<string>" },
    'grade in allowed && grade != "none"',
    { grade: "b", allowed: ["a", "b"] },
    { grade: "b", allowed: ["a", "b"] },
  ],
]

for (const [name, parameters, expression, request, converted] of conditions) {
  const declared = Object.entries(parameters).map(([key, type]) => {
    const [, outer = "", inner] = /^(\w+)(?:<(\w+)>)?$/.exec(type) ?? []
    const generic =
      inner === undefined ? {} : { generic_types: [{ type_name: `TYPE_NAME_${inner.toUpperCase()}` }] }
    return [key, { type_name: `TYPE_NAME_${outer.toUpperCase()}`, ...generic }] as const
  })
  const made = compileCondition({ name: "c", expression, parameters: Object.fromEntries(declared) })
  if (!made.ok) throw new Error(expression)
  const library = new Library()
  for (const [key, type] of Object.entries(parameters)) library.registerVariable(key, type)
  const their = library.parse(expression)
  compare(
    `evaluate ${name}`,
    () => must(made.condition.evaluate({ request: request as Record<string, unknown> }), true, expression),
    () => must(their(converted as Record<string, unknown>), true, expression),
    measuring,
  )
}
