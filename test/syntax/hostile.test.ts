import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { Block, Statement } from "../../compiler/gateway/ast.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { reduced, scaled } from "../support/random-run.ts"

function read(text: string): { report: Report; statements: readonly Statement[] } {
  const report = new Report()
  return { report, statements: parseGateway(new SourceFile("gateway.conf", text), report).statements }
}

/** `npm test` has an eighth of the size: there a cost that grows with the square takes seconds, and `npm run test:long` fails by its time limit. */
const eighths = reduced(1, 8)
const many = 5_000 * eighths
const deeper = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => " ".repeat(at) + text(at)).join("\n")

// Each takes minutes when something in it is quadratic, and a fraction of a second as it is; the runner's time-out is
// the judge. `[what, text, findings]`
const traps: [string, string, number][] = [
  ["lines of unclosed (", "a (\n".repeat(2 * many), 2 * many],
  ["unclosed ( on one line", `a ${"(".repeat(many)}`, 1],
  ["( that fail at once, on one line", `a ${"(;".repeat(many)}`, 1],
  ["( that fail at a bracket, on one line", `a ${"(]".repeat(many)}`, 1],
  ["unclosed ( ever deeper", deeper(2_000, () => "a ("), 45],
  ["a deep expression", `a ${"(".repeat(1_000 * eighths)}b${")".repeat(1_000 * eighths)}`, 0],
  [
    "unclosed heredocs, each with its tag",
    Array.from({ length: many / 2 }, (_, at) => `a <<T${at}`).join("\n"),
    many / 2,
  ],
  ["unclosed heredocs on one line", `a ${"<<T ".repeat(many)}`, 1],
  ["heredocs of one tag", "a <<T\nT\n".repeat(many), 0],
  ["heredocs with an unclosed ${", "a <<T\n${\nT\n".repeat(many), many],
  ["lines of unclosed ${", 'a "${\n'.repeat(many), many],
  ["unclosed ${ on one line", `a ${'"${;'.repeat(many)}`, 1],
  ["${ outside of texts", `a ${"${".repeat(many)}`, 1],
  ["lines of unclosed references", "a env(\n".repeat(many), many],
  ["lines of unclosed triple quotes", 'a ("""\n'.repeat(many), many],
  ["lines of {", "a {\n".repeat(many), many],
  ["{ ever deeper", deeper(2_000, () => "a {"), 2_000],
  ["lines of }", "}\n".repeat(many), many],
  ["braces on one line", `${"a {".repeat(many)}`, 1],
  ["a chain of else", `a { b }${" else when (c) { d }".repeat(many / 2)}`, 1],
  ["texts on one line", `a${' "b"'.repeat(many)}`, 0],
  ["single quotes on one line", `a${" 'b".repeat(many + 1)}`, 1],
  ["typographic quotes on one line", `a${" “b".repeat(many + 1)}`, 1],
  ["a word", "a".repeat(25 * many), 0],
  ["blanks", `a${"\n ".repeat(12 * many)}`, 0],
  ["semicolons", ";".repeat(25 * many), 0],
  ["control characters", "\u0001".repeat(12 * many), 1],
]

describe("a hostile file", () => {
  test.each(traps)("%s", (_name, text, findings) => {
    const count = read(text).report.sorted().length
    expect(count).toBeLessThanOrEqual(findings)
    expect(count > 0).toBe(findings > 0)
  })

  const pieces = [
    ..."abc123.:/*@%+~[]- \t\n;{}()\"'$#=,<>\\!&|?^\r\u0001\u2028“ü",
    "<<A",
    "A",
    "\nA\n",
    "${",
    "$${",
    "else",
    "when",
  ]

  test("of any characters is a tree with ordered places, and findings", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (chosen) => {
        const text = chosen.join("")
        const { report, statements } = read(text)
        checkPlaces(statements, 0, text.length)
        const broken = JSON.stringify(statements, (key, value) =>
          key === "span" ? undefined : value,
        ).includes('"broken":true')
        if (broken) expect(report.blocked).toBe(true)
      }),
      { numRuns: scaled(2_000, 0.4) },
    )
  })
})

/** Statements lie in order inside of what holds them. */
function checkPlaces(statements: readonly Statement[], from: number, to: number): void {
  let at = from
  for (const statement of statements) {
    expect(statement.span.start).toBeGreaterThanOrEqual(at)
    expect(statement.span.end).toBeGreaterThanOrEqual(statement.span.start)
    expect(statement.span.end).toBeLessThanOrEqual(to)
    const blocks = [statement.block, statement.otherwise?.block].filter(
      (block): block is Block => block !== undefined,
    )
    for (const { statements: inner, open, close } of blocks) checkPlaces(inner, open.end, close.start)
    at = statement.span.end
  }
}
