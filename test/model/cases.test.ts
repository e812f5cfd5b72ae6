import { describe, expect, test } from "vitest"
import { models } from "../../compiler/core/catalogue/models.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { type CompiledModel, compileModel } from "../../compiler/model/compile-model.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"
import { codesIn, runCases } from "../cases.ts"

/** The model itself is read without the loader of files, which refuses binary files before the compiler sees them. */
function compile(files: MemoryFiles): { report: Report; compiled: CompiledModel | undefined } {
  const entry = ["fga.mod", "model.json"].find((path) => files.glob(path).paths.length > 0) ?? "model.fga"
  const found = files.read(entry, Number.POSITIVE_INFINITY)
  const text = found.kind === "bytes" ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(found.bytes) : ""
  const report = new Report()
  const project = new Project(files, report)
  return { report, compiled: compileModel(new SourceFile(entry, text), report, { parts: project }) }
}

runCases("model", {
  diagnostics: (files) => renderDiagnostics(compile(files).report.sorted(), "text", { colour: false }),
  json: (files) => JSON.stringify(compile(files).compiled?.model ?? "no model", undefined, 2),
})

describe("codes of models", () => {
  test("each have a case", () => {
    const shown = codesIn("model")
    // A megabyte of text is no case to read: bad-input.test.ts has it.
    expect(Object.keys(models).filter((code) => !shown.has(code))).toEqual(["SP4004"])
  })

  test("each say why and what to do", () => {
    for (const code of Object.keys(models))
      expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })
})
