import type { CommandLine } from "../command.ts"
import { formatOption, readFormat } from "./format.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface PlanArgs {
  readonly project: ProjectArgs
  readonly out: string | undefined
  readonly format: "text" | "json"
}

export const planLine: CommandLine<PlanArgs> = {
  name: "plan",
  summary: "show what applying the text would change; exit 2 when there are changes",
  options: [
    configOption,
    ["--out <file>", "write the plan, sealed: `apply FILE` sends exactly that"],
    formatOption,
  ],
  examples: [
    ["sallyport plan", "compare the text with what is running"],
    ["sallyport plan --out next.json && sallyport apply next.json", "review, then apply what was reviewed"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    out: typeof options["out"] === "string" ? options["out"] : undefined,
    format: readFormat(options, ["text", "json"]),
  }),
}
