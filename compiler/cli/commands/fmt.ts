import { randomUUID } from "node:crypto"
import { realpathSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { join, relative, resolve, sep } from "node:path"
import { type Diagnostic, Report } from "../../core/diagnostic.ts"
import { Project } from "../../core/load.ts"
import type { Document } from "../../gateway/ast.ts"
import { formatGateway } from "../../gateway/format.ts"
import { loadDocuments } from "../../gateway/include.ts"
import { parseGateway } from "../../gateway/parser.ts"
import { summaryOf } from "../../render/diagnostics.ts"
import type { FmtArgs } from "../args/fmt.ts"
import { CliError, exitCode, type Work } from "../command.ts"
import type { Io } from "../io.ts"
import { filesOf, showFindings } from "../project.ts"

/** Formats file by file: a file with a syntax error is left as it is, the others are not kept from being formatted. */
export const fmt: Work<FmtArgs> = async (args, io) => {
  const report = new Report()
  const documents = documentsOf(args, io, report)
  const findings = report.sorted()
  const broken = new Set(findings.filter(isError).map((finding) => finding.span?.file.path))
  const root = resolve(io.cwd, args.project.folder)
  const changed: string[] = []
  for (const document of documents) {
    const { path, text } = document.file
    if (broken.has(path)) continue
    const formatted = formatGateway(document)
    if (formatted === text) continue
    changed.push(path)
    if (!args.check) replace(join(root, path), formatted)
  }
  showFindings(io, findings)
  for (const path of changed) io.out(args.check ? `${path} is not formatted\n` : `${path} formatted\n`)
  if (findings.some(isError)) throw new CliError(`not everything could be formatted: ${summaryOf(findings)}`)
  return args.check && changed.length > 0 ? exitCode.failed : exitCode.ok
}

const isError = (finding: Diagnostic): boolean => finding.severity === "error"

function documentsOf({ project, files }: FmtArgs, io: Io, report: Report): Document[] {
  const source = new Project(filesOf(io, project), report)
  if (files.length === 0) return loadDocuments(source, project.entry, report)
  return files.flatMap((name) => {
    const file = source.read(pathInProject(name, project.folder, io), undefined)
    return file === undefined ? [] : [parseGateway(file, report)]
  })
}

/** Files on the command line are named from where the user stands, files of a project from its folder. */
function pathInProject(name: string, folder: string, io: Io): string {
  const path = relative(resolve(io.cwd, folder), resolve(io.cwd, name)).split(sep).join("/")
  if (!path.startsWith("../") && path !== "..") return path
  throw new CliError(
    `${name} lies outside of the project (${folder})`,
    "Name the project's file with --config.",
  )
}

/** Written beside and moved into place: whoever reads meanwhile sees the old text or the new one. A link stays a link. */
function replace(path: string, text: string): void {
  const real = realpathSync(path)
  const beside = `${real}.${randomUUID()}`
  try {
    writeFileSync(beside, text, { mode: statSync(real).mode })
    renameSync(beside, real)
  } catch (error) {
    try {
      unlinkSync(beside)
    } catch {
      // It was not made.
    }
    throw new CliError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
