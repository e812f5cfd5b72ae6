import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { checkExpression, compileExpression, toJson } from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import { leastCpuMs } from "../support/busy.ts"
import { reduced } from "../support/random-run.ts"
import { bindings, declarations } from "./sample.ts"

const environment = declareEnvironment(declarations)

/** Checks, and evaluates what passes: only findings within the source and ExpressionErrors may come out. */
function survive(source: string): void {
  const checked = checkExpression(source, environment)
  if (!checked.ok) {
    expect(checked.findings.length).toBeGreaterThan(0)
    for (const { start, end, message } of checked.findings) {
      expect(start >= 0 && start <= end && end <= source.length, `${start}-${end} in ${source.length}`).toBe(
        true,
      )
      expect(message.replace(/`[^`]*`|``+/g, "")).not.toMatch(/undefined|\[object|[A-Z]{4,}|\n/)
    }
    return
  }
  for (const { path, start, end } of checked.references) {
    expect(start >= 0 && start < end && end <= source.length).toBe(true)
    expect(Object.hasOwn(declarations.variables, path[0] ?? "")).toBe(true)
  }
  const run = compileExpression(source, environment, { costMax: 10_000 })
  try {
    run(bindings)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
  }
}

describe("size", () => {
  const list = Array.from({ length: 3000 }, () => "1").join(",")
  test.each([
    ["parentheses", `${"(".repeat(100_000)}1${")".repeat(100_000)}`],
    ["parentheses within the length", `${"(".repeat(8000)}1${")".repeat(8000)}`],
    ["lists", `${"[".repeat(8000)}${"]".repeat(8000)}`],
    ["maps", `${"{1:".repeat(4000)}1${"}".repeat(4000)}`],
    ["not", `${"!".repeat(16_000)}true`],
    ["minus", `${"-".repeat(16_000)}i`],
    ["conditionals", `${"yes ? 1 : ".repeat(1600)}1`],
    ["sums", `${"i+".repeat(8000)}i`],
    ["ors", `${"yes||".repeat(3000)}yes`],
    ["fields", `claims${".a".repeat(8000)}`],
    ["indexes", `claims${"[0]".repeat(5000)}`],
    ["calls", `${"size(".repeat(3000)}s${")".repeat(3000)}`],
    ["macros", `${"[1].all(x, ".repeat(1000)}true${")".repeat(1000)}`],
    ["a list", `[${list}] == []`],
    ["a text", `"${"a".repeat(20_000)}"`],
    ["an open text", `"${"a".repeat(10_000)}`],
    ["an open comment", `//${"a".repeat(10_000)}`],
    ["zeros", "0".repeat(10_000)],
    ["digits", "9".repeat(10_000)],
    ["nothing", " ".repeat(16_000)],
  ])("of %s ends in a finding or a value", (_, source) => survive(source))

  test("100,000 parentheses are a finding", () => {
    const checked = checkExpression("(".repeat(100_000), environment)
    expect(checked).toMatchObject({ ok: false, findings: [{ kind: "limit" }] })
    const shorter = checkExpression("(".repeat(10_000), environment)
    expect(shorter).toMatchObject({ ok: false, findings: [{ kind: "limit" }] })
  })

  test("300 terms are not problem", () => {
    const source = Array.from({ length: 300 }, (_, index) => `i == ${index}`).join(" || ")
    expect(compileExpression(source, environment)(bindings)).toBe(true)
  })
})

describe("regular expressions that blow up elsewhere", () => {
  const attacks: [pattern: string, text: string][] = [
    [".*.*=.*", "x".repeat(8000)],
    ["^\\s+|\\s+$", `${" ".repeat(8000)}x`],
    ["^(a|a)*$", `${"a".repeat(8000)}!`],
    ["^(a|aa)+$", `${"a".repeat(8000)}!`],
    ["^(a+)+$", `${"a".repeat(8000)}!`],
    ["^[a-z]+[a-z]+[a-z]+!$", "a".repeat(8000)],
    ["(.*)*b", "a".repeat(8000)],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(8000)],
  ]

  test.each(attacks)("%s", (pattern, text) => {
    const matches = compileExpression(`s.matches(r'${pattern}')`, environment)
    let outcome: unknown
    try {
      outcome = matches({ s: text })
    } catch (error) {
      outcome = error instanceof ExpressionError && error.reason
    }
    expect([true, false, "cost"]).toContain(outcome)
    expect(outcome).toBe(new RegExp(pattern).test(text.slice(0, 9) + text.slice(-1)))
  })

  test.each([
    "((a{1,100}){1,100}){1,100}",
    "(a{1000}){1000}",
    "[",
    "(?<=a)b",
    "(a)\\1",
    `${"(".repeat(3000)}`,
  ])("%s is refused at check time", (pattern) => {
    const checked = checkExpression(`s.matches(r'${pattern}')`, environment)
    expect(checked).toMatchObject({ ok: false, findings: [{ kind: "regex" }] })
  })
})

