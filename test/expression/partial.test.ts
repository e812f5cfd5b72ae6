import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compileCondition } from "../../runtime/expression/condition.ts"
import { reduced } from "../support/random-run.ts"
import { parametersOf } from "./parameters.ts"

// Conditions with some of their parameters missing, against the same conditions with all of them: what is answered early must be
// the answer whatever the missing ones turn out to be.

const types = { a: "bool", b: "bool", i: "int", j: "int", s: "string", l: "list<int>" } as const
type Name = keyof typeof types
const names = Object.keys(types) as Name[]

interface Terms {
  int: string
  bool: string
  text: string
  list: string
}

const { bool } = fc.letrec<Terms>((tie) => {
  const depth = { maxDepth: 4 }
  const pair = (side: keyof Terms, ...signs: string[]) =>
    fc
      .tuple(tie(side), fc.constantFrom(...signs), tie(side))
      .map(([left, sign, right]) => `(${left} ${sign} ${right})`)
  const conditional = (side: keyof Terms) =>
    fc.tuple(tie("bool"), tie(side), tie(side)).map(([test, yes, no]) => `(${test} ? ${yes} : ${no})`)
  return {
    int: fc.oneof(
      depth,
      fc.constantFrom("i", "j", "0", "1", "2"),
      pair("int", "+", "-", "*", "/", "%"),
      conditional("int"),
      tie("list").map((list) => `size(${list})`),
      fc.tuple(tie("list"), tie("int")).map(([list, at]) => `${list}[${at}]`),
    ),
    bool: fc.oneof(
      depth,
      fc.constantFrom("a", "b", "a", "b", "true", "false"),
      pair("bool", "&&", "||", "&&", "||", "=="),
      pair("int", "<", ">=", "==", "!="),
      pair("text", "==", "<"),
      conditional("bool"),
      tie("bool").map((value) => `!${value}`),
      fc.tuple(tie("int"), tie("list")).map(([element, list]) => `(${element} in ${list})`),
      fc
        .tuple(tie("list"), fc.constantFrom("all", "exists", "exists_one"), tie("bool"))
        .map(([list, macro, test]) => `${list}.${macro}(x, x > 0 && ${test})`),
      fc.tuple(tie("list"), tie("int")).map(([list, int]) => `${list}.all(n, x, n < ${int} || 4 / x > 1)`),
    ),
    text: fc.oneof(depth, fc.constantFrom("s", "'p'", "'q'"), pair("text", "+")),
    list: fc.oneof(
      depth,
      fc.constantFrom("l", "[0, 1]", "[2]"),
      fc.tuple(tie("int"), tie("int")).map(([first, second]) => `[${first}, ${second}]`),
      fc.tuple(tie("list"), tie("int")).map(([list, int]) => `${list}.map(x, x + ${int})`),
      fc.tuple(tie("list"), tie("bool")).map(([list, test]) => `${list}.filter(x, ${test})`),
    ),
  }
})

const context = fc.record({
  a: fc.boolean(),
  b: fc.boolean(),
  i: fc.oneof(fc.integer({ min: -2, max: 3 }), fc.constant("9223372036854775807"), fc.constant("wrong")),
  j: fc.integer({ min: -2, max: 3 }),
  s: fc.constantFrom("p", "q", "", 1),
  l: fc.array(fc.integer({ min: -1, max: 2 }), { maxLength: 3 }),
})

const counts = { decided: 0, missing: 0, error: 0 }

function judge(
  expression: string,
  given: Record<string, unknown>,
  absent: readonly Name[],
  others: object[],
): void {
  const made = compileCondition({ name: "c", expression, parameters: parametersOf(types) })
  if (!made.ok) throw new Error(`${expression}: ${JSON.stringify(made.findings)}`)
  const { condition } = made
  const request = Object.fromEntries(Object.entries(given).filter(([name]) => !absent.includes(name as Name)))
  const early = condition.evaluate({ request })
  if (typeof early === "object" && "missing" in early) {
    counts.missing++
    expect(early.missing.length).toBeGreaterThan(0)
    expect(early.missing).toEqual([...early.missing].sort())
    for (const name of early.missing) {
      expect(absent).toContain(name)
      expect(condition.used).toContain(name)
    }
    return
  }
  counts[typeof early === "boolean" ? "decided" : "error"]++
  for (const other of others) {
    const late = condition.evaluate({ stored: request, request: { ...given, ...other } })
    if (typeof early === "boolean") expect(late, expression).toBe(early)
    else expect(late, expression).toHaveProperty("error")
  }
}

describe("missing parameters", () => {
  test("never turn an answer round", () => {
    fc.assert(
      fc.property(
        bool,
        context,
        fc.subarray(names, { minLength: 1 }),
        fc.array(context, { minLength: 3, maxLength: 6 }),
        (expression, given, absent, others) => {
          fc.pre(expression.length < 3000)
          judge(expression, given, absent, others)
        },
      ),
      { numRuns: reduced(1_500, 4_000) },
    )
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(reduced(30, 100))
  })
})
