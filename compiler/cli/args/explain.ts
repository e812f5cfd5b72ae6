import { CliError, type CommandLine } from "../command.ts"

export interface ExplainArgs {
  readonly code: string
}

export const explainLine: CommandLine<ExplainArgs> = {
  name: "explain",
  summary: "say more about the code of a finding",
  operands: [["<code>", "e.g. SP2001"]],
  examples: [["sallyport explain SP2001", "what it means and what to do"]],
  parse([code]) {
    if (code === undefined) throw new CliError("explain needs the code of a finding, e.g. SP2001")
    return { code: code.toUpperCase() }
  },
}
