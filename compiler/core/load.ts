import type { DiagnosticCode } from "./catalogue.ts"
import { decode } from "./decode.ts"
import type { Related, Report } from "./diagnostic.ts"
import type { Files, ReadFailure } from "./files.ts"
import { type MergeConflict, mergeConflicts } from "./merge-conflicts.ts"
import { didYouMean } from "./nearest.ts"
import { shown } from "./shown.ts"
import { SourceFile, type Span } from "./source.ts"

/** The limits of a project. Bytes are those on disk. */
export interface Budgets {
  readonly fileBytesMax: number
  /** For an OpenAPI document and each file it refers to, unless its statement sets another limit. */
  readonly documentBytesMax: number
  readonly projectBytesMax: number
  readonly filesMax: number
}

/** The budgets of all callers except tests. The catalogue's texts for SP0005 and SP0006 name them. */
export const budgets: Budgets = {
  fileBytesMax: 4 * 1024 * 1024,
  documentBytesMax: 32 * 1024 * 1024,
  projectBytesMax: 128 * 1024 * 1024,
  filesMax: 2_000,
}

/** Maximum number of files that `beside` reads. */
const besideMax = 200

const failureCodes: Readonly<Record<ReadFailure, DiagnosticCode>> = {
  missing: "SP0001",
  outside: "SP0002",
  irregular: "SP0003",
  unreadable: "SP0004",
  large: "SP0005",
}

/**
 * Resolves `path`, as written in the file `from`, to a path relative to the project's root. It is relative to the folder of `from`.
 * Undefined if it is absolute or leads out of the project.
 *
 * @example
 * resolvePath("teams/a.conf", "../models/acme.fga") // "models/acme.fga"
 */
export function resolvePath(from: string, path: string): string | undefined {
  if (path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:/.test(path) || isUrl(path))
    return undefined
  const segments = from.split("/").slice(0, -1)
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue
    if (segment !== "..") segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.join("/")
}

/** `file:///…`, `https://…`: the compiler reads only files of the project. */
function isUrl(path: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path)
}

/** The help for a file given on the command line. Only a `.conf` file can be the first file of a project. */
function entryHelp(code: DiagnosticCode, path: string): { help: string } | object {
  if (code !== "SP0001" && code !== "SP0002" && code !== "SP0003") return {}
  if (code === "SP0001" && path.endsWith(".conf"))
    return { help: "Run `sallyport init` to create a project, or name the main file of one with `--config`." }
  return {
    help: path.endsWith(".conf")
      ? "Run the command in the folder of the project, or name the main file of the project with `--config`."
      : "Check the path; it is relative to the folder in which the command runs.",
  }
}

/** How to split files, by extension. */
const partsOf: Readonly<Record<string, string>> = {
  conf: "Split the file, and `include` the parts.",
  xml: "Move parts of the document into fragments, and include them with `<include-fragment>`.",
  json: 'Move parts of the document into other files and refer to them with `$ref`, or raise the limit: `openapi "FILE" { size 64MB }`.',
  fga: "Split the model into modules, and list them in `fga.mod`.",
}
const alike: Readonly<Record<string, string>> = { yaml: "json", yml: "json" }

function helpFor(code: DiagnosticCode, path: string): { help: string } | object {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  const help = code === "SP0005" ? partsOf[alike[ending] ?? ending] : undefined
  return help === undefined ? {} : { help }
}

/**
 * Why a file is not read. `within`: a place inside the file, which is then the place of the finding; the text that names the file becomes a
 * related place.
 */
interface Failure {
  readonly code: DiagnosticCode
  readonly detail: string
  readonly within?: Span
  readonly related?: readonly Related[]
}

/** `bytesMax`: the limit that the file exceeded. */
type Outcome =
  | { readonly file: SourceFile }
  | { readonly failures: readonly Failure[]; readonly bytesMax?: number }

/** The file with this path and text. */
export type FileOf = (path: string, text: string) => SourceFile

const newFile: FileOf = (path, text) => new SourceFile(path, text)

