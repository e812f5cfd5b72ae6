import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Diagnostic as LspDiagnostic } from "vscode-languageserver"
import { DiskFiles } from "../core/disk-files.ts"
import { EditorProject, type LspFindings, pathIn } from "./project.ts"

/** A document that the editor has open. */
interface OpenDocument {
  readonly language: string
  text: string
}

/** A file, as the project sees it that answers for it. */
export interface ProjectPlace {
  readonly project: EditorProject
  readonly path: string
}

/**
 * The projects of an editor. Each folder that the editor opens is one, and so is, while documents in it are open, each folder inside that has a
 * gateway.conf. An open `gateway.NAME.conf` that none of them includes is the first file of a project, too. A file belongs to the nearest project
 * above it that includes it, else to the nearest one.
 */
export class EditorProjects {
  readonly #folders: Set<string>
  readonly #entry: string
  /** By their paths. */
  readonly #documents = new Map<string, OpenDocument>()
  /** By the paths of their first files. */
  #projects: ReadonlyMap<string, EditorProject> = new Map()

  /** `folders`: absolute paths of the folders that the editor opens. `entry`: the first file of their projects. */
  constructor(folders: readonly string[], entry: string) {
    this.#folders = new Set(folders)
    this.#entry = entry
    this.#settle()
  }

