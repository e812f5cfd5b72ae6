import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { Document } from "../../compiler/gateway/ast.ts"
import { formatGateway } from "../../compiler/gateway/format.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { meaningOf } from "./outline.ts"

function parse(text: string): { document: Document; sound: boolean } {
  const report = new Report()
  const document = parseGateway(new SourceFile("gateway.conf", text), report)
  return { document, sound: !report.blocked }
}

/** Formatting keeps the meaning and the comments, is a fixed point, and leaves no loose ends. */
function checkFormat(text: string): void {
  const { document } = parse(text)
  const once = formatGateway(document)
  const again = parse(once)
  expect(again.sound, once).toBe(true)
  expect(meaningOf(again.document)).toEqual(meaningOf(document))
  expect(again.document.comments.map((comment) => comment.text)).toEqual(
    document.comments.map((comment) => comment.text),
  )
  expect(formatGateway(again.document)).toBe(once)
  expect(once).not.toMatch(/^\n|[^\n]$/)
}

const word = fc.constantFrom("a", "bbb", "listen", "clock-skew", "10MB", "[::1]:80", "elsewhere")
const text = fc.constantFrom('""', '"b"', '"a ${b} c"', '"$${x} \\" \\u{41} # {"', '"${f("}")}"')
const cel = fc.constantFrom("(a)", '(b == ")")', "(a &&\n   b)", "( {1: [2]} // c\n)", "(a &&\r\n b)")
const call = fc.constantFrom("env(A)", 'env( A ,"b" )', 'env(\n  A,\n  "b ${c}")', "env()")
const argument = fc.oneof(word, text, cel, call, fc.constant("="))
const gap = fc.constantFrom(" ", "  ", "\t")
const comment = fc.constantFrom("# c", "#", "#\tü  ", '# { } " (')
const breaks = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("\n", "\n\n", "\n\n\n\n", "\r\n", "\n  \n", "\n \t") },
  comment.map((own) => ` ${own}\n`),
  comment.map((own) => `\n  ${own}\n`),
  fc.tuple(comment, comment).map(([one, two]) => `  ${one}\n${two}\n\n`),
)
const end = fc.oneof(breaks, fc.constantFrom(";", " ; ", ";\n", ";;"))
const beforeBlock = fc.oneof({ weight: 3, arbitrary: gap }, breaks)
const heredoc = fc
  .tuple(
    fc.constantFrom("", "  ", "\t", "      "),
    fc.array(fc.constantFrom("x", "  y ${z} $${", "", "   ", "${a\n b}", "\tT.", "$")),
  )
  .map(([indent, lines]) => `<<T \n${lines.map((line) => `${line}\n`).join("")}${indent}T`)

const { statements } = fc.letrec<{ statements: string; statement: string; block: string }>((tie) => ({
  statement: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    fc
      .tuple(
        word,
        fc.array(
          fc.tuple(gap, argument).map((pair) => pair.join("")),
          { maxLength: 3 },
        ),
      )
      .map(([head, args]) => head + args.join("")),
    fc.tuple(word, gap, heredoc).map((parts) => parts.join("")),
    fc.tuple(word, gap, argument, beforeBlock, tie("block")).map((parts) => parts.join("")),
    fc.tuple(word, beforeBlock, tie("block")).map((parts) => parts.join("")),
    fc
      .tuple(tie("block"), beforeBlock, tie("block"), beforeBlock, beforeBlock, tie("block"))
      .map(
        ([one, gap1, two, gap2, gap3, three]) =>
          `when (a) ${one}${gap1}else when (b)${gap2}${two}${gap3}else ${three}`,
      ),
  ),
  block: fc.oneof(
    fc.constantFrom("{}", "{ }", "{\n}", "{ # c\n}", "{\n# c\n\n}"),
    fc
      .tuple(beforeBlock, tie("statements"), fc.constantFrom("", " ", "\n"))
      .map(([open, body, close]) => `{${open}${body}${close}}`),
  ),
  statements: fc
    .array(fc.tuple(tie("statement"), end), { maxLength: 4, minLength: 1 })
    .map((list) => list.map((pair) => pair.join("")).join("")),
}))

describe("fmt", () => {
  test("keeps the meaning of the example", () => {
    checkFormat(readFileSync(new URL("example.conf", import.meta.url), "utf8"))
  })

  test("keeps the meaning and the comments of anything sound, and is a fixed point", () => {
    let sound = 0
    fc.assert(
      fc.property(fc.constantFrom("", "# first\n", "\n\n"), statements, (start, body) => {
        if (!parse(start + body).sound) return
        sound++
        checkFormat(start + body)
      }),
      { numRuns: 3_000 },
    )
    expect(sound).toBeGreaterThan(1_000)
  })

  test("of nothing is nothing", () => {
    expect(formatGateway(parse(" \n\n").document)).toBe("")
  })

  test("refuses what was not understood", () => {
    expect(() => formatGateway(parse("a 'b'").document)).toThrow("broken statement")
  })
})
