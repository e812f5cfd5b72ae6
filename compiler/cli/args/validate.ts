import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { readFormat } from "./format.ts"

export interface ValidateArgs {
  readonly project: ProjectArgs
  readonly format: "text" | "json" | "sarif" | "markdown" | "github"
}

/** Which text is meant: a folder and the file in it that everything starts from. */
export interface ProjectArgs {
  readonly folder: string
  readonly entry: string
}

/** The option of all commands that compile. */
export const configOption = [
  "--config <file>",
  "the file everything starts from, gateway.conf when not said",
] as const

/** Reads `--config PATH`: the folder of the path is the project. */
export function readProject(options: OptionValues): ProjectArgs {
  const config = options["config"] ?? "gateway.conf"
  if (typeof config !== "string" || /^$|(?:^|\/)\.{0,2}$/.test(config))
    throw new CliError(
      "--config names a file, the first of a project",
      "For example: --config services/gateway.conf",
    )
  const cut = config.lastIndexOf("/") + 1
  return { folder: config.slice(0, cut) || ".", entry: config.slice(cut) }
}

export const validateLine: CommandLine<ValidateArgs> = {
  name: "validate",
  summary: "check gateway.conf and the models, together",
  options: [configOption, ["--format <format>", "text, json, sarif, markdown or github"]],
  examples: [
    ["sallyport validate", "all findings at once; exit 1 when one is an error"],
    ["sallyport validate --format github", "annotations in a GitHub workflow"],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    format: readFormat(options, ["text", "json", "sarif", "markdown", "github"]),
  }),
}
