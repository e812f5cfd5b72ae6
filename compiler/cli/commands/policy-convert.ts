import { basename, dirname, resolve } from "node:path"
import type { PolicyDocument } from "../../azure/ast.ts"
import type { AzureWing } from "../../azure/wing.ts"
import { Report } from "../../core/diagnostic.ts"
import { DiskFiles } from "../../core/files.ts"
import { Project } from "../../core/load.ts"
import { renderDiagnostics, summaryOf } from "../../render/diagnostics.ts"
import type { PolicyConvertArgs } from "../args/policy.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import type { Io } from "../io.ts"

/** Prints the text, and on standard error what it leaves to be done: exit code 2. */
export const policyConvert: CommandAction<PolicyConvertArgs> = async (
  { file, name, section, fragments, values },
  io,
) => {
  const [{ azure }, { convertPolicy }] = await Promise.all([
    import("../../azure/wing.ts"),
    import("../../azure/convert/convert-policy.ts"),
  ])
  const report = new Report()
  const document = readFrom(file, azure, io, report)
  const included = new Map<string, PolicyDocument>()
  for (const [id, path] of fragments) {
    const fragment = readFrom(path, azure, io, report)
    if (fragment !== undefined) included.set(id, fragment)
  }
  const findings = report.sorted()
  if (findings.length > 0) io.err(`${renderDiagnostics(findings, "text", { colour: io.colour.err })}\n`)
  if (document?.root === undefined || report.blocked)
    throw new CliError(
      `${file} was not converted: ${summaryOf(findings)}`,
      "Correct the document; each finding names its place.",
    )
  const made = convertPolicy(document, { name: name ?? nameOf(file), section, fragments: included, values })
  io.out(made.text)
  for (const { place, note } of made.notes) io.err(`${place}: ${note}\n`)
  for (const { place, what, reason, closed } of made.losses)
    io.err(`${place}: \`${what}\` is not converted${closed ? ", calls are answered 501" : ""}: ${reason}\n`)
  const { policies, policiesConverted } = made.counts
  if (made.losses.length === 0) return exitCode.ok
  io.err(`${policiesConverted} of ${policies} policies are converted; the text says what is left to write.\n`)
  return exitCode.changes
}

function readFrom(file: string, azure: AzureWing, io: Io, report: Report): PolicyDocument | undefined {
  const at = resolve(io.cwd, file)
  const source = new Project(new DiskFiles(dirname(at)), report).read(basename(at), undefined)
  return source === undefined ? undefined : azure.readPolicyDocument(source, report)
}

/** `orders.policy.xml` is `orders`. */
function nameOf(file: string): string {
  const plain = basename(file)
    .replace(/(?:\.policy|\.fragment)?\.xml$/i, "")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[^A-Za-z_]+|_+$/g, "")
    .slice(0, 60)
  return plain === "" ? "converted" : plain
}
