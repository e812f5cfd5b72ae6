import { explanationJsonSchema, planJsonSchema } from "../../../runtime/plan/json-schema.ts"
import { didYouMean } from "../../core/nearest.ts"
import { CliError, type Command, type CommandLine, type CommandRow, command, exitCode } from "../command.ts"
import { loadOutputSchemas, outputJsonSchema } from "../output-schemas.ts"
import { jsonDocument } from "../print.ts"

interface SchemaArgs {
  /** `plan`, `explanation`, or a command. */
  readonly of: string
}

const schemaLine: CommandLine<SchemaArgs> = {
  operands: [["[document...]", "plan, explanation, or a command that prints JSON (default: plan)"]],
  examples: [
    ["sallyport schema > plan.schema.json", "for tools that read plans"],
    ["sallyport schema explanation", "for tools that read the explanation of a check"],
    ["sallyport schema model compare", "of what `sallyport model compare --format json` prints"],
  ],
  parse: (words) => ({ of: words.length === 0 ? "plan" : words.join(" ") }),
}

/** The command, which describes the output of the others. */
export function schemaOf(rows: readonly CommandRow[]): Command {
  return command(schemaLine, async ({ of }, io) => {
    io.out(jsonDocument(await documentOf(of, rows)))
    return exitCode.ok
  })
}

async function documentOf(name: string, rows: readonly CommandRow[]): Promise<object> {
  if (name === "plan") return planJsonSchema()
  if (name === "explanation") return explanationJsonSchema()
  const outputs = await loadOutputSchemas()
  const row = rows.find((each) => each.name === name)
  const output = row === undefined ? undefined : outputs[row.name]
  if (row !== undefined && output !== undefined) return outputJsonSchema(row.name, row.summary, output)
  const known = ["plan", "explanation", ...Object.keys(outputs)]
  throw new CliError(
    `unknown schema \`${name}\`${didYouMean(name, known)}`,
    `Use \`plan\`, \`explanation\`, or one of these commands: ${Object.keys(outputs).join(", ")}.`,
  )
}
