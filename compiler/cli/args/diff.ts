import { CliError, type CommandLine } from "../command.ts"
import { formatOption, readFormat } from "./format.ts"

export interface DiffArgs {
  readonly before: string
  readonly after: string
  readonly format: "text" | "json"
}

export const diffLine: CommandLine<DiffArgs> = {
  name: "diff",
  summary: "compare two folders or plan files; exit 2 when they differ",
  operands: [
    ["<before>", "a folder with gateway.conf, or a plan"],
    ["<after>", "a folder with gateway.conf, or a plan"],
  ],
  options: [formatOption],
  examples: [["sallyport diff ../main .", "what this branch changes"]],
  parse([before, after], options) {
    if (before === undefined || after === undefined)
      throw new CliError("diff compares two folders or plan files")
    return { before, after, format: readFormat(options, ["text", "json"]) }
  },
}
