import { printModel } from "../../model/print-model.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { type ModelArgs, modelOptions, modelSource, readModelArgs } from "../model-source.ts"
import { formatOptions, readFormat } from "../options.ts"
import { jsonDocument } from "../print.ts"

interface ModelPrintArgs extends ModelArgs {
  readonly sourceInfo: boolean
  readonly format: "text" | "json"
}

const modelPrintLine: CommandLine<ModelPrintArgs> = {
  options: [
    ...modelOptions,
    ["--source-info", "add comments that name the module and file of each part"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport model print --model models/fga.mod", "print the modules of a model as one text"],
    ["sallyport model print --model model.json", "print a JSON model as text"],
    ["sallyport model print --format json", "print the JSON that OpenFGA's API accepts"],
  ],
  parse: (_, options) => ({
    ...readModelArgs(options),
    sourceInfo: options["sourceInfo"] === true,
    format: readFormat(options, ["text", "json"]),
  }),
}

/** Some JSON models have no text form, e.g. a list of types on the right of `but not`; they can be printed as JSON only. */
export const modelPrint = command(modelPrintLine, async (args, io) => {
  const { model } = (await modelSource(io, args)).model
  const printed =
    args.format === "json"
      ? { text: jsonDocument(model) }
      : printModel(model, { sourceInfo: args.sourceInfo })
  if ("problem" in printed)
    throw new CliError(
      `the model cannot be written as text: ${printed.problem}`,
      "Print it with --format json.",
    )
  io.out(printed.text)
  return exitCode.ok
})
