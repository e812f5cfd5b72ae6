import type { Plan } from "../../runtime/plan/plan.ts"
import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { Project } from "../core/load.ts"
import { type GatewayCoverage, gatewayPercent } from "../gateway-test/gateway-coverage.ts"
import { type MutationResult, noticedPercent } from "../gateway-test/mutation.ts"
import { type ModelCoverage, measureCoverage, percentOf } from "../model-test/coverage.ts"
import { runSuite, type SuiteResult } from "../model-test/run.ts"
import { StoreFiles } from "../model-test/store-file.ts"
import { CliError } from "./command.ts"
import {
  chosenTests,
  collectors,
  type GatewaySuiteResult,
  isGatewayFile,
  mutateGateways,
  readGateways,
  runGateways,
} from "./gateway-run.ts"
import type { TestFolder } from "./test-files.ts"

/** Which tests to run, and with which demands. */
export interface TestSelection {
  /** Only tests with this text in their name or their store's name. */
  readonly filter: string | undefined
  readonly coverage: boolean
  /** Minimum percentage of each model that tests must cover; undefined: none. */
  readonly minCoverage: number | undefined
  /** Minimum percentage of each gateway that tests must show, and of weakened guards that they must notice; undefined: none. */
  readonly failUnder: number | undefined
  /** Weaken each guard of the gateways in turn. */
  readonly mutate: boolean
  /** A plan to test instead of the one that the project with this path compiles to. */
  readonly instead?: { readonly config: string; readonly plan: Plan }
}

/** The result of one run of tests. */
export interface TestRun {
  /** There are no errors, all answers were as expected, and every model has the minimum coverage. */
  readonly passed: boolean
  /** Number of files with tests that were read. */
  readonly files: number
  readonly findings: readonly Diagnostic[]
  readonly suites: readonly SuiteResult[]
  readonly gateways: readonly GatewaySuiteResult[]
  readonly coverage: readonly ModelCoverage[] | undefined
  /** Minimum percentage for each model; undefined: none. */
  readonly minCoverage: number | undefined
  readonly gatewayCoverage: readonly GatewayCoverage[] | undefined
  /** Undefined: not asked for, or a test fails as it is. */
  readonly mutations: readonly MutationResult[] | undefined
  /** Minimum percentage for both; undefined: none. */
  readonly failUnder: number | undefined
  /** Whether a file of a project that gateway tests name has changed. */
  projectChanged(): boolean
}

/** Reads all files with tests and runs them. `cwd`: the folder of their paths. @throws CliError when the filter excludes all tests. */
export async function runTests(
  folders: readonly TestFolder[],
  { filter, coverage: wanted, minCoverage, failUnder, mutate, instead }: TestSelection,
  cwd: string,
): Promise<TestRun> {
  const report = new Report()
  const read = folders.flatMap(({ files, paths }) => {
    const project = new Project(files, report)
    const stores = new StoreFiles(project, report)
    return paths
      .filter((path) => !isGatewayFile(path))
      .flatMap((path) => {
        const file = project.read(path, undefined)
        return file === undefined ? [] : stores.read(file)
      })
  })
  const chosen = read.map((suite) => ({
    ...suite,
    tests: suite.tests.filter(({ name }) => filter === undefined || `${suite.name} ${name}`.includes(filter)),
  }))
  const kept = filter === undefined ? chosen : chosen.filter(({ tests }) => tests.length > 0)
  const gatewayTests = await readGateways(folders, cwd, report)
  const tested = gatewayTests.suites.map((suite) =>
    suite.config === instead?.config ? { ...suite, plan: instead.plan } : suite,
  )
  const chosenGateways = chosenTests(tested, filter, report)
  if (kept.length + chosenGateways.length === 0 && read.length + gatewayTests.suites.length > 0)
    throw new CliError(
      `no test, store or file of gateway tests has \`${filter}\` in its name`,
      "Check upper and lower case: the search is case-sensitive.",
    )
  const suites: SuiteResult[] = []
  for (const suite of kept) suites.push(await runSuite(suite))
  const collected = wanted ? collectors(chosenGateways) : undefined
  const gateways = await runGateways(chosenGateways, report, collected)
  const gatewayCoverage = collected?.map((each) => each.result())
  const mayMutate = mutate && gateways.every(({ passed }) => passed)
  const measured = wanted || mayMutate ? await measureCoverage(kept) : []
  const mutations = mayMutate ? await mutateGateways(chosenGateways, measured) : undefined
  const percents = [...(gatewayCoverage ?? []).map(gatewayPercent), ...(mutations ?? []).map(noticedPercent)]
  const coverage = wanted ? measured : undefined
  const enough =
    (coverage ?? []).every((one) => percentOf(one) >= (minCoverage ?? 0)) &&
    percents.every((percent) => percent >= (failUnder ?? 0))
  return {
    passed: !report.blocked && [...suites, ...gateways].every(({ passed }) => passed) && enough,
    files: folders.reduce((sum, { paths }) => sum + paths.length, 0),
    findings: report.sorted(),
    suites,
    gateways,
    coverage,
    minCoverage,
    ...{ gatewayCoverage, mutations, failUnder },
    projectChanged: gatewayTests.changed,
  }
}
