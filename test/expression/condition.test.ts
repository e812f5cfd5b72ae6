import { describe, expect, test } from "vitest"
import {
  type CompiledCondition,
  type ConditionContext,
  checkContext,
  compileCondition,
} from "../../runtime/expression/condition.ts"
import { type Parameters, parametersOf } from "./parameters.ts"

function compile(expression: string, parameters: Parameters): CompiledCondition {
  const made = compileCondition({ name: "c", expression, parameters: parametersOf(parameters) })
  if (!made.ok) throw new Error(JSON.stringify(made.findings))
  return made.condition
}

function findingsOf(expression: string, parameters: Parameters): string[] {
  const made = compileCondition({ name: "c", expression, parameters: parametersOf(parameters) })
  return made.ok ? [] : made.findings.map(({ kind, start, end }) => `${kind} ${expression.slice(start, end)}`)
}

const missing = (...names: string[]) => ({ missing: names })

describe("outcomes", () => {
  test.each<[string, Parameters, ConditionContext, unknown]>([
    ["x < 100", { x: "int" }, { request: { x: 5 } }, true],
    ["x < 100", { x: "int" }, { request: { x: 500 } }, false],
    ["x < 100", { x: "int" }, { request: {} }, missing("x")],
    ["x < 100", { x: "int" }, {}, missing("x")],
    ["x < 100", { x: "int" }, { request: { x: 5 }, stored: { x: 500 } }, false],
    ["x < 100", { x: "int" }, (name: string) => (name === "x" ? 5 : undefined), true],
    ["x < 100 || y < 50", { x: "int", y: "int" }, { request: { x: 5 } }, true],
    ["x < 100 || y < 50", { x: "int", y: "int" }, { request: { y: 5 } }, true],
    ["x < 100 || y < 50", { x: "int", y: "int" }, { request: { x: 500 } }, missing("y")],
    ["x < 100 || y < 50", { x: "int", y: "int" }, { request: { y: 500 } }, missing("x")],
    ["x < 100 || y < 50", { y: "int", x: "int" }, {}, missing("x", "y")],
    ["x < 100 && y < 50", { x: "int", y: "int" }, { request: { x: 500 } }, false],
    ["x < 100 && y < 50", { x: "int", y: "int" }, { request: { y: 500 } }, false],
    ["x < 100 && y < 50", { x: "int", y: "int" }, { request: { x: 5 } }, missing("y")],
    ["x + y < z", { x: "int", y: "int", z: "int" }, { request: { y: 1 } }, missing("x", "z")],
    ["x < y && 1 / z == 1", { x: "int", y: "int", z: "int" }, { request: { z: 0 } }, missing("x", "y")],
    ["a ? x < 1 : y < 1", { a: "bool", x: "int", y: "int" }, { request: { a: true, x: 0 } }, true],
    ["a ? x < 1 : y < 1", { a: "bool", x: "int", y: "int" }, { request: { a: false } }, missing("y")],
    ["a ? x < 1 : y < 1", { a: "bool", x: "int", y: "int" }, {}, missing("a")],
    ["!(x == 1)", { x: "int" }, {}, missing("x")],
    ["x in [y, z]", { x: "int", y: "int", z: "int" }, {}, missing("x", "y", "z")],
    ["l.exists(e, e == x)", { l: "list<int>", x: "int" }, { request: { l: [1] } }, missing("x")],
    ["l.exists(e, e == x || e == 1)", { l: "list<int>", x: "int" }, { request: { l: [2, 1] } }, true],
    ["l.all(e, e == x)", { l: "list<int>", x: "int" }, { request: { l: [] } }, true],
    ["l.map(e, e + x).size() == 1", { l: "list<int>", x: "int" }, { request: { l: [1] } }, missing("x")],
    ["has(m.a)", { m: "map<string>" }, {}, missing("m")],
    ["(x < 1 ? y : z) && b", { x: "int", y: "bool", z: "bool", b: "bool" }, { request: { b: false } }, false],
    ["b && (x < 1 ? y : z)", { x: "int", y: "bool", z: "bool", b: "bool" }, { request: { b: false } }, false],
    ["l.all(e, e > x) && false", { l: "list<int>", x: "int" }, {}, false],
    ["l.all(e, e > x)", { l: "list<int>", x: "int" }, {}, missing("l")],
    ["l.all(e, e > 1 && e > x)", { l: "list<int>", x: "int" }, { request: { l: [3, 1, 2] } }, false],
    [
      "l.all(e, e > 1 && e > x + y)",
      { l: "list<int>", x: "int", y: "int" },
      { request: { l: [3, 2] } },
      missing("x", "y"),
    ],
    ["l.exists_one(e, e == x)", { l: "list<int>", x: "int" }, { request: { l: [3, 2] } }, missing("x")],
    ["l.exists(i, e, i == 0 && e == x)", { l: "list<int>", x: "int" }, { request: { l: [] } }, false],
    [
      "l.filter(e, e > x).size() == y",
      { l: "list<int>", x: "int", y: "int" },
      { request: { l: [1] } },
      missing("x", "y"),
    ],
    [
      "l.transformMap(i, e, e + x) == {}",
      { l: "list<int>", x: "int" },
      { request: { l: [1] } },
      missing("x"),
    ],
    ["l.transformMap(i, e, e + x) == {}", { l: "list<int>", x: "int" }, { request: { l: [] } }, true],
    ["s.matches('^a') || s2 == 'b'", { s: "string", s2: "string" }, { request: { s2: "b" } }, true],
    ["s.matches('^a')", { s: "string" }, {}, missing("s")],
    ["s in ['a', 'b'] && t == s", { s: "string", t: "string" }, { request: { s: "c" } }, false],
    ["[x, 1].exists(e, e == 1)", { x: "int" }, {}, missing("x")],
    // An error whatever the missing one is; one that it may yet make irrelevant.
    ["x + 1 / z > 0", { x: "int", z: "int" }, { request: { z: 0 } }, { error: "`/` by zero" }],
    ["x > 0 || 1 / z > 0", { x: "int", z: "int" }, { request: { z: 0 } }, missing("x")],
    ["1 / z > 0 || x > 0", { x: "int", z: "int" }, { request: { z: 0 } }, missing("x")],
    ["m.a == 'x'", { m: "map<string>" }, { request: { m: { a: "x" } } }, true],
    ["m['b'] == 'x'", { m: "map<string>" }, { request: { m: {} } }, { error: "there is no `b`" }],
    ["1 / x == 1", { x: "int" }, { request: { x: 0 } }, { error: "`/` by zero" }],
    ["1 / x == 1 || true", { x: "int" }, { request: { x: 0 } }, true],
    ["true", {}, { request: { any: 1 } }, true],
  ])("%s %o in %o", (expression, parameters, context, outcome) => {
    expect(compile(expression, parameters).evaluate(context)).toEqual(outcome)
  })

  test("every parameter that is read may be demanded, unless the outcome is false", () => {
    const condition = compile("x < 100 || y < 50", { y: "int", x: "int", unused: "int" })
    const demand = (request: Record<string, unknown>) => condition.evaluate({ request }, "read")
    expect(demand({})).toEqual(missing("x", "y"))
    expect(demand({ x: 1 })).toEqual(missing("y"))
    expect(demand({ x: 100 })).toEqual(missing("y"))
    expect(demand({ x: 1, y: 99 })).toBe(true)
    expect(condition.evaluate({ stored: { y: 1 }, request: { x: 1 } }, "read")).toBe(true)
    expect(condition.evaluate({ request: { x: 1 } }, "needed")).toBe(true)
    const both = compile("x < 100 && y < 50", { y: "int", x: "int" })
    expect(both.evaluate({ request: { x: 100 } }, "read")).toBe(false)
    expect(both.evaluate({ request: { y: 1 } }, "read")).toEqual(missing("x"))
    expect(both.evaluate({ request: { x: "ten" } }, "read")).toEqual(missing("y"))
  })

  test("a reserved word may name a parameter and not be read", () => {
    const made = compileCondition({
      name: "c",
      expression: "x < 1",
      parameters: parametersOf({ x: "int", for: "int" }),
    })
    expect(made).toMatchObject({ ok: true })
    expect(findingsOf("for < 1", { for: "int" })).toEqual(["syntax for"])
  })

  test("a null in the stored context wins over the request", () => {
    const condition = compile("x == null", { x: "any" })
    expect(condition.evaluate({ stored: { x: null }, request: { x: 1 } })).toBe(true)
  })

  test("own keys of a context only", () => {
    const condition = compile("toString == 'x'", { toString: "any" })
    expect(condition.evaluate({ request: {} })).toEqual(missing("toString"))
  })

  test("names are told", () => {
    const condition = compile("y < 1 && y > z", { z: "int", y: "int", unused: "int" })
    expect(condition.parameters).toEqual(["unused", "y", "z"])
    expect(condition.used).toEqual(["y", "z"])
  })

  test("a chain of 300 parameters names all that are missing", () => {
    const names = Array.from({ length: 300 }, (_, index) => `p${String(index).padStart(3, "0")}`)
    const parameters = Object.fromEntries(names.map((name) => [name, "int"]))
    const condition = compile(names.map((name) => `${name} > 0`).join(" || "), parameters)
    expect(condition.evaluate({})).toEqual({ missing: names })
  })

  test("hostile contexts end with an error", () => {
    const condition = compile("l.all(a, l.all(b, l.all(c, a + b + c > 0)))", { l: "list<int>" })
    const l = Array.from({ length: 1000 }, () => 1)
    expect(condition.evaluate({ request: { l } })).toEqual({ error: "the evaluation takes too many steps" })
  })
})

