import type { CommandLine } from "../command.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface ApplyArgs {
  readonly project: ProjectArgs
  /** A sealed plan; undefined: compile the text now. */
  readonly file: string | undefined
  readonly yes: boolean
}

export const applyLine: CommandLine<ApplyArgs> = {
  name: "apply",
  summary: "make the text, or a plan that was reviewed, the running configuration",
  operands: [["[file]", "a plan written by `sallyport plan --out`"]],
  options: [configOption, ["--yes", "do not ask"]],
  examples: [
    ["sallyport apply", "compile, show the changes, ask, apply"],
    [
      "sallyport apply next.json --yes",
      "in CI: exactly the reviewed plan, refused (exit 3) if another was applied meanwhile",
    ],
  ],
  parse: ([file], options) => ({ project: readProject(options), file, yes: options["yes"] === true }),
}
