import { describe, expect, test } from "vitest"
import { catalogue } from "../../compiler/core/catalogue.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { Files } from "../../compiler/core/files.ts"
import { budgets, Project } from "../../compiler/core/load.ts"
import type { Document } from "../../compiler/gateway/ast.ts"
import { formatGateway } from "../../compiler/gateway/format.ts"
import { loadDocuments } from "../../compiler/gateway/include.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"
import { codesIn, type Expectations, runCases } from "../cases.ts"
import { expectWorkingFixes } from "../gateway-conf/working-fixes.ts"
import { outline } from "./outline.ts"

function load(
  files: Files,
  sections: ReadonlyMap<string, string>,
): { report: Report; documents: Document[] } {
  const report = new Report()
  const limits = JSON.parse(sections.get("options") ?? "{}") as Partial<typeof budgets>
  const project = new Project(files, report, { ...budgets, ...limits })
  return { report, documents: loadDocuments(project, "gateway.conf", report) }
}

const expectations: Expectations = {
  diagnostics: (files, sections) => {
    const findingsOf = (some: Files) => load(some, sections).report.sorted()
    const found = findingsOf(files)
    expectWorkingFixes(files, found, findingsOf)
    return renderDiagnostics(found, "text", { colour: false })
  },
  formatted: (files, sections) => formatGateway(load(files, sections).documents[0] as Document),
  understood: (files, sections) =>
    load(files, sections)
      .documents.map((document) => `${document.file.path}\n${outline(document)}`)
      .join(""),
}

runCases("syntax", expectations)
runCases("files", expectations)

describe("codes of files and syntax", () => {
  const codes = Object.keys(catalogue).filter((code) => /^SP[01]/.test(code))

  test("each have a case", () => {
    const shown = codesIn("syntax", "files")
    expect(codes.filter((code) => !shown.has(code))).toEqual([])
  })

  test("each say why and what to do", () => {
    for (const code of codes) expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })
})
