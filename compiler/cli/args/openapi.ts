import { CliError, type CommandLine } from "../command.ts"
import { readFormat } from "./format.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface ImportOpenapiArgs {
  readonly file: string
  /** Of the API; made of the document's title when absent. */
  readonly name: string | undefined
  readonly path: string | undefined
  /** Whether operations answer the examples of the document. */
  readonly mock: boolean
  readonly format: "text" | "json"
}

export interface ExportOpenapiArgs {
  readonly project: ProjectArgs
  readonly api: string
  readonly version: string | undefined
  readonly format: "json" | "yaml"
}

export const importOpenapiLine: CommandLine<ImportOpenapiArgs> = {
  name: "import openapi",
  summary: "print an OpenAPI document as text of gateway.conf",
  operands: [["<file>", "2.0, 3.0 or 3.1, JSON or YAML"]],
  options: [
    ["--name <name>", "what the API is called; its title when not said"],
    ["--path <path>", "where the API is found; /NAME when not said"],
    ["--mock", "operations answer the document's examples, no backend is asked"],
    ["--format <format>", "of what is wrong with the document: text or json"],
  ],
  examples: [
    ["sallyport import openapi orders.yaml --name orders >> gateway.conf", "a beginning, to be gone over"],
  ],
  parse([file = ""], options) {
    const { name, path } = options
    if (/^$|(?:^|\/)\.{0,2}$/.test(file))
      throw new CliError("an OpenAPI document is a file", "For example: sallyport import openapi orders.yaml")
    if (typeof name === "string" && !/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name))
      throw new CliError(`\`${name}\` can't be the name of an API`, "Use letters, digits, `-` and `_`.")
    if (typeof path === "string" && !/^(?:\/[A-Za-z0-9._~-]+)+$|^\/$/.test(path))
      throw new CliError(`\`${path}\` can't be the path of an API`, "For example: --path /orders")
    return {
      file,
      name: typeof name === "string" ? name : undefined,
      path: typeof path === "string" ? path : undefined,
      mock: options["mock"] === true,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

export const exportOpenapiLine: CommandLine<ExportOpenapiArgs> = {
  name: "export openapi",
  summary: "print the OpenAPI 3.1 document of an API",
  operands: [["<api>", "its name in gateway.conf"]],
  options: [
    ["--api-version <version>", "which version; needed when there are several"],
    configOption,
    ["--format <format>", "json or yaml"],
  ],
  examples: [
    [
      "sallyport export openapi orders --api-version v2 > orders.json",
      "with security, limits and the gateway's own answers",
    ],
  ],
  parse: ([api = ""], options) => ({
    project: readProject(options),
    api,
    version: typeof options["apiVersion"] === "string" ? options["apiVersion"] : undefined,
    format: readFormat(options, ["json", "yaml"]),
  }),
}
