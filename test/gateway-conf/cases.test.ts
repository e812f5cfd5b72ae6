import { describe, expect, test } from "vitest"
import { links } from "../../compiler/core/catalogue/links.ts"
import { routes } from "../../compiler/core/catalogue/routes.ts"
import { statements } from "../../compiler/core/catalogue/statements.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"
import { codesIn, runCases } from "../cases.ts"
import { compile } from "../compile.ts"
import { outlineOfPlan } from "./outline.ts"
import { expectWorkingFixes } from "./working-fixes.ts"

function findings(files: MemoryFiles, entry: string): string {
  const { diagnostics } = compile(files, entry)
  expectWorkingFixes(files, diagnostics, (fixed) => compile(fixed, entry).diagnostics)
  return renderDiagnostics(diagnostics, "text", { colour: false })
}

// `right.conf` is the mistake corrected: it has no findings at all.
runCases("gateway", {
  diagnostics: (files) => {
    const right = files.glob("right.conf").paths.length === 0 ? "" : findings(files, "right.conf")
    return findings(files, "gateway.conf") + right
  },
  plan: (files) => outlineOfPlan(compile(files, "gateway.conf").plan),
})

describe("codes of gateway.conf", () => {
  const codes = Object.keys({ ...statements, ...routes, ...links })

  test("each have a case", () => {
    const shown = codesIn("gateway")
    // Ten thousand routes are no case to read: budgets.test.ts has them.
    expect(codes.filter((code) => !shown.has(code))).toEqual([])
  })

  test("each say why and what to do", () => {
    for (const code of codes) expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })
})
