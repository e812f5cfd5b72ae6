import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import { type CommandLine, command, exitCode } from "../command.ts"
import { configOption, jsonOption, type ProjectArgs, readFormat, readProject } from "../options.ts"
import { compileOnce } from "../project.ts"

interface ValidateArgs {
  readonly project: ProjectArgs
  readonly format: "text" | "json" | "sarif" | "markdown" | "github"
}

const validateLine: CommandLine<ValidateArgs> = {
  options: [
    configOption,
    ["--format <format>", "text, json, sarif, markdown or github (default: text)"],
    jsonOption,
  ],
  examples: [
    ["sallyport validate", "print all findings"],
    ["sallyport validate --format github", "print annotations for a GitHub workflow"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    format: readFormat(options, ["text", "json", "sarif", "markdown", "github"]),
  }),
}

export const validate = command(validateLine, async ({ project, format }, io) => {
  const { plan, diagnostics } = await compileOnce(io, project)
  io.out(renderDiagnostics(diagnostics, format, { colour: io.colour.out }))
  // The other formats are read by programs, which a summary would disturb.
  if (format === "text")
    io.out(`${diagnostics.length === 0 ? "" : "\n"}${project.entry}: ${summaryOf(diagnostics)}\n`)
  return plan === undefined ? exitCode.failed : exitCode.ok
})
