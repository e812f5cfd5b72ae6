import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { checkExpression, compileExpression } from "../../runtime/expression/compile.ts"
import { declareEnvironment } from "../../runtime/expression/environment.ts"
import { ExpressionError } from "../../runtime/expression/expression-error.ts"
import { bindings, declarations } from "./sample.ts"

const folder = new URL("../cases/expression/", import.meta.url)
const environment = declareEnvironment(declarations)

function evaluate(source: string): unknown {
  return compileExpression(source, environment)(bindings)
}

function reasonOf(source: string): string {
  try {
    return `value ${String(evaluate(source))}`
  } catch (error) {
    return error instanceof ExpressionError ? error.reason : String(error)
  }
}

function expectFinding(source: string, wanted: string): void {
  const [, kind, part] = /^(\S+) ?(.*)$/.exec(wanted) ?? []
  const checked = checkExpression(source, environment)
  const found = checked.ok
    ? [checked.type]
    : checked.findings.map(({ kind, start, end }) => `${kind} ${source.slice(start, end)}`)
  expect(found).toEqual([`${kind} ${part}`])
}

function expectValue(source: string, wanted: string): void {
  const checked = checkExpression(source, environment)
  expect(checked).toMatchObject({ ok: true })
  expect(evaluate(source)).toEqual(evaluate(wanted))
}

function runCase(source: string, wanted: string): void {
  if (wanted.startsWith("finding ")) expectFinding(source, wanted.slice("finding ".length))
  else if (wanted.startsWith("error ")) expect(reasonOf(source)).toBe(wanted.slice("error ".length))
  else expectValue(source, wanted)
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".txt"))) {
  describe(file, () => {
    const lines = readFileSync(new URL(file, folder), "utf8").split("\n")
    lines.forEach((line, index) => {
      const arrow = line.lastIndexOf(" => ")
      if (line.startsWith("#") || line === "") return
      test(`${index + 1}: ${line}`, () => {
        expect(arrow).not.toBe(-1)
        runCase(line.slice(0, arrow), line.slice(arrow + " => ".length))
      })
    })
  })
}
