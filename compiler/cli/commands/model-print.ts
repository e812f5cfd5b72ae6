import { printModel } from "../../model/print-model.ts"
import type { ModelPrintArgs } from "../args/model.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import { modelSource } from "../model-source.ts"

export const modelPrint: CommandAction<ModelPrintArgs> = async (args, io) => {
  const { model } = (await modelSource(io, args)).model
  const printed =
    args.format === "json"
      ? { text: `${JSON.stringify(model, null, 2)}\n` }
      : printModel(model, { sourceInfo: args.sourceInfo })
  if ("problem" in printed)
    throw new CliError(
      `the model can't be written as text: ${printed.problem}`,
      "Print it with --format json.",
    )
  io.out(printed.text)
  return exitCode.ok
}
