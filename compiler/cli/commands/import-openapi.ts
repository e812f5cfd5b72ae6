import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { Report } from "../../core/diagnostic.ts"
import { DiskFiles } from "../../core/disk-files.ts"
import { budgets, Project } from "../../core/load.ts"
import { printGateway } from "../../openapi/print-gateway.ts"
import { readApiDocument } from "../../openapi/read-document.ts"
import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { readFormat } from "../options.ts"

interface ImportOpenapiArgs {
  readonly file: string
  /** The name of the API (default: derived from the document's title). */
  readonly name: string | undefined
  readonly path: string | undefined
  /** Whether operations respond with the document's examples. */
  readonly mock: boolean
  readonly format: "text" | "json"
}

const importOpenapiLine: CommandLine<ImportOpenapiArgs> = {
  operands: [["<file>", "OpenAPI document 2.0, 3.0 or 3.1, as JSON or YAML"]],
  options: [
    ["--name <name>", "name of the API (default: from the document's title)"],
    ["--path <path>", "path of the API (default: /NAME)"],
    ["--mock", "respond with the document's examples; no backend is called"],
    ["--format <format>", "format of the findings: text or json (default: text)"],
  ],
  examples: [
    [
      "sallyport import openapi orders.yaml --name orders >> gateway.conf",
      "append the API to gateway.conf, to be edited",
    ],
  ],
  parse([file = ""], options) {
    const { name, path } = options
    // `.`, `..` and a name that ends with a slash are folders.
    if (/^$|(?:^|\/)\.{0,2}$/.test(file))
      throw new CliError(
        "import openapi needs the file of one OpenAPI document",
        "For example: sallyport import openapi orders.yaml",
      )
    if (typeof name === "string" && !/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name))
      throw new CliError(`\`${name}\` is not a valid name of an API`, "Use letters, digits, `-` and `_`.")
    if (typeof path === "string" && !/^(?:\/[A-Za-z0-9._~-]+)+$|^\/$/.test(path))
      throw new CliError(`\`${path}\` is not a valid path of an API`, "For example: --path /orders")
    return {
      file,
      name: typeof name === "string" ? name : undefined,
      path: typeof path === "string" ? path : undefined,
      mock: options["mock"] === true,
      format: readFormat(options, ["text", "json"]),
    }
  },
}

/** Findings go to standard error, because the text itself is usually redirected to a file. */
export const importOpenapi = command(importOpenapiLine, async ({ file, name, path, mock, format }, io) => {
  const at = resolve(io.cwd, file)
  const report = new Report()
  // References of the document can point to any file of its project. As for gateway.conf, the project begins at this folder.
  const inside = relative(io.cwd, at)
  const [folder, entry] =
    inside.startsWith("..") || isAbsolute(inside) ? [dirname(at), basename(at)] : [io.cwd, inside]
  const project = new Project(new DiskFiles(folder), report)
  const source = project.read(entry.replaceAll(sep, "/"), undefined, budgets.documentBytesMax)
  const document =
    source === undefined
      ? undefined
      : readApiDocument(source, report, (other, span) =>
          project.readNamed(other, span, budgets.documentBytesMax),
        )
  const findings = report.sorted()
  // Findings first, also when the import succeeds: they may be warnings about parts that were left out.
  if (findings.length > 0) io.err(`${renderDiagnostics(findings, format, { colour: io.colour.err })}\n`)
  if (document === undefined || report.blocked)
    throw new CliError(
      `${file} was not imported: ${summaryOf(findings)}`,
      "Correct the document at the places that the findings name.",
    )
  const made = name ?? nameOf(document.title)
  if (document.operations.length === 0)
    // Nothing to write: an API without operations does not compile.
    throw new CliError(
      `${file} was not imported: it has no operation`,
      "Add a path with an operation; webhooks and callbacks are not imported.",
    )
  io.out(printGateway(document, { name: made, path: path ?? `/${made}`, file: basename(at), mock }))
  return exitCode.ok
})

/** A title as a name: `Orders API (internal)` becomes `orders-api-internal`. */
function nameOf(title: string): string {
  const plain = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    // A name begins with a letter. Digits at its beginning, as of a year, are dropped.
    .replace(/^[-0-9]+|-+$/g, "")
    .slice(0, 60)
  return plain === "" ? "imported" : plain
}
