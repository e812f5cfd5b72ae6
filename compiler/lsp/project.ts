import { isAbsolute, join, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import type { Diagnostic as LspDiagnostic } from "vscode-languageserver"
import { DiskFiles } from "../core/disk-files.ts"
import { LanguageService } from "../service/language-service.ts"
import { diagnosticOf, type UriOf } from "./convert.ts"

/** The project of one gateway.conf: its folder, its language service, and the findings that it had when they were last made. */
export class EditorProject {
  readonly folder: string
  readonly entry: string
  readonly service: LanguageService
  #isStale = true
  #sources: ReadonlySet<string> = new Set()
  #findings: ReadonlyMap<string, readonly LspDiagnostic[]> = new Map()

  /** `folder`: absolute. `entry`: the first file of the project, relative to the folder. */
  constructor(folder: string, entry: string) {
    this.folder = folder
    this.entry = entry
    this.service = new LanguageService(new DiskFiles(folder), entry)
  }

  /** The path of a file, relative to the folder; undefined for a file outside of it. */
  pathOf(file: string): string | undefined {
    return pathIn(this.folder, file)
  }

  readonly uriOf: UriOf = (path) => pathToFileURL(join(this.folder, path)).href

  /** The findings are those of earlier texts. */
  outdate(): void {
    this.#isStale = true
  }

  /** The findings by the address of the file, without empty lists. Call `refresh` first. */
  get findings(): ReadonlyMap<string, readonly LspDiagnostic[]> {
    return this.#findings
  }

  /** Whether gateway.conf led to a file when the findings were made. */
  had(path: string): boolean {
    return this.#sources.has(path)
  }

  /** Makes the findings again if they are those of earlier texts. */
  async refresh(): Promise<void> {
    if (!this.#isStale) return
    this.#isStale = false
    const [found, sources] = await Promise.all([this.service.findings(), this.service.sources()])
    // A folder without a gateway.conf is no mistake: its models and tests are read each for itself.
    const isMissing = this.service.file(this.entry) === undefined
    const shown = [...found].filter(([path, { length }]) => length > 0 && !(isMissing && path === this.entry))
    this.#sources = sources
    this.#findings = new Map(
      shown.map(([path, all]) => [this.uriOf(path), all.map((each) => diagnosticOf(each, this.uriOf))]),
    )
  }
}

/** The path of a file, relative to a folder and with `/`; undefined for a file outside of it. */
export function pathIn(folder: string, file: string): string | undefined {
  const path = relative(folder, file)
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)
    ? undefined
    : path.split(sep).join("/")
}