describe("conversions", () => {
  const far = "9223372036854775807"
  test.each<[string, Parameters, unknown, unknown]>([
    ["x == 5", { x: "int" }, 5, true],
    ["x == 5", { x: "int" }, "5", true],
    ["x == -5", { x: "int" }, "-5", true],
    ["x == 5", { x: "int" }, "5.0", true],
    ["x == 1000", { x: "int" }, "1e3", true],
    [`x == ${far}`, { x: "int" }, far, true],
    ["x == 9007199254740993", { x: "int" }, "9007199254740993", true],
    ["x == -9223372036854775808", { x: "int" }, "-9223372036854775808", true],
    ["x == 18446744073709551615u", { x: "uint" }, "18446744073709551615", true],
    ["x == 5u", { x: "uint" }, 5, true],
    ["x == 1.5", { x: "double" }, "1.5", true],
    ["x == 1.0", { x: "double" }, 1, true],
    ["x == duration('90m')", { x: "duration" }, "1h30m", true],
    ["x == timestamp('2026-01-31T08:00:00Z')", { x: "timestamp" }, "2026-01-31T10:00:00+02:00", true],
    ["x == ipaddress('::ffff:10.0.0.1')", { x: "ipaddress" }, "10.0.0.1", true],
    ["x.in_cidr('10.0.0.0/8')", { x: "ipaddress" }, "::ffff:10.0.0.1", true],
    ["x[0] == 5", { x: "list<int>" }, ["5"], true],
    ["x['a'] == 5", { x: "map<int>" }, { a: "5" }, true],
    ["x['__proto__'] == 5", { x: "map<int>" }, JSON.parse('{"__proto__": 5}'), true],
    ["x.a == 5", { x: "any" }, { a: 5 }, true],
    ["x == 5", { x: "any" }, 5, true],
    ["x", { x: "any" }, true, true],
  ])("%s %o with %o", (expression, parameters, x, outcome) => {
    expect(compile(expression, parameters).evaluate({ request: { x } })).toBe(outcome)
  })

  test.each<[string, string, unknown]>([
    ["x == 5", "int", 5.5],
    ["x == 5", "int", "five"],
    ["x == 9007199254740992", "int", 2 ** 53],
    ["x == 5u", "uint", 1e18],
    ["x == 5", "int", "9223372036854775808"],
    ["x == 5", "int", true],
    ["x == 5", "int", null],
    ["x == 5u", "uint", -1],
    ["x == 5u", "uint", "18446744073709551616"],
    ["x == 5.0", "double", "x"],
    ["x", "bool", "true"],
    ["x == 'a'", "string", 1],
    ["x == duration('1s')", "duration", 1],
    ["x == duration('1s')", "duration", "1 hour"],
    ["x == timestamp('2026-01-31T08:00:00Z')", "timestamp", "2023-10-11T11:00.000Z"],
    ["x == ipaddress('10.0.0.1')", "ipaddress", "10.0.0"],
    ["x[0] == 5", "list<int>", ["a"]],
    ["x[0] == 5", "list<int>", 5],
    ["x['a'] == 5", "map<int>", ["a"]],
  ])("%s refuses for %s %o", (expression, type, x) => {
    const wanted = expect.stringMatching(/^failed to convert context parameter 'x': /)
    expect(compile(expression, { x: type }).evaluate({ request: { x } })).toEqual({ error: wanted })
    expect(checkContext({ name: "c", expression, parameters: parametersOf({ x: type }) }, { x })).toEqual(
      wanted,
    )
    const absorbed = compile(`${expression} || true`, { x: type })
    expect(absorbed.evaluate({ request: { x } })).toBe(true)
  })

  test("a stored context is checked when it is written", () => {
    const source = { name: "c", expression: "x < 1", parameters: parametersOf({ x: "int", y: "string" }) }
    expect(checkContext(source, { x: 1 })).toBeUndefined()
    expect(checkContext(source, {})).toBeUndefined()
    expect(checkContext(source, { k: 1 })).toBe("found invalid context parameter: k")
    expect(checkContext(source, { y: 1 })).toBe(
      "failed to convert context parameter 'y': expected type value 'string', but found 'float64'",
    )
  })
})

