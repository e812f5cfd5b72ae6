import { CliError, type CommandLine } from "../command.ts"
import { readFormat } from "./format.ts"

export interface TestArgs {
  /** Files, folders and patterns; empty: all `*.fga.yaml` below the current folder. */
  readonly files: readonly string[]
  /** Only tests in whose name, or whose store's, this stands. */
  readonly filter: string | undefined
  readonly format: "text" | "json" | "junit"
  /** Where the document goes; text is printed then. */
  readonly output: string | undefined
  readonly coverage: boolean
  /** Percent of each model's parts that tests must hold; undefined: none is asked for. */
  readonly minCoverage: number | undefined
  readonly watch: boolean
}

export const testLine: CommandLine<TestArgs> = {
  name: "test",
  summary: "run tests of models (*.fga.yaml); exit 1 when one fails",
  operands: [
    ["[files...]", "files, folders or patterns; all *.fga.yaml below this folder when there are none"],
  ],
  options: [
    ["--filter <text>", "only tests in whose name, or whose store's, this stands"],
    ["--coverage", "say which parts of the models could go without any test noticing"],
    ["--min-coverage <percent>", "the same, and exit 1 where a model's coverage is lower"],
    ["--format <format>", "text, json or junit"],
    ["--output <file>", "write the json or junit there, and print text"],
    ["--watch", "run again whenever a file changes"],
  ],
  examples: [
    ["sallyport test", "everything there is"],
    ['sallyport test "models/**/*.fga.yaml" --coverage', "and what no test would notice"],
    ["sallyport test --format junit --output report.xml", "in CI"],
    ["sallyport test --min-coverage 90", "in CI: too few tests are a failure too"],
  ],
  parse(files, options) {
    const format = readFormat(options, ["text", "json", "junit"])
    const output = typeof options["output"] === "string" ? options["output"] : undefined
    const filter = typeof options["filter"] === "string" ? options["filter"] : undefined
    const watch = options["watch"] === true
    if (output !== undefined && format === "text")
      throw new CliError("--output is for a document", "Say which: --format json or --format junit.")
    if (watch && format !== "text" && output === undefined)
      throw new CliError(
        "--watch prints text, again and again",
        "Send the document to a file: --output FILE.",
      )
    const minCoverage = readPercent(options["minCoverage"], "--min-coverage")
    const coverage = options["coverage"] === true || minCoverage !== undefined
    return { files, filter, format, output, coverage, minCoverage, watch }
  },
}

function readPercent(given: unknown, option: string): number | undefined {
  if (given === undefined) return undefined
  const text = String(given)
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new CliError(`${option} ${text} is no percentage`, `Give a whole number up to 100: ${option} 80.`)
  return Number(text)
}
