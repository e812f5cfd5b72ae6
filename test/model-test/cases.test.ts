import { describe, expect, test } from "vitest"
import { tested } from "../../compiler/compile.ts"
import { tests } from "../../compiler/core/catalogue/tests.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { StoreFiles } from "../../compiler/model-test/store-file.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"
import { codesIn, runCases } from "../cases.ts"
import { compile } from "../compile.ts"

/** Of a gateway.conf the tests its stores name are run too. */
async function findings(files: MemoryFiles, path: string): Promise<string> {
  if (path.endsWith(".conf")) {
    const { diagnostics } = await tested(compile(files, path))
    return renderDiagnostics(diagnostics, "text", { colour: false })
  }
  const report = new Report()
  const project = new Project(files, report)
  const file = project.read(path, undefined)
  if (file !== undefined) new StoreFiles(project, report).read(file)
  return renderDiagnostics(report.sorted(), "text", { colour: false })
}

// What is called `right` is the mistake corrected: it has no findings at all.
runCases("model-test", {
  diagnostics: async (files) => {
    const entries = ["gateway.conf", "store.fga.yaml", "right.conf", "right.fga.yaml"]
    const named = files.glob("gateway.conf").paths.length > 0 ? /conf$/ : /yaml$/
    const found = entries.filter((path) => named.test(path) && files.glob(path).paths.length > 0)
    return (await Promise.all(found.map((path) => findings(files, path)))).join("")
  },
})

describe("codes of tests", () => {
  const codes = Object.keys(tests)

  test("each have a case", () => {
    // A hundred thousand questions are no case to read.
    const shown = new Set([...codesIn("model-test", "gateway-test"), "SP6013"])
    expect(codes.filter((code) => !shown.has(code))).toEqual([])
  })

  test("each say why and what to do", () => {
    for (const code of codes) expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })
})
