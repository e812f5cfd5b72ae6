import { isAbsolute, join, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import type { Diagnostic as LspDiagnostic } from "vscode-languageserver"
import type { Diagnostic } from "../core/diagnostic.ts"
import { DiskFiles } from "../core/disk-files.ts"
import { LanguageService } from "../service/language-service.ts"
import { diagnosticOf, type UriOf } from "./convert.ts"
import { gatewayTestReader } from "./gateway-tests.ts"

/** Findings by the address of the file, without empty lists. */
export type LspFindings = ReadonlyMap<string, readonly LspDiagnostic[]>

/** The project of one gateway.conf: its folder, its language service, and the findings that it had when they were last made. */
export class EditorProject {
  readonly folder: string
  readonly entry: string
  readonly service: LanguageService
  #isStale = true
  #sources: ReadonlySet<string> = new Set()
  #findings: LspFindings = new Map()
  #testFindings: LspFindings = new Map()

  /** `folder`: absolute. `entry`: the first file of the project, relative to the folder. */
  constructor(folder: string, entry: string) {
    this.folder = folder
    this.entry = entry
    this.service = new LanguageService(new DiskFiles(folder), entry, gatewayTestReader(folder))
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
  get findings(): LspFindings {
    return this.#findings
  }

  /** The same of open gateway tests. Call `refreshTests` first. */
  get testFindings(): LspFindings {
    return this.#testFindings
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
    this.#sources = sources
    this.#findings = this.#shown([...found].filter(([path]) => !(isMissing && path === this.entry)))
  }

  /** Makes the findings of open gateway tests again. This may compile the whole project. */
  async refreshTests(): Promise<void> {
    this.#testFindings = this.#shown([...(await this.service.testFindings())])
  }

  #shown(found: readonly (readonly [path: string, findings: readonly Diagnostic[]])[]): LspFindings {
    return new Map(
      found
        .filter(([, { length }]) => length > 0)
        .map(([path, all]) => [this.uriOf(path), all.map((each) => diagnosticOf(each, this.uriOf))]),
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
