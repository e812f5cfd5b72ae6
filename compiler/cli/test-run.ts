import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { Project } from "../core/load.ts"
import { type ModelCoverage, measureCoverage, percentOf } from "../model-test/coverage.ts"
import { runSuite, type SuiteResult } from "../model-test/run.ts"
import { StoreFiles } from "../model-test/store-file.ts"
import { CliError } from "./command.ts"
import type { TestFolder } from "./test-files.ts"

/** Which tests are run, and what is wanted of them. */
export interface TestSelection {
  /** Only tests in whose name, or whose store's, this stands. */
  readonly filter: string | undefined
  readonly coverage: boolean
  /** Percent of each model's parts that tests must hold; undefined: none is asked for. */
  readonly minCoverage: number | undefined
}

/** What one run of tests found. */
export interface TestRun {
  /** No finding is an error, every answer was the expected one, and no model's coverage was lower than asked for. */
  readonly passed: boolean
  /** Store files that were read. */
  readonly files: number
  readonly findings: readonly Diagnostic[]
  readonly suites: readonly SuiteResult[]
  readonly coverage: readonly ModelCoverage[] | undefined
  /** Percent each model must reach; undefined: none was asked for. */
  readonly minCoverage: number | undefined
}

/** Reads all store files and runs their tests. @throws CliError when the filter leaves no test. */
export async function runTests(
  folders: readonly TestFolder[],
  { filter, coverage: wanted, minCoverage }: TestSelection,
): Promise<TestRun> {
  const report = new Report()
  const read = folders.flatMap(({ files, paths }) => {
    const project = new Project(files, report)
    const stores = new StoreFiles(project, report)
    return paths.flatMap((path) => {
      const file = project.read(path, undefined)
      return file === undefined ? [] : stores.read(file)
    })
  })
  const chosen = read.map((suite) => ({
    ...suite,
    tests: suite.tests.filter(({ name }) => filter === undefined || `${suite.name} ${name}`.includes(filter)),
  }))
  const kept = filter === undefined ? chosen : chosen.filter(({ tests }) => tests.length > 0)
  if (kept.length === 0 && read.length > 0)
    throw new CliError(
      `no test has \`${filter}\` in its name`,
      "Names of tests and stores are searched as they are written.",
    )
  const suites: SuiteResult[] = []
  for (const suite of kept) suites.push(await runSuite(suite))
  const coverage = wanted ? await measureCoverage(kept) : undefined
  const enough = coverage?.every((one) => percentOf(one) >= (minCoverage ?? 0)) ?? true
  return {
    passed: !report.blocked && suites.every(({ passed }) => passed) && enough,
    files: folders.reduce((sum, { paths }) => sum + paths.length, 0),
    findings: report.sorted(),
    suites,
    coverage,
    minCoverage,
  }
}
