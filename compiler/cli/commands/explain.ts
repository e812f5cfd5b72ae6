import { catalogue } from "../../core/catalogue.ts"
import { didYouMean } from "../../core/nearest.ts"
import { explainCode } from "../../render/explain.ts"
import type { ExplainArgs } from "../args/explain.ts"
import { CliError, exitCode, type Work } from "../command.ts"

export const explain: Work<ExplainArgs> = async ({ code }, io) => {
  const text = explainCode(code)
  if (text === undefined) {
    throw new CliError(
      `there is no finding \`${code}\`${didYouMean(code, Object.keys(catalogue))}`,
      "The code stands behind `error` or `warning` in a finding, e.g. SP2001.",
    )
  }
  io.out(text)
  return exitCode.ok
}