/**
 * The files of one compilation. Each is read and counted once. A file that cannot be read is a finding (SP0xxx) at the place that names it.
 */
export class Project {
  readonly #files: Files
  readonly #report: Report
  readonly #budgets: Budgets
  readonly #fileOf: FileOf
  readonly #read = new Map<string, Outcome>()
  #bytes = 0
  #complete = true

  /** `fileOf` makes the file of a text, or returns the one that an earlier compilation made of an equal text. */
  constructor(files: Files, report: Report, limits: Budgets = budgets, fileOf: FileOf = newFile) {
    this.#files = files
    this.#report = report
    this.#budgets = limits
    this.#fileOf = fileOf
  }

  /** Paths of all requested files, found or not, sorted: the files to watch for changes. */
  get paths(): readonly string[] {
    return [...this.#read.keys()].sort()
  }

  /** False once a requested file could not be read: something that seems to be missing may be declared there. */
  get complete(): boolean {
    return this.#complete
  }

  /** The file at a path relative to the project's root. `at` is the place that names it, undefined for the command line. */
  read(
    path: string,
    at: Span | undefined,
    bytesMax: number = this.#budgets.fileBytesMax,
  ): SourceFile | undefined {
    let outcome = this.#read.get(path)
    if (outcome === undefined || tooSmall(outcome, bytesMax)) {
      outcome = this.#load(path, bytesMax)
      this.#read.set(path, outcome)
    }
    if ("file" in outcome) return outcome.file
    this.#complete = false
    for (const failure of outcome.failures) this.#fail(path, failure, at)
    return undefined
  }

  /** Reports why a file cannot be used, at the place that names it. */
  #fail(path: string, { code, detail, within, related = [] }: Failure, at: Span | undefined): void {
    const near = code === "SP0001" ? didYouMean(path, this.#siblings(path)) : ""
    const named =
      within === undefined || at === undefined ? [] : [{ span: at, message: "the file is named here" }]
    this.#report.add(code, within ?? at, `\`${shown(path || ".")}\` ${detail}${near}`, {
      ...(at === undefined ? entryHelp(code, path) : helpFor(code, path)),
      related: [...related, ...named],
    })
  }

  /** The file that the text at `at` names by `path`, relative to the folder of its own file. */
  readNamed(path: string, at: Span, bytesMax?: number): SourceFile | undefined {
    const resolved = this.resolve(path, at)
    return resolved === undefined ? undefined : this.read(resolved, at, bytesMax)
  }

  /** Whether the text at `at` names an existing file of the project. Reports nothing. */
  hasNamed(path: string, at: Span): boolean {
    const resolved = resolvePath(at.file.path, path)
    return resolved !== undefined && resolved !== "" && this.#files.glob(resolved).paths.includes(resolved)
  }

  /** Paths, relative to the project's root and sorted, of the files that match the pattern at `at`. Warns if there are none. */
  match(pattern: string, at: Span): readonly string[] {
    const resolved = this.resolve(pattern, at)
    if (resolved === undefined) return []
    const { paths, problem } = this.#files.glob(resolved)
    if (problem !== undefined) {
      this.#complete = false
      this.#report.add("SP0004", at, problem)
    } else if (paths.length === 0) this.#report.add("SP0012", at, `\`${shown(pattern)}\` matches no file`)
    return paths
  }

  /**
   * The readable files with this ending in the folder of the text at `at` and below it: to find what a text should have named. Reports
   * nothing.
   */
  beside(ending: string, at: Span): readonly SourceFile[] {
    const folder = at.file.path.slice(0, at.file.path.lastIndexOf("/") + 1)
    if (/[*?]/.test(folder)) return []
    const { paths } = this.#files.glob(`${folder}**/*${ending}`)
    return paths.slice(0, besideMax).flatMap((path) => {
      const known = this.#read.get(path)
      const outcome = known ?? this.#load(path, this.#budgets.fileBytesMax)
      if (known === undefined && "file" in outcome) this.#read.set(path, outcome)
      return "file" in outcome ? [outcome.file] : []
    })
  }

  /** The path, relative to the project's root, that the text at `at` names; undefined, with a finding, if it leads out of the project. */
  resolve(path: string, at: Span): string | undefined {
    const resolved = resolvePath(at.file.path, path)
    if (resolved === undefined) {
      this.#complete = false
      const why = isUrl(path) ? "is a URL, but only files of the project are read" : "is outside the project"
      this.#report.add("SP0002", at, `\`${shown(path)}\` ${why}`)
    }
    return resolved
  }

  /** Reads a file within the budgets of the project. */
  #load(path: string, bytesMax: number): Outcome {
    const failed = (code: DiagnosticCode, detail: string) => ({ failures: [{ code, detail }] })
    // The path is the project's own folder.
    if (path === "") return failed(failureCodes.irregular, "is not a regular file")
    const { projectBytesMax, filesMax } = this.#budgets
    if (this.#read.size >= filesMax)
      return failed("SP0006", `would exceed the maximum of ${filesMax} files in a project`)
    const result = this.#files.read(path, bytesMax)
    if (result.kind === "failure") {
      const { failures } = failed("SP0005", `${result.detail}; the maximum is ${bytesMax} bytes`)
      if (result.reason === "large") return { failures, bytesMax }
      return failed(failureCodes[result.reason], result.detail)
    }
    this.#bytes += result.bytes.length
    if (this.#bytes > projectBytesMax)
      return failed("SP0006", `would make the project larger than the maximum of ${projectBytesMax} bytes`)
    return textIn(path, result.bytes, this.#fileOf)
  }

  #siblings(path: string): readonly string[] {
    const folder = path.slice(0, path.lastIndexOf("/") + 1)
    if (/[*?]/.test(path)) return []
    const beside = this.#files.glob(`${folder}*`).paths
    if (beside.length > 0 || folder === "") return beside
    // The folder may be what is misspelt, or the `/` is at the wrong place.
    const named = this.#files.glob(`*/${path.slice(folder.length)}`).paths
    const ending = /\.\w+$/.exec(path)?.[0] ?? ""
    return named.length > 0 ? named : this.#files.glob(`${folder.replace(/[^/]+/g, "*")}*${ending}`).paths
  }
}

