import { describe, expect, test } from "vitest"
import { type Bindings, compileExpression, toJson, toText } from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import { bindings, declarations } from "./sample.ts"

const environment = declareEnvironment(declarations)

function evaluate(source: string, values: Bindings = bindings): unknown {
  return compileExpression(source, environment)(values)
}

function reasonOf(run: () => unknown): string {
  try {
    return `value ${String(run())}`
  } catch (error) {
    return error instanceof ExpressionError ? error.reason : String(error)
  }
}

describe("compiled expressions", () => {
  test("refuse a source the check refuses", () => {
    expect(() => compileExpression("nobody", environment)).toThrow(TypeError)
  })

  test("read own variables only, and no missing ones", () => {
    const odd = declareEnvironment({ variables: { constructor: "dyn", other: "int" } })
    const read = compileExpression("constructor", odd)
    expect(reasonOf(() => read({}))).toBe("no-such-key")
    expect(read({ constructor: 1 })).toBe(1)
    expect(reasonOf(() => compileExpression("other", odd)({}))).toBe("no-such-key")
  })

  test.each([
    ["i", { i: "3" }],
    ["i", { i: 1.5 }],
    ["s", { s: 3 }],
    ["yes", { yes: 1 }],
    ["l", { l: { length: 1 } }],
    ["m", { m: [] }],
    ["person.name", { person: "Ann" }],
    ["person.age", { person: { age: "42" } }],
  ])("refuse a value of another type than declared: %s", (source, values) => {
    expect(reasonOf(() => evaluate(source, values))).toBe("type")
  })

  test("take whole numbers for ints and dates for timestamps, and give bigints", () => {
    expect(evaluate("i", { i: 3 })).toBe(3n)
    expect(evaluate("i", { i: 9007199254740993n })).toBe(9007199254740993n)
    expect(evaluate("t == timestamp('2026-01-31T08:00:00Z')", { t: new Date("2026-01-31T08:00:00Z") })).toBe(
      true,
    )
    expect(evaluate("l[0] + 1", { l: [1] })).toBe(2n)
  })

  test("call methods given with the declaration", () => {
    const calls = declareEnvironment({
      variables: { request: "Request" },
      objects: {
        Request: {
          fields: {},
          methods: {
            header: {
              parameters: ["string"],
              returns: "string",
              call: (request, name) => (request as Record<string, string>)[String(name)],
            },
            broken: {
              parameters: [],
              returns: "int",
              call: () => {
                throw new Error("no")
              },
            },
          },
        },
      },
    })
    const request = { a: "b" }
    expect(compileExpression('request.header("a") == "b"', calls)({ request })).toBe(true)
    expect(reasonOf(() => compileExpression('request.header("x")', calls)({ request }))).toBe("no-such-key")
    expect(reasonOf(() => compileExpression("request.broken()", calls)({ request }))).toBe("other")
  })

  test("keep their budget when a method evaluates something itself", () => {
    const inner = compileExpression("[1, 2, 3].all(x, x > 0)", declareEnvironment({ variables: {} }))
    const outer = declareEnvironment({
      variables: { o: "Outer" },
      objects: {
        Outer: { fields: {}, methods: { run: { parameters: [], returns: "bool", call: () => inner({}) } } },
      },
    })
    const run = compileExpression("[1, 2, 3, 4].all(x, o.run())", outer, { costMax: 40 })
    expect(run({ o: {} })).toBe(true)
  })

  test("end at the cost limit, which nothing absorbs", () => {
    const list = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    let source = "true"
    for (const name of "abcdefg") source = `${list}.all(${name}, ${source})`
    expect(reasonOf(() => evaluate(source))).toBe("cost")
    expect(reasonOf(() => evaluate(`${source} || true`))).toBe("cost")
    const few = compileExpression("l.all(x, x > 0)", environment, { costMax: 5 })
    expect(reasonOf(() => few(bindings))).toBe("cost")
    const long = { s: "x".repeat(1_000_000) }
    expect(reasonOf(() => evaluate("s.replace('x', s)", long))).toBe("cost")
    expect(reasonOf(() => evaluate("[s].map(a, a + a).map(a, a + a).map(a, a + a)", long))).toBe("cost")
  })

  test("survive data nested without end", () => {
    const deep = (): unknown => {
      let value: unknown = 1
      for (let level = 0; level < 100_000; level++) value = [value]
      return value
    }
    const twice = declareEnvironment({ variables: { a: "dyn", b: "dyn" } })
    const values = { a: deep(), b: deep() }
    expect(reasonOf(() => compileExpression("a == b", twice)(values))).toBe("cost")
    expect(reasonOf(() => toJson(values.a))).toBe("cost")
  })
})

describe("texts", () => {
  test.each([
    ['"a"', "a"],
    ["i", "3"],
    ["u", "4"],
    ["d", "2.5"],
    ["1e21", "1e+21"],
    ["claims.level", "3"],
    ["12345678.0", "12345678"],
    ["yes", "true"],
    ["t", "2026-01-31T08:00:00Z"],
    ["r", "5400s"],
  ])("%s is written %s", (source, text) => expect(toText(evaluate(source))).toBe(text))

  test.each(["l", "m", "claims.none", "type(1)", "ip", "person", "b'a'"])("%s has no text", (source) => {
    expect(reasonOf(() => toText(evaluate(source)))).toBe("type")
  })
})

describe("JSON", () => {
  test.each<[string, unknown]>([
    ["i", 3],
    ["u", 4],
    ["9007199254740993", "9007199254740993"],
    ["2.5", 2.5],
    ["null", null],
    ["b'a'", "YQ=="],
    ["t", "2026-01-31T08:00:00Z"],
    ["[1, 'a', true]", [1, "a", true]],
    ["{1: 'a', 'b': [2.5]}", { 1: "a", b: [2.5] }],
    ["claims.nested", { deep: [{ x: 1 }] }],
  ])("%s", (source, json) => expect(toJson(evaluate(source))).toEqual(json))

  test("a key `__proto__` stays a key", () => {
    const json = toJson(evaluate("{'__proto__': {'admin': true}}"))
    expect(JSON.stringify(json)).toBe('{"__proto__":{"admin":true}}')
    expect((json as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each(["0.0 / 0.0", "1.0 / 0.0", "type(1)", "ip"])("%s is no JSON", (source) => {
    expect(reasonOf(() => toJson(evaluate(source)))).toBe("type")
  })
})
