import fc from "fast-check"
import { expect, test } from "vitest"
import { CsharpError } from "../../../runtime/expression/expression-error.ts"
import { reduced } from "../../support/random-run.ts"
import { compile, run } from "./run.ts"

const bombs: readonly (readonly [string, string])[] = [
  ["an endless loop", "@{ while (true) { } return 1; }"],
  ["a loop that catches", "@{ while (true) { try { throw new Exception(); } catch { } } return 1; }"],
  ["a doubling text", '@{ var s = "x"; while (true) { s += s; } return s; }'],
  ["a doubling list", "@{ var l = new List<int> { 1 }; while (true) { l.AddRange(l); } return l; }"],
  ["a padded text", '@("x".PadLeft(2000000000))'],
  ["a large range", "@(Enumerable.Range(0, 2000000000).Count())"],
  ["a large array", "@(new byte[2000000000].Length)"],
  ["endless recursion", "@{ int F(int n) { return F(n + 1); } return F(0); }"],
  [
    "nested sequences",
    "@(Enumerable.Range(0, 3000).Select(a => Enumerable.Range(0, 3000).Sum(b => a * b)).Sum(x => (long)x))",
  ],
  [
    "a join of all with all",
    "@((from a in Enumerable.Range(0, 3000) join b in Enumerable.Range(0, 3000) on 1 equals 1 select 1).Count())",
  ],
  [
    "a query over pairs",
    "@((from a in Enumerable.Range(0, 3000) from b in Enumerable.Range(0, 3000) select 1).Count())",
  ],
  ["a growing replacement", '@{ var s = "aa"; while (true) { s = s.Replace("a", "aa"); } return s; }'],
  // Each match looks at all that is left: 100 seconds, had it no end.
  ["a pattern that goes back", `@(Regex.IsMatch("${"a".repeat(40)}", "^(?=(a|a)*b)"))`],
  ["matches that look far ahead", '@(Regex.Replace(new string((char)97, 1000000), "a(.*)b|a", "x"))'],
  [
    "the same with patterns that differ",
    '@{ var n = 0; while (true) { n += Regex.Matches(new string((char)97, 30000), "a(.*)b|a" + n).Count + 1; } return n; }',
  ],
  [
    "a nested object",
    '@{ var o = new JObject(); while (true) { var p = new JObject(); p["x"] = o; o = p; } return o; }',
  ],
]

test.each(bombs)("%s ends at a limit", (_, source) => {
  let reason = ""
  try {
    run(source)
  } catch (error) {
    reason = error instanceof CsharpError ? error.reason : String(error)
  }
  expect(reason).toBe("limit")
})

test("a pattern that grows exponentially elsewhere runs in linear time", () => {
  expect(run(`@(Regex.IsMatch("${"a".repeat(200)}", "^(a+)+b$"))`)).toBe(false)
})

test.each([
  "(",
  "{",
  "[",
  "new[]{",
  "-",
  "!",
  "(int)",
  "x => ",
  "a?.b(",
  '$"{',
  "1 + (",
  "true ? ",
  "from x in ",
])("thousands of `%s` are refused", (piece) => {
  expect(compile(`@(${piece.repeat(5000)})`)).toHaveProperty("findings")
  expect(compile(`@{${piece.repeat(5000)}}`)).toHaveProperty("findings")
})

test.each(["where x > 0 ", "let y = x ", "from y in x ", "orderby x ", "join y in x on y equals x "])(
  "thousands of clauses `%s` are refused",
  (piece) => {
    const clauses = Array.from({ length: 2000 }, (_, index) => piece.replace("y", `y${index}`)).join("")
    expect(compile(`@(from x in new[] { 1 } ${clauses} select x)`)).toHaveProperty("findings")
  },
)

test("a query over many names is refused before it is put into calls, where it would be millions of nodes", () => {
  const clauses = Array.from({ length: 200 }, (_, index) => `let y${index} = x `).join("")
  const compiled = compile(`@(from x in new[] { 1 } ${clauses} select x)`)
  expect(compiled).toMatchObject({
    findings: [
      {
        kind: "limit",
        message: "the expression is too large",
        help: "Split it into several `set-variable`.",
      },
    ],
  })
})

test.each([
  ["operators", "1", "+1"],
  ["calls", '"a"', ".Trim()"],
  ["clauses", "from x in new[] { 1 }", " where x>0", " select x"],
  ["keys of an order", "from x in new[] { 1 } orderby x", ",x", " select x"],
])("a chain of %s is compiled or refused, never half", (_, first, link, last = "") => {
  for (const links of [100, 700, 900, 1700, 5000]) {
    const source = `@(${first}${link.repeat(links)}${last})`
    const compiled = compile(source)
    if ("findings" in compiled) expect(compiled).toMatchObject({ findings: [{ kind: "limit" }] })
    // Reads the program as a plan does, which refuses what is too deep for it.
    else run(source)
  }
})

const word = fc.constantFrom(
  "from",
  "in",
  "select",
  "where",
  "context",
  ".Request",
  ".Headers",
  "[",
  "]",
  "(",
  ")",
  "{",
  "}",
  '"a"',
  "1",
  "+",
  "?",
  ":",
  "?.",
  "??",
  "=>",
  "x",
  "var",
  "=",
  ";",
  "if",
  "return",
  "new",
  "JObject",
  "<",
  ">",
  ",",
  "(string)",
  '$"{x}"',
  "is",
  "switch",
  "'c'",
  "foreach",
  "in",
  "!",
  "try",
  "catch",
  "1.5m",
  "__proto__",
  "constructor",
)

test("no sequence of words throws, and what compiles runs to a value or an error of its own", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 25 }), fc.boolean(), (words, isBlock) => {
      const source = isBlock ? `@{${words.join(" ")}}` : `@(${words.join("")})`
      const compiled = compile(source)
      if ("findings" in compiled) {
        for (const { start, end } of compiled.findings)
          expect(0 <= start && start <= end && end <= source.length).toBe(true)
        return
      }
      try {
        run(source)
      } catch (error) {
        expect(error).toBeInstanceOf(CsharpError)
      }
    }),
    { numRuns: reduced(1_000, 3_000) },
  )
})