describe("findings", () => {
  test.each<[string, Parameters, string[]]>([
    ["x < 'a'", { x: "int" }, ["no-overload x < 'a'"]],
    ["x", { x: "int" }, ["type x"]],
    ["y < 1", { x: "int" }, ["unknown-name y"]],
    ['uuid() == ""', {}, ["unknown-name uuid"]],
    ['base64.decode(x) == b""', { x: "string" }, ["unknown-name base64"]],
    ["[x].distinct() == [1]", { x: "int" }, ["unknown-name distinct"]],
    ["cel.bind(y, x, y > 1)", { x: "int" }, ["unknown-name cel", "unknown-name y", "unknown-name y"]],
    ["now < now", {}, ["unknown-name now", "unknown-name now"]],
    ["x <", { x: "int" }, ["syntax "]],
    ["x.in_cidr('10.0.0.0/99')", { x: "ipaddress" }, ["type '10.0.0.0/99'"]],
    ["x.matches('[')", { x: "string" }, ["regex '['"]],
    ["x", { x: "any" }, []],
    ["true", { x: "nothing" }, ["type "]],
    ["true", { x: "list" }, ["type "]],
    ["true", { x: "int<int>" }, ["type "]],
  ])("%s %o", (expression, parameters, wanted) => {
    expect(findingsOf(expression, parameters)).toEqual(wanted)
  })
})
