import { describe, expect, test } from "vitest"
import { openapi } from "../../compiler/core/catalogue/openapi.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { codesIn, runCases } from "../cases.ts"
import { compile } from "../compile.ts"
import { outlineOfPlan } from "../gateway-conf/outline.ts"
import { expectWorkingFixes } from "../gateway-conf/working-fixes.ts"

function findings(files: MemoryFiles, entry: string): string {
  const { diagnostics } = compile(files, entry)
  expectWorkingFixes(files, diagnostics, (fixed) => compile(fixed, entry).diagnostics)
  return renderDiagnostics(diagnostics, "text", { colour: false })
}

runCases("described", {
  diagnostics: (files) => {
    const right = files.glob("right.conf").paths.length === 0 ? "" : findings(files, "right.conf")
    return findings(files, "gateway.conf") + right
  },
  plan: (files) => outlineOfPlan(compile(files, "gateway.conf").plan),
})

describe("codes of documents", () => {
  test("each have a case", () => {
    const shown = codesIn("openapi", "described")
    expect(Object.keys(openapi).filter((code) => !shown.has(code))).toEqual([])
  })
})
