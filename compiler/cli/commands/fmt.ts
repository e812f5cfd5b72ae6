import { join, relative, resolve, sep } from "node:path"
import { type Diagnostic, Report } from "../../core/diagnostic.ts"
import { Project } from "../../core/load.ts"
import type { SourceFile } from "../../core/source.ts"
import type { Document } from "../../gateway/ast.ts"
import { bind } from "../../gateway/bind.ts"
import { formatPresent } from "../../gateway/format-present.ts"
import { loadDocuments } from "../../gateway/include.ts"
import { readModelFiles } from "../../gateway/models.ts"
import { parseGateway } from "../../gateway/parser.ts"
import { Program } from "../../gateway/program.ts"
import { formatModelFile, modulesIn } from "../../model/format.ts"
import { summaryOf } from "../../render/diagnostics.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { configOption, formatOptions, type ProjectArgs, readFormat, readProject } from "../options.ts"
import { print } from "../print.ts"
import { filesOf, showFindings } from "../project.ts"
import { replaceFile } from "../replace-file.ts"

interface FmtArgs {
  readonly project: ProjectArgs
  /** Files to format; empty: gateway.conf, the files it includes, and the stores' models. */
  readonly files: readonly string[]
  readonly check: boolean
  readonly format: "text" | "json"
}

const fmtLine: CommandLine<FmtArgs> = {
  operands: [["[files...]", "files to format (default: gateway.conf, its includes and its models)"]],
  options: [
    configOption,
    ["--check", "change nothing; exit 1 when a file is not formatted"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport fmt", "format in place"],
    ["sallyport fmt --check", "in CI"],
    ["sallyport fmt models/acme.fga", "one file"],
  ],
  parse: (files, options) => ({
    project: readProject(options),
    files,
    check: options["check"] === true,
    format: readFormat(options, ["text", "json"]),
  }),
}

/** Formats file by file: a file with a syntax error is left unchanged and does not prevent the formatting of others. */
export const fmt = command(fmtLine, async (args, io) => {
  const report = new Report()
  const found = filesToFormat(args, io, report)
  const findings = report.sorted()
  // A file with an error is not printed: its tree may lack what the parser could not read.
  const broken = new Set(findings.filter(isError).map((finding) => finding.span?.file.path))
  const root = resolve(io.cwd, args.project.folder)
  const changed: string[] = []
  for (const [{ path, text }, format] of found) {
    const formatted = broken.has(path) ? undefined : format()
    if (formatted === undefined || formatted === text) continue
    changed.push(path)
    if (!args.check) replaceFile(join(root, path), formatted)
  }
  showFindings(io, findings)
  const word = args.check ? "is not formatted" : "formatted"
  print(io, args.format, { [args.check ? "unformatted" : "formatted"]: changed }, () =>
    changed.map((path) => `${path} ${word}\n`).join(""),
  )
  if (findings.some(isError)) throw new CliError(`not everything could be formatted: ${summaryOf(findings)}`)
  return args.check && changed.length > 0 ? exitCode.failed : exitCode.ok
})

const isError = (finding: Diagnostic): boolean => finding.severity === "error"

/** The files without duplicates, with their formatters. Syntax errors are known only after all files are read. */
type Found = Map<SourceFile, () => string | undefined>

/** Without operands all files of the project that are written by hand, each once. */
function filesToFormat({ project, files }: FmtArgs, io: Io, report: Report): Found {
  const source = new Project(filesOf(io, project), report)
  // `loadDocuments` reads includes, too, whatever folder they are in.
  const found: Found = new Map()
  if (files.length === 0) addProject(source, loadDocuments(source, project.entry, report), found, report)
  // JSON has no comments to keep, and a model in JSON is usually generated.
  for (const name of files) {
    if (name.endsWith(".json"))
      throw new CliError(`${name} is JSON`, "fmt formats gateway.conf, .fga files and fga.mod.")
    const file = source.read(pathInProject(name, project.folder, io), undefined)
    if (file !== undefined && /\.(?:fga|mod)$/.test(name)) addModelFile(file, found, report)
    else if (file !== undefined) addDocument(parseGateway(file, report), found)
  }
  return found
}

/** Adds gateway.conf, the files it includes, and the files of the stores' models. Does not check the meaning of statements. */
function addProject(source: Project, documents: readonly Document[], found: Found, report: Report): void {
  for (const document of documents) addDocument(document, found)
  // Binding only finds which models belong to the stores. Its findings are those of `validate`, not of a formatter.
  const quiet = new Report()
  for (const file of readModelFiles(new Program(bind(documents, quiet), source.complete, quiet), source)) {
    if (file.path.endsWith(".json")) continue
    addModelFile(file, found, report)
    for (const { text, span } of modulesIn(file, report)) {
      const part = source.readNamed(text, span)
      if (part !== undefined) addModelFile(part, found, report)
    }
  }
}

function addDocument(document: Document, found: Found): void {
  found.set(document.file, () => formatPresent(document))
}

function addModelFile(file: SourceFile, found: Found, report: Report): void {
  // A module may belong to several `fga.mod` files.
  if (found.has(file)) return
  const formatted = formatModelFile(file, report)
  found.set(file, () => formatted)
}

/** Paths on the command line are relative to the current folder, paths in a project to the project's folder. */
function pathInProject(name: string, folder: string, io: Io): string {
  // Findings and plans have `/` in paths on every system.
  const path = relative(resolve(io.cwd, folder), resolve(io.cwd, name)).split(sep).join("/")
  if (!path.startsWith("../") && path !== "..") return path
  throw new CliError(
    `${name} is outside the project (${folder})`,
    "Name the main file of the project with --config.",
  )
}
