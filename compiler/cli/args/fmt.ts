import type { CommandLine } from "../command.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface FmtArgs {
  readonly project: ProjectArgs
  /** Files to format; empty: gateway.conf, what it includes, and the stores' models. */
  readonly files: readonly string[]
  readonly check: boolean
}

export const fmtLine: CommandLine<FmtArgs> = {
  name: "fmt",
  summary: "format gateway.conf, the files it includes, and the models",
  operands: [["[files...]", "only these files"]],
  options: [configOption, ["--check", "write nothing; exit 1 when a file is not formatted"]],
  examples: [
    ["sallyport fmt", "format in place"],
    ["sallyport fmt --check", "in CI"],
    ["sallyport fmt models/acme.fga", "one file"],
  ],
  parse: (files, options) => ({ project: readProject(options), files, check: options["check"] === true }),
}
