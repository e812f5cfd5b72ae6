import type { CommandLine } from "../command.ts"
import { formatOption, readFormat } from "./format.ts"

export interface StatusArgs {
  readonly format: "text" | "json"
}

export const statusLine: CommandLine<StatusArgs> = {
  name: "status",
  summary: "show every process, the plan it serves and its last error",
  options: [formatOption],
  examples: [["sallyport status", "is the newest plan everywhere?"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}
