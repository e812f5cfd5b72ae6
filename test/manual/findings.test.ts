import { expect, test } from "vitest"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Statement } from "../../compiler/gateway/ast.ts"
import { languageReference } from "../../compiler/gateway/language-reference.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import { reportedAt, type StatementCode } from "../../compiler/gateway/schema/findings.ts"
import { projectsIn } from "../cases.ts"
import { compile } from "../compile.ts"

const statements = languageReference().flatMap((block) => block.statements)
const expected = new Map<string, Set<string>>()
for (const { keyword, findings, expressions } of statements) {
  const codes = expected.get(keyword) ?? new Set()
  for (const code of findings) codes.add(code)
  if (expressions)
    for (const [code, at] of Object.entries(reportedAt)) if (at === "expression") codes.add(code)
  expected.set(keyword, codes)
}

test("findings of the cases are among those that the manual lists at the statement", () => {
  const missing = new Map<string, string>()
  for (const [path, files] of projectsIn("gateway")) {
    const project = new MemoryFiles(files.filter(([name]) => !["diagnostics", "plan"].includes(name)))
    for (const finding of compile(project, "gateway.conf").diagnostics) {
      const at = reportedAt[finding.code as StatementCode]
      const keyword = keywordAt(finding)
      if (at === undefined || at === "form" || at === "project" || keyword === undefined) continue
      const known = expected.get(keyword)
      if (known !== undefined && !known.has(finding.code))
        missing.set(`${finding.code} at ${keyword}`, path.split("/").at(-1) ?? "")
    }
  }
  expect([...missing]).toEqual([])
})

/** The innermost statement that a finding of gateway.conf is in. */
function keywordAt({ span }: Diagnostic): string | undefined {
  if (span === undefined || !span.file.path.endsWith(".conf")) return undefined
  let found: string | undefined
  const walk = (list: readonly Statement[]): void => {
    for (const { keyword, block, otherwise, span: own } of list) {
      if (own.start > span.start || span.start > own.end) continue
      found = keyword.text
      walk(block?.statements ?? [])
      walk(otherwise?.block?.statements ?? [])
      walk(otherwise?.when === undefined ? [] : [otherwise.when])
    }
  }
  walk(parseGateway(span.file, new Report()).statements)
  return found
}
