import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import type { Statement } from "../../compiler/gateway/ast.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"

const example = readFileSync(new URL("example.conf", import.meta.url), "utf8")

/** Every statement of a text, as `outer/inner argument …`, and the number of findings. */
function read(text: string): { statements: string[]; findings: number } {
  const report = new Report()
  const statements: string[] = []
  const visit = (statement: Statement, path: string): void => {
    const own = `${path}/${statement.keyword.text}`
    statements.push(
      `${own} ${JSON.stringify(statement.args, (key, value) => (key === "span" ? undefined : value))}`,
    )
    for (const inner of statement.block?.statements ?? []) visit(inner, own)
    for (const inner of statement.otherwise?.block?.statements ?? []) visit(inner, `${own}/else`)
  }
  for (const statement of parseGateway(new SourceFile("gateway.conf", text), report).statements)
    visit(statement, "")
  return { statements, findings: report.sorted().length }
}

const whole = read(example).statements

function keptShare(statements: readonly string[]): number {
  const left = new Map<string, number>()
  for (const statement of statements) left.set(statement, (left.get(statement) ?? 0) + 1)
  let kept = 0
  for (const statement of whole) {
    const count = left.get(statement) ?? 0
    if (count === 0) continue
    kept++
    left.set(statement, count - 1)
  }
  return kept / whole.length
}

function remove(pattern: RegExp): string[] {
  return [...example.matchAll(pattern)].map(
    (found) => example.slice(0, found.index) + example.slice(found.index + found[0].length),
  )
}

function insert(pattern: RegExp, text: string): string[] {
  return [...example.matchAll(pattern)].map(
    (found) => example.slice(0, found.index) + text + example.slice(found.index),
  )
}

const lineStart = /(?<=^ *)(?=[^\s#])/gm
// Ends of lines without a comment; those that open a block are left out where a second brace would only rename its path.
const lineEnd = /(?<=^[^#\n]*\S)(?=$)/gm
const argumentEnd = /(?<=^[^#\n]*[^\s#])(?= )/gm

/** `[mutation, texts, kept on average, kept at worst, findings on average, findings at most]`; shares of statements in %. */
const mutations: [string, string[], number, number, number, number][] = [
  ["delete a {", remove(/(?<=^[^#\n]* )\{(?=[ \n])/gm), 98, 94, 1, 1],
  ["delete a }", remove(/(?<=^[^#\n]*)(?<=[ \n]|^)\}(?=[ \n;])/gm), 99.9, 99, 1, 1],
  ["delete a closing quote", remove(/(?<=^[^#\n]*\S)"(?=[ \n;])/gm), 98.5, 94, 1, 1],
  ["delete an opening quote", remove(/(?<=^[^#\n]* )"/gm), 98.5, 94, 1, 1],
  ["delete a (", remove(/(?<=^[^#\n]* )\(/gm), 99, 98, 1, 1],
  ["delete a )", remove(/(?<=^[^#\n]*)\)(?= |$)/gm), 99, 98, 1, 1],
  ["insert a { at the end of a line", insert(/(?<=^[^#\n]*[^{\s])(?=$)/gm, " {"), 98.5, 94, 1.1, 2],
  ["insert a } at the end of a line", insert(lineEnd, " }"), 98, 60, 1, 1],
  ["insert a { at the start of a line", insert(lineStart, "{ "), 97, 60, 1.3, 2],
  ["insert a } at the start of a line", insert(lineStart, "} "), 99.5, 99, 1.1, 2],
  ["insert a ) at the end of a line", insert(lineEnd, " )"), 99.5, 98, 1, 1],
  ["begin a line with a text", insert(lineStart, '"x" '), 97, 60, 1.1, 2],
  ["insert a quote after an argument", insert(argumentEnd, '"'), 98, 90, 1.1, 2],
  ["insert a single quote after an argument", insert(argumentEnd, "'"), 99, 90, 1, 1],
  ["insert a ( after an argument", insert(argumentEnd, "("), 98, 90, 1.1, 2],
  ["insert a heredoc at the end of a line", insert(lineEnd, " <<X"), 97, 60, 1.1, 2],
]

describe("every single mutation of an example", () => {
  test("starts from a sound one", () => {
    expect(read(example).findings).toBe(0)
    expect(whole.length).toBeGreaterThan(80)
  })

  test.each(mutations)("%s", (_name, texts, keptAverage, keptWorst, findingsAverage, findingsMost) => {
    const results = texts.map(read)
    const shares = results.map(({ statements }) => 100 * keptShare(statements))
    const findings = results.map((result) => result.findings)
    expect(texts.length).toBeGreaterThan(3)
    expect(average(shares)).toBeGreaterThanOrEqual(keptAverage)
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(keptWorst)
    expect(average(findings)).toBeLessThanOrEqual(findingsAverage)
    expect(Math.max(...findings)).toBeLessThanOrEqual(findingsMost)
  })
})

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