  get all(): readonly EditorProject[] {
    return [...this.#projects.values()]
  }

  /** The folders that the editor opens. */
  get folders(): readonly string[] {
    return [...this.#folders]
  }

  /** The editor adds and removes folders. */
  changeFolders(added: readonly string[], removed: readonly string[]): void {
    for (const folder of removed) this.#folders.delete(folder)
    for (const folder of added) this.#folders.add(folder)
    this.#settle()
  }

  /** `language`: what the editor takes the document for. */
  open(uri: string, language: string, text: string): void {
    const file = fileOf(uri)
    if (file === undefined) return
    this.#documents.set(file, { language, text })
    this.#settle()
    for (const { project, path } of this.#holding(file)) {
      project.service.set(path, text)
      project.outdate()
    }
  }

  change(uri: string, text: string): void {
    const file = fileOf(uri)
    const document = file === undefined ? undefined : this.#documents.get(file)
    if (file === undefined || document === undefined) return
    document.text = text
    const holding = this.#holding(file)
    for (const [index, { project, path }] of holding.entries()) {
      project.service.set(path, text)
      // The findings of a project cannot depend on the text of a file that it does not read.
      if (index === 0 || project.had(path)) project.outdate()
    }
  }

  close(uri: string): void {
    const file = fileOf(uri)
    if (file === undefined || !this.#documents.delete(file)) return
    for (const { project, path } of this.#holding(file)) {
      project.service.close(path)
      project.outdate()
    }
    this.#settle()
  }

  /** Stored files have changed: also a gateway.conf can have come or gone. */
  changed(): void {
    this.#settle()
    for (const project of this.#projects.values()) {
      project.service.changed()
      project.outdate()
    }
  }

  /** The project that answers for a file; undefined if none does. */
  async placeOf(uri: string): Promise<ProjectPlace | undefined> {
    const file = fileOf(uri)
    if (file === undefined) return undefined
    const holding = this.#holding(file)
    for (const place of holding) if ((await place.project.service.sources()).has(place.path)) return place
    const [nearest] = holding
    return nearest === undefined || this.#isForeign(file, nearest) ? undefined : nearest
  }

  /** The findings by address: of all files of the projects, and of open documents that belong to none. Refresh the projects first. */
  get findings(): LspFindings {
    return this.#findingsOf(({ findings }) => findings)
  }

  /** The same of open gateway tests. Refresh their findings in the projects first. */
  get testFindings(): LspFindings {
    return this.#findingsOf(({ testFindings }) => testFindings)
  }

  #findingsOf(of: (project: EditorProject) => LspFindings): LspFindings {
    const all = new Map<string, LspDiagnostic[]>()
    for (const project of this.#projects.values())
      for (const [uri, findings] of this.#isIncluded(project) ? [] : of(project)) {
        if (this.#isOfAnother(uri, project)) continue
        // A file of two projects has most of its findings in both.
        const known = new Set(all.get(uri)?.map((each) => JSON.stringify(each)))
        const added = findings.filter((each) => !known.has(JSON.stringify(each)))
        all.set(uri, [...(all.get(uri) ?? []), ...added])
      }
    return all
  }

  /** Whether the first file of a project is a part of another one: alone it lacks what the other has. */
  #isIncluded({ folder, entry }: EditorProject): boolean {
    const first = join(folder, entry)
    return this.#holding(first).some(({ project, path }) => path !== project.entry && project.had(path))
  }

  /** Whether another project judges an open document that this one does not include. */
  #isOfAnother(uri: string, project: EditorProject): boolean {
    const file = fileOf(uri)
    const path = file === undefined ? undefined : project.pathOf(file)
    if (file === undefined || path === undefined || project.had(path)) return false
    const holding = this.#holding(file)
    const owner = holding.find((each) => each.project.had(each.path)) ?? holding[0]
    return owner?.project !== project
  }

  /** Many programs have files `*.conf`: those that no project includes are gateway.conf only if their name or the editor says so. */
  #isForeign(file: string, { path, project }: ProjectPlace): boolean {
    if (!path.endsWith(".conf") || path === project.entry) return false
    return !isNamedAsFirst(file) && this.#documents.get(file)?.language !== "sallyport"
  }

  /** The projects whose folder a file is in, the nearest first. */
  #holding(file: string): ProjectPlace[] {
    return [...this.#projects.values()]
      .flatMap((project) => {
        const path = project.pathOf(file)
        return path === undefined ? [] : [{ project, path }]
      })
      .sort((a, b) => a.path.length - b.path.length)
  }

  /** Makes the projects that the open documents need, and ends the others. */
  #settle(): void {
    const wanted = new Map<string, readonly [folder: string, entry: string]>()
    const want = (folder: string, entry: string) => wanted.set(join(folder, entry), [folder, entry])
    for (const folder of this.#folders) want(folder, this.#entry)
    for (const file of this.#documents.keys()) {
      const folder = this.#nearest(file)
      if (folder !== undefined && !this.#folders.has(folder)) want(folder, entryName)
    }
    // After the others, which answer for files that both include.
    for (const file of this.#documents.keys())
      if (isNamedAsFirst(file) && !wanted.has(file) && this.#nearest(file) !== undefined)
        want(dirname(file), basename(file))
    this.#projects = new Map(
      [...wanted].map(([first, [folder, entry]]) => [
        first,
        this.#projects.get(first) ?? this.#begin(folder, entry),
      ]),
    )
  }

  #begin(folder: string, entry: string): EditorProject {
    const project = new EditorProject(folder, entry)
    for (const [file, { text }] of this.#documents) {
      const path = project.pathOf(file)
      if (path !== undefined) project.service.set(path, text)
    }
    return project
  }

  /** The nearest folder above a file that has a gateway.conf or is opened by the editor; undefined for a file outside of all opened folders. */
  #nearest(file: string): string | undefined {
    if (![...this.#folders].some((folder) => pathIn(folder, file) !== undefined)) return undefined
    let folder = dirname(file)
    while (!this.#folders.has(folder) && !this.#hasEntry(folder)) folder = dirname(folder)
    return folder
  }

  #hasEntry(folder: string): boolean {
    if (this.#documents.has(join(folder, entryName))) return true
    return new DiskFiles(folder).read(entryName, Number.POSITIVE_INFINITY).kind === "bytes"
  }
}

/** The first file of a project inside of the folder that the editor opens. */
const entryName = "gateway.conf"

/** Whether a file has a name for the first file of a project: `gateway.conf` or `gateway.NAME.conf`. */
function isNamedAsFirst(file: string): boolean {
  return /^gateway\.(?:.+\.)?conf$/.test(basename(file))
}

/** The path of a document on the disk; undefined for documents that are elsewhere. */
function fileOf(uri: string): string | undefined {
  return uri.startsWith("file:") ? fileURLToPath(uri) : undefined
}