describe("values of callers that take long to compare, to search and to write", () => {
  const ofCallers = declareEnvironment({ variables: { sent: "dyn" }, objects: {}, extended: true })
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => "x".repeat(length) + String(at).padStart(6, "0"))
  const alike = "a".repeat(8_000)
  const lists = texts(3_000, 2_000)
  test.each<[source: string, sent: unknown]>([
    ["size(sent.distinct()) == 0", texts(800, 20_000)],
    ["size(sent.sort()) == 0", texts(5_000, 2_000)],
    ["sent.all(x, sent.exists(y, x == y))", texts(800, 20_000)],
    ["sent.all(x, !(x < sent[0]))", texts(5_000, 20_000)],
    ["sent.all(x, (x + 'y') in sent)", texts(800, 20_000)],
    ["sent.all(x, sent.exists(y, bytes(x) == bytes(y)))", texts(400, 2_000)],
    ["sent[0].contains(sent[1])", ["a".repeat(1_000_000), `${alike}b${alike}`]],
    ["sent[0].lastIndexOf(sent[1]) > 0", ["a".repeat(1_000_000), `${alike}b`]],
    ["size(sent[0].split(sent[1])) > 1", ["a".repeat(1_000_000), `${alike}b${alike}`]],
    ["sent.all(x, !''.matches(x))", Array.from({ length: 2_000 }, (_, at) => `${"a".repeat(1_900)}${at}`)],
  ])("%s", (source, sent) => {
    const run = compileExpression(source, ofCallers)
    const attempt = () => {
      try {
        run({ sent })
      } catch (error) {
        expect(error).toMatchObject({ reason: "cost" })
      }
    }
    // Before there was a limit: from a quarter of a second to ten.
    expect(leastCpuMs(attempt, 200)).toBeLessThan(200)
  })

  test("one list in many places is many in JSON", () => {
    const found = compileExpression("sent.map(x, sent)", ofCallers)({ sent: lists })
    expect(() => toJson(found)).toThrow("too large for JSON")
    expect(() => toJson(lists)).toThrow("too large for JSON")
    expect(toJson(lists, { values: 3_001, bytes: 2 ** 23 })).toEqual(lists)
  })
})

describe("mutations", () => {
  const seeds = [
    'person.greet("x") == "hi Ann" && i > 2',
    '"admin" in claims.roles || claims.level >= 3',
    "l.map(x, x * 2).filter(y, y > 2).size() == 2",
    't + r < timestamp("2026-02-01T00:00:00Z") && r.getHours() == 1',
    'ip.in_cidr("10.0.0.0/8") ? s.matches("^h.*o$") : has(claims.nested.deep)',
    '{"a": [1, 2u, 3.0], "b": {true: b"\\xff"}}["a"][i - 3] == 1',
    "'''a''' + r\"\\d\" + string(d) + string(u) // end",
  ]
  const newer = [
    '{"a-b": 1}.`a-b` + .i + int(.5) == 0x1Fu',
    "l.transformMap(k, v, v > 1, br'\\x' + b\"\\x41\").exists_one(k, v, k == 1)",
    '"%s %.2f%%".format([s, d]).reverse() == strings.quote(R"""\\""")',
  ]
  const pieces = [
    ..."()[]{}.,:?!+-*/%<>=&|\"'`\\@# \n\t0x9ueEbr_é😀",
    "&&",
    "||",
    "==",
    "in ",
    "null",
    "has(",
    ".all(x,",
    "true",
  ]
  const edit = fc.record({
    at: fc.nat(80),
    cut: fc.nat(6),
    put: fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...seeds), fc.string({ maxLength: 3 })),
  })

  test("never crash, and findings stay inside the source", () => {
    const mutated = fc.tuple(
      fc.constantFrom(...seeds, ...newer),
      fc.array(edit, { minLength: 1, maxLength: 4 }),
    )
    fc.assert(
      fc.property(mutated, ([seed, edits]) => {
        let source = seed
        for (const { at, cut, put } of edits) source = source.slice(0, at) + put + source.slice(at + cut)
        survive(source)
      }),
      { numRuns: reduced(2_000, 6_000) },
    )
  })

  test("neither do texts of any characters", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), survive), {
      numRuns: reduced(1_000, 3_000),
    })
  })

  test("neither do texts of tokens", () => {
    const names = ["i", "s", "l", "m", "claims", "person", "any", "x", "size", "int", "name"]
    const token = fc.constantFrom(...pieces, ...names, "1", "2.5", "'t'")
    fc.assert(
      fc.property(fc.array(token, { maxLength: 14 }), (tokens) => survive(tokens.join(" "))),
      { numRuns: reduced(2_000, 6_000) },
    )
  })
})
