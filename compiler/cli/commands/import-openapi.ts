import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { Report } from "../../core/diagnostic.ts"
import { DiskFiles } from "../../core/files.ts"
import { budgets, Project } from "../../core/load.ts"
import { printGateway } from "../../openapi/print-gateway.ts"
import { readApiDocument } from "../../openapi/read-document.ts"
import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import type { ImportOpenapiArgs } from "../args/openapi.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"

export const importOpenapi: CommandAction<ImportOpenapiArgs> = async (
  { file, name, path, mock, format },
  io,
) => {
  const at = resolve(io.cwd, file)
  const report = new Report()
  // Its references may lead to all of the project it is in, which begins here, as it does for gateway.conf.
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
  if (findings.length > 0) io.err(`${renderDiagnostics(findings, format, { colour: io.colour.err })}\n`)
  if (document === undefined || report.blocked)
    throw new CliError(
      `${file} was not imported: ${summaryOf(findings)}`,
      "Correct the document; each finding names its place.",
    )
  const made = name ?? nameOf(document.title)
  if (document.operations.length === 0)
    throw new CliError(`${file} was not imported: it has no operation`, "Webhooks and callbacks are none.")
  io.out(printGateway(document, { name: made, path: path ?? `/${made}`, file: basename(at), mock }))
  return exitCode.ok
}

/** A title as a name: `Orders API (internal)` is `orders-api-internal`. */
function nameOf(title: string): string {
  const plain = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "")
    .slice(0, 60)
  return plain === "" ? "imported" : plain
}
