import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import type { ValidateArgs } from "../args/validate.ts"
import { type CommandAction, exitCode } from "../command.ts"
import { compileOnce } from "../project.ts"

export const validate: CommandAction<ValidateArgs> = async ({ project, format }, io) => {
  const { plan, diagnostics } = await compileOnce(io, project)
  io.out(renderDiagnostics(diagnostics, format, { colour: io.colour.out }))
  if (format === "text")
    io.out(`${diagnostics.length === 0 ? "" : "\n"}${project.entry}: ${summaryOf(diagnostics)}\n`)
  return plan === undefined ? exitCode.failed : exitCode.ok
}
