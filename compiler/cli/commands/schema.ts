import { explanationJsonSchema, planJsonSchema } from "../../../runtime/plan/json-schema.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"

interface SchemaArgs {
  readonly of: "plan" | "explanation"
}

const schemaLine: CommandLine<SchemaArgs> = {
  operands: [["[document]", "plan or explanation (default: plan)"]],
  examples: [
    ["sallyport schema > plan.schema.json", "for tools that read plans"],
    ["sallyport schema explanation", "for tools that read the explanation of a check"],
  ],
  parse([document = "plan"]) {
    if (document === "plan" || document === "explanation") return { of: document }
    throw new CliError(
      `unknown schema \`${document}\``,
      "Use `plan` or `explanation`. For example: sallyport schema explanation",
    )
  },
}

export const schema = command(schemaLine, async ({ of }, io) => {
  const document = of === "plan" ? planJsonSchema() : explanationJsonSchema()
  io.out(`${JSON.stringify(document, null, 2)}\n`)
  return exitCode.ok
})
