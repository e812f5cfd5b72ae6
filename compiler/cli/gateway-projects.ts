import { existsSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import type { Report } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { TestedProject } from "../gateway-test/test-file.ts"
import { WatchedFiles } from "./dev/watched-files.ts"

/** The projects that files of gateway tests name, each compiled once. */
export class GatewayProjects {
  readonly #cwd: string
  readonly #report: Report
  readonly #files: WatchedFiles[] = []
  readonly #projects = new Map<string, Promise<TestedProject | undefined>>()

  constructor(cwd: string, report: Report) {
    this.#cwd = cwd
    this.#report = report
  }

  /** The project that a file names, or the nearest gateway.conf in its folder or above. */
  readonly of = (
    file: SourceFile,
    named: string | undefined,
    at: Span,
  ): Promise<TestedProject | undefined> => {
    const folder = dirname(resolve(this.#cwd, file.path))
    const path = named === undefined ? nearestConfig(folder) : resolve(this.#cwd, named)
    if (path === undefined || !existsSync(path)) {
      const detail =
        path === undefined
          ? "there is no gateway.conf in the folder of this file or above"
          : `\`${named}\` does not exist`
      this.#report.add("SP6017", at, detail)
      return Promise.resolve(undefined)
    }
    let project = this.#projects.get(path)
    if (project === undefined) {
      project = this.#compile(path)
      this.#projects.set(path, project)
    }
    return project
  }

  /** Whether a file of a project has changed. */
  changed(): boolean {
    return this.#files.some((files) => files.changed())
  }

  /** Warnings belong to `validate`: here they would hide the results of the tests. */
  async #compile(path: string): Promise<TestedProject | undefined> {
    const { compileAndTest } = await import("../compile.ts")
    const folder = dirname(path)
    const files = new WatchedFiles(folder)
    this.#files.push(files)
    const { plan, diagnostics, models } = await compileAndTest(files, basename(path))
    if (plan !== undefined) return { config: relative(this.#cwd, path), plan, folder, models }
    this.#report.addAll(diagnostics.filter(({ severity }) => severity === "error"))
    return undefined
  }
}

function nearestConfig(folder: string): string | undefined {
  const path = join(folder, "gateway.conf")
  if (existsSync(path)) return path
  const above = dirname(folder)
  return above === folder ? undefined : nearestConfig(above)
}
