import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { Project } from "../core/load.ts"
import { type ModelCoverage, measureCoverage, percentOf } from "../model-test/coverage.ts"
import { runSuite, type SuiteResult } from "../model-test/run.ts"
import { StoreFiles } from "../model-test/store-file.ts"
import { CliError } from "./command.ts"
import type { TestFolder } from "./test-files.ts"

/** Which tests to run, and with which demands. */
export interface TestSelection {
  /** Only tests with this text in their name or their store's name. */
  readonly filter: string | undefined
  readonly coverage: boolean
  /** Minimum percentage of each model that tests must cover; undefined: none. */
  readonly minCoverage: number | undefined
}

/** The result of one run of tests. */
export interface TestRun {
  /** There are no errors, all answers were as expected, and every model has the minimum coverage. */
  readonly passed: boolean
  /** Number of store files that were read. */
  readonly files: number
  readonly findings: readonly Diagnostic[]
  readonly suites: readonly SuiteResult[]
  readonly coverage: readonly ModelCoverage[] | undefined
  /** Minimum percentage for each model; undefined: none. */
  readonly minCoverage: number | undefined
}

/** Reads all store files and runs their tests. @throws CliError when the filter excludes all tests. */
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
      `no test or store has \`${filter}\` in its name`,
      "Check upper and lower case: the search is case-sensitive.",
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
