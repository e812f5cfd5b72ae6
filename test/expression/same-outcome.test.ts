import { describe, expect, it, test } from "vitest"
import { compileExpression } from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import { compareTests, compareTruth } from "../../runtime/expression/same-outcome.ts"
import { randomOf } from "../diff/edits.ts"

const rows: readonly (readonly [relation: string, before: string, after: string])[] = [
  [
    "same",
    '!(request.method == "A" && request.path == "/x")',
    'request.method != "A" || request.path != "/x"',
  ],
  ["same", '!(request.method == "A" || jwt.admin)', 'request.method != "A" && !jwt.admin'],
  ["same", 'request.method=="A"', '("A" == request.method)'],
  ["same", '!!(request.method == "A")', 'request.method == "A"'],
  ["same", 'request.method == "A" && request.path == "/x"', 'request.path == "/x" && request.method == "A"'],
  ["same", 'request.method in ["A", "B"]', 'request.method == "B" || request.method == "A"'],
  ["same", 'request.method == "A" ? false : true', 'request.method != "A"'],
  ["same", "jwt.a && true", "jwt.a"],
  ["same", 'request.method == "A" && request.method == "B"', "false"],
  ["same", "jwt.a && jwt.b", "!(!jwt.a || !jwt.b)"],
  ["narrower", 'request.method == "A"', 'request.method == "A" && request.path == "/x"'],
  ["wider", 'request.method == "A"', 'request.method in ["A", "B"]'],
  ["other", 'request.method == "A"', 'request.method == "B"'],
  // Of two failures the first counts.
  ["other", "jwt.a && jwt.b", "jwt.b && jwt.a"],
  // A claim that is not there fails where there was no request for it.
  ["other", 'request.method == "A"', 'request.method == "A" || jwt.a'],
  // What costs most is not begun where the first side decides.
  [
    "other",
    'request.method == "A" && request.body.items.all(i, i.ok)',
    'request.body.items.all(i, i.ok) && request.method == "A"',
  ],
  ["other", "jwt.a == 1", "jwt.a == 1.0"],
  ["other", "(", "("],
]

describe("two tests", () => {
  for (const [relation, before, after] of rows)
    it(`${before} and ${after}: ${relation}`, () => {
      expect(compareTests(before, after)).toBe(relation)
    })

  it("are not compared where there are too many cases", () => {
    const many = Array.from({ length: 16 }, (_, at) => `jwt.a${at}`)
    expect(compareTests(many.join(" && "), `!!(${many.join(" && ")})`)).toBe("other")
  })

  it("of a condition count what is not known", () => {
    expect(compareTests("!(a < b && c)", "!(a < b) || !c", true)).toBe("same")
    expect(compareTests("a && b", "a && (b || (b && c))", true)).toBe("other")
  })

  it("of a condition compare where they are true, also where one fails and the other does not", () => {
    expect(compareTruth("a", "a && b")).toBe("narrower")
    expect(compareTruth("a && b", "b")).toBe("wider")
    expect(compareTruth("a", "!a")).toBe("other")
    expect(compareTruth("a", "b || a")).toBe("wider")
    expect(compareTruth("x < 12", "x < 13")).toBe("other")
  })
})

const environment = declareEnvironment({ variables: { a: "dyn", b: "dyn", c: "dyn", x: "string" } })

test("random tests come to what their comparison says", () => {
  const random = randomOf(20261123)
  const one = <Item>(...items: readonly Item[]): Item => items[random(items.length)] as Item
  const draw = (depth: number): string => {
    if (depth === 0 || random(4) === 0) return one("a", "b", "c", 'x == "1"', 'x == "2"', '"1" == x', "true")
    const [left, right] = [draw(depth - 1), draw(depth - 1)]
    return one(
      `!(${left})`,
      `(${left} && ${right})`,
      `(${left} || ${right})`,
      `(${left} ? ${right} : ${draw(depth - 1)})`,
    )
  }
  const said = { same: 0, narrower: 0, wider: 0, other: 0 }
  for (let round = 0; round < 4000; round += 1) {
    const first = draw(2)
    const joined = one(`!(!(${first}))`, `(${first}) && x == "1"`, `(${first}) || x == "1"`, draw(2))
    const sources = [first, joined] as const
    const relation = compareTests(...sources)
    said[relation] += 1
    if (relation === "other") continue
    const [before, after] = sources.map((source) => evaluatedBy(source)) as [Evaluated, Evaluated]
    for (let at = 0; at < 20; at += 1) {
      const claim = () => one<unknown>(true, false, "no test")
      const bindings = { a: claim(), b: claim(), c: claim(), x: one("1", "2", "3") }
      const [old, next] = [before(bindings), after(bindings)]
      const differs = old !== next
      const shown = JSON.stringify({ sources, relation, bindings, old, next })
      if (differs)
        expect(
          relation === "narrower" ? old === true && next === false : old === false && next === true,
          shown,
        ).toBe(true)
      if (differs) expect(relation, shown).not.toBe("same")
    }
  }
  for (const kind of ["same", "narrower", "wider"] as const) expect(said[kind]).toBeGreaterThan(40)
})

type Evaluated = (bindings: Readonly<Record<string, unknown>>) => unknown

/** True, false, or what the failure says. */
function evaluatedBy(source: string): Evaluated {
  const evaluate = compileExpression(source, environment)
  return (bindings) => {
    try {
      const value = evaluate(bindings)
      return typeof value === "boolean" ? value : "failed"
    } catch (error) {
      if (error instanceof ExpressionError) return "failed"
      throw error
    }
  }
}
