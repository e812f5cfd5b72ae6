import { CliError, type CommandLine } from "../command.ts"

export interface SchemaArgs {
  readonly of: "plan" | "explanation"
}

export const schemaLine: CommandLine<SchemaArgs> = {
  name: "schema",
  summary: "print the JSON Schema of plans, or of the engine's explanations",
  operands: [["[document]", "plan, which it is when absent, or explanation"]],
  examples: [
    ["sallyport schema > plan.schema.json", "for tools that read plans"],
    ["sallyport schema explanation", "for programs that read why a check came out as it did"],
  ],
  parse([document = "plan"]) {
    if (document === "plan" || document === "explanation") return { of: document }
    throw new CliError(
      `there is no schema of ${document}`,
      "There is one of plan and one of explanation. For example: sallyport schema explanation",
    )
  },
}