/** Whether a file was too large for an earlier request with a smaller limit. */
function tooSmall(outcome: Outcome, bytesMax: number): boolean {
  return "failures" in outcome && outcome.bytesMax !== undefined && outcome.bytesMax < bytesMax
}

/** The text of a file, or failures for another encoding or unresolved merge conflicts. */
function textIn(path: string, bytes: Uint8Array, fileOf: FileOf): Outcome {
  const decoded = decode(bytes)
  if (decoded.text === undefined) {
    const { code, detail, seen } = decoded
    return {
      failures: [{ code, detail, within: new SourceFile(path, seen.text).span(seen.start, seen.end) }],
    }
  }
  const file = fileOf(path, decoded.text)
  const conflicts = mergeConflicts(decoded.text)
  // With both sides of a conflict every name is declared twice, so report only the conflicts.
  return conflicts.length === 0
    ? { file }
    : { failures: conflicts.map((conflict) => unresolved(file, conflict)) }
}

/** A file with conflict markers of a merge has two versions of some lines, so it is not read further. */
function unresolved(file: SourceFile, { first, last }: MergeConflict): Failure {
  const within = file.span(first.start, first.end)
  if (last === undefined)
    return { code: "SP0014", detail: "contains a single conflict marker of a merge", within }
  const between = [first, last].map(({ name }) => (name === "" ? "" : `\`${shown(name)}\``)).filter(Boolean)
  const sides = between.length === 2 ? ` of ${between.join(" and ")}` : ""
  const related = [{ span: file.span(last.start, last.end), message: "the conflict ends here" }]
  return { code: "SP0014", detail: `contains an unresolved merge conflict${sides}`, within, related }
}
