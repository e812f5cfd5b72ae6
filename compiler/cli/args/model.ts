import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { readStore } from "./check.ts"
import { formatOption, readFormat } from "./format.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

/** Which model is meant: a file, or that of a store of gateway.conf. */
export interface ModelArgs {
  readonly project: ProjectArgs
  readonly file: string | undefined
  readonly store: string | undefined
}

export interface ModelExplainArgs extends ModelArgs {
  readonly type: string
  readonly relation: string
  readonly format: "text" | "json"
}

export interface ModelPrintArgs extends ModelArgs {
  readonly sourceInfo: boolean
  readonly format: "text" | "json"
}

const modelOptions = [
  ["--model <file>", "the model of this file: .fga, fga.mod or JSON"],
  ["--store <name>", "the model of this store of gateway.conf; needed when there are several"],
  configOption,
] as const

export const modelExplainLine: CommandLine<ModelExplainArgs> = {
  name: "model explain",
  summary: "what a relation depends on, what depends on it, and who could ever have it",
  operands: [["<type#relation>", "e.g. order#viewer"]],
  options: [...modelOptions, formatOption],
  examples: [
    ["sallyport model explain order#viewer", "in the model of gateway.conf, with the routes that require it"],
    ["sallyport model explain order#viewer --model models/acme.fga --format json", "a file alone"],
  ],
  parse([name], options) {
    const [, type, relation] = /^([^#:@\s]+)#([^#:@\s]+)$/.exec(name ?? "") ?? []
    if (type === undefined || relation === undefined) {
      const given = name === undefined ? "" : `, not \`${name}\``
      throw new CliError(`a relation is named TYPE#RELATION${given}`, "For example: order#viewer")
    }
    return { ...readModelArgs(options), type, relation, format: readFormat(options, ["text", "json"]) }
  },
}

export const modelPrintLine: CommandLine<ModelPrintArgs> = {
  name: "model print",
  summary: "print a model as one text, or as OpenFGA's JSON",
  options: [
    ...modelOptions,
    ["--source-info", "say in comments which module and file things come from"],
    formatOption,
  ],
  examples: [
    ["sallyport model print --model models/fga.mod", "the modules of a model as one text"],
    ["sallyport model print --model model.json", "JSON as text"],
    ["sallyport model print --format json", "the JSON that OpenFGA's API takes"],
  ],
  parse: (_, options) => ({
    ...readModelArgs(options),
    sourceInfo: options["sourceInfo"] === true,
    format: readFormat(options, ["text", "json"]),
  }),
}

function readModelArgs(options: OptionValues): ModelArgs {
  const file = options["model"]
  const store = readStore(options)
  if (file !== undefined && store !== undefined)
    throw new CliError("--model and --store both say which model is meant", "Leave one of them out.")
  if (typeof file === "string" && /^$|(?:^|\/)\.{0,2}$/.test(file))
    throw new CliError("--model names a file", "For example: --model models/acme.fga")
  return { project: readProject(options), file: typeof file === "string" ? file : undefined, store }
}
