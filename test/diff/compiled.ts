import { MemoryFiles } from "../../compiler/core/files.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"

/** The plan of a project in memory; a project with mistakes fails the test with its findings. */
export function compiled(files: Readonly<Record<string, string>>): Plan {
  const { plan, diagnostics } = compile(new MemoryFiles(Object.entries(files)), "gateway.conf")
  if (plan === undefined) throw new Error(renderDiagnostics(diagnostics, "text", { colour: false }))
  return plan
}
