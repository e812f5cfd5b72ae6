import type { CommandLine } from "../command.ts"
import { formatOption, readCount, readFormat } from "./format.ts"

export interface HistoryArgs {
  readonly limit: number
  readonly format: "text" | "json"
}

export const historyLine: CommandLine<HistoryArgs> = {
  name: "history",
  summary: "list the plans that were applied, newest first",
  options: [["--limit <count>", "how many, 20 when not said"], formatOption],
  examples: [
    ["sallyport history", "the last plans: serial, when, who, git commit"],
    ["sallyport history --limit 3 --format json", "for a script"],
  ],
  parse: (_, options) => ({
    limit: options["limit"] === undefined ? 20 : readCount(String(options["limit"]), "--limit"),
    format: readFormat(options, ["text", "json"]),
  }),
}
