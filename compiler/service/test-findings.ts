import type { Plan } from "../../runtime/plan/plan.ts"
import { type Compiled, compileWithParts } from "../compile.ts"
import { type Diagnostic, Report } from "../core/diagnostic.ts"
import type { Files } from "../core/files.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { nearestEntry } from "./test-names.ts"

/** A project that gateway tests run on. `config`: the path of its gateway.conf. */
export interface TestsProject {
  readonly config: string
  readonly plan: Plan
  readonly models: Compiled["models"]
}

/**
 * Reads a file of gateway tests as `sallyport test` does, and reports its mistakes. `projectOf` compiles the project of the file: the path that the file names,
 * or undefined for the nearest one. It resolves to undefined without a plan, after it has reported why, unless the project itself has the mistakes.
 */
export type GatewayTestReader = (
  file: SourceFile,
  report: Report,
  projectOf: (named: string | undefined, at: Span) => Promise<TestsProject | undefined>,
) => Promise<void>

/** Whether a path is that of gateway tests. */
export function isGatewayTests(path: string): boolean {
  return /\.gw\.ya?ml$/.test(path)
}

/** The mistakes of files of gateway tests, whose names are those of a plan. A plan is kept until `forget`, because compiling one takes longer than all else. */
export class TestFindings {
  readonly #files: Files
  readonly #reader: GatewayTestReader
  readonly #projects = new Map<string, Promise<TestsProject | undefined>>()

  constructor(files: Files, reader: GatewayTestReader) {
    this.#files = files
    this.#reader = reader
  }

  /** The same reader for other texts. */
  over(files: Files): TestFindings {
    return new TestFindings(files, this.#reader)
  }

  /** A file of a project has changed. */
  forget(): void {
    this.#projects.clear()
  }

  /** The mistakes in a file of tests itself; those of its project belong to the project. */
  async of(file: SourceFile): Promise<readonly Diagnostic[]> {
    const report = new Report()
    await this.#reader(file, report, (named, at) => this.#projectOf(file, named, at, report))
    return report.sorted().filter(({ span }) => span?.file === file)
  }

  #projectOf(
    { path }: SourceFile,
    named: string | undefined,
    at: Span,
    report: Report,
  ): Promise<TestsProject | undefined> {
    const config = named ?? nearestEntry(path, this.#files)
    const isThere =
      config !== undefined && this.#files.read(config, Number.POSITIVE_INFINITY).kind === "bytes"
    if (!isThere) {
      const detail =
        config === undefined
          ? "there is no gateway.conf in the folder of this file or above"
          : `\`${config}\` does not exist`
      report.add("SP6017", at, detail)
      return Promise.resolve(undefined)
    }
    const project = this.#projects.get(config) ?? this.#compile(config)
    this.#projects.set(config, project)
    return project
  }

  /** Keeps nothing of the compilation besides the plan: the trees of a large project would stay in memory. */
  async #compile(config: string): Promise<TestsProject | undefined> {
    const { plan, models } = await compileWithParts(this.#files, config)
    return plan === undefined ? undefined : { config, plan, models }
  }
}
