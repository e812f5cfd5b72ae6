import type { CommandLine } from "../command.ts"

export const schemaLine: CommandLine<Record<string, never>> = {
  name: "schema",
  summary: "print the JSON Schema of plans",
  examples: [["sallyport schema > plan.schema.json", "for tools that read plans"]],
  parse: () => ({}),
}
