import type { Alternatives } from "../../runtime/gateway/in-process/watched-steps.ts"
import type { Report } from "../core/diagnostic.ts"
import { Project } from "../core/load.ts"
import { CoverageCollector } from "../gateway-test/gateway-coverage.ts"
import type { GatewaySuite, GatewayTest, OpenGateway } from "../gateway-test/gateway-suite.ts"
import { nothingGiven } from "../gateway-test/given.ts"
import { type MutationResult, mutate } from "../gateway-test/mutation.ts"
import { type GatewayTestResult, OpenGateways, runGatewayTest, worldOf } from "../gateway-test/run-suite.ts"
import { readGatewayTests } from "../gateway-test/test-file.ts"
import { weakerSteps } from "../gateway-test/weakenings.ts"
import type { ModelCoverage } from "../model-test/coverage.ts"
import { GatewayProjects } from "./gateway-projects.ts"
import type { TestFolder } from "./test-files.ts"

/** The tests of one document that ran. */
export interface GatewaySuiteResult {
  readonly suite: GatewaySuite
  readonly tests: readonly GatewayTestResult[]
  readonly skipped: readonly GatewayTest[]
  readonly passed: boolean
}

/** The tests of gateways, read. */
export interface GatewayTests {
  readonly suites: readonly GatewaySuite[]
  /** Whether a file of a project has changed. */
  changed(): boolean
}

const gatewayFile = /\.gw\.ya?ml$/

/** Whether a path is that of tests of a gateway. */
export function isGatewayFile(path: string): boolean {
  return gatewayFile.test(path)
}

/** Reads all tests of gateways, and compiles their projects. */
export async function readGateways(
  folders: readonly TestFolder[],
  cwd: string,
  report: Report,
): Promise<GatewayTests> {
  const projects = new GatewayProjects(cwd, report)
  const suites: GatewaySuite[] = []
  for (const { files, paths } of folders) {
    const project = new Project(files, report)
    for (const path of paths.filter(isGatewayFile)) {
      const file = project.read(path, undefined)
      if (file !== undefined) suites.push(...(await readGatewayTests(file, report, projects.of)))
    }
  }
  return { suites, changed: () => projects.changed() }
}

/** Leaves the tests with the text in their name or their suite's. While a test has `only`, and without a text, only such tests are left. */
export function chosenTests(
  suites: readonly GatewaySuite[],
  filter: string | undefined,
  report: Report,
): readonly GatewaySuite[] {
  const only = suites.flatMap(({ tests }) => tests.filter(({ isOnly }) => isOnly))
  if (filter === undefined && only.length > 0)
    for (const { span, name } of only) report.add("SP6019", span, `\`${name}\` has \`only: true\``)
  const isChosen = ({ name }: GatewaySuite, test: GatewayTest) =>
    filter === undefined ? only.length === 0 || test.isOnly : `${name} ${test.name}`.includes(filter)
  const chosen = suites.map((suite) => ({
    ...suite,
    tests: suite.tests.filter((test) => isChosen(suite, test)),
  }))
  return filter === undefined && only.length === 0 ? chosen : chosen.filter(({ tests }) => tests.length > 0)
}

/** Opens gateways by the runtime, which is loaded only for a run that has tests of gateways. With `alternatives`, each guard can be weakened. */
function opener(alternatives?: Alternatives): OpenGateway {
  return async (plan, environment, folder) => {
    const { openInProcess } = await import("../../runtime/gateway/in-process/in-process-gateway.ts")
    const options = { environment, folder, ...(alternatives === undefined ? {} : { alternatives }) }
    return openInProcess(plan, worldOf(nothingGiven), options)
  }
}

/** Runs tests of gateways one after another. A plan that cannot be loaded is a finding, and its tests do not run. */
export async function runGateways(
  suites: readonly GatewaySuite[],
  report: Report,
  coverage?: readonly CoverageCollector[],
): Promise<GatewaySuiteResult[]> {
  const gateways = new OpenGateways(opener())
  const results: GatewaySuiteResult[] = []
  try {
    for (const suite of suites)
      results.push(
        await runSuiteOfGateway(
          suite,
          gateways,
          report,
          coverage?.find(({ config }) => config === suite.config),
        ),
      )
  } finally {
    await gateways.close()
  }
  return results
}

async function runSuiteOfGateway(
  suite: GatewaySuite,
  gateways: OpenGateways,
  report: Report,
  coverage: CoverageCollector | undefined,
): Promise<GatewaySuiteResult> {
  const tests: GatewayTestResult[] = []
  const skipped = suite.tests.filter(({ skip }) => skip !== undefined)
  let isLoaded = true
  for (const test of suite.tests) {
    if (test.skip !== undefined) continue
    try {
      tests.push(
        await runGatewayTest(await gateways.of(suite, test.given), test, (_, passage) =>
          coverage?.add(passage),
        ),
      )
    } catch (error) {
      isLoaded = false
      report.add("SP6018", test.span, error instanceof Error ? error.message : String(error))
    }
  }
  return { suite, tests, skipped, passed: isLoaded && tests.every(({ passed }) => passed) }
}

/** One collector for each project with tests. */
export function collectors(suites: readonly GatewaySuite[]): CoverageCollector[] {
  return [...projectsOf(suites)].map(([config, [{ plan }]]) => new CoverageCollector(config, plan))
}

/** Weakens each guard of each project, for tests that pass as they are. `models`: what tests of models cover. */
export async function mutateGateways(
  suites: readonly GatewaySuite[],
  models: readonly ModelCoverage[],
): Promise<MutationResult[]> {
  const results: MutationResult[] = []
  for (const own of projectsOf(suites).values()) {
    const gateways = new OpenGateways(opener((step) => weakerSteps(step).map((weaker) => weaker.step)))
    try {
      results.push(await mutate(own, gateways, models))
    } finally {
      await gateways.close()
    }
  }
  return results
}

/** The suites by the path of their project. */
function projectsOf(suites: readonly GatewaySuite[]): Map<string, [GatewaySuite, ...GatewaySuite[]]> {
  const projects = new Map<string, [GatewaySuite, ...GatewaySuite[]]>()
  for (const suite of suites) {
    const own = projects.get(suite.config)
    if (own === undefined) projects.set(suite.config, [suite])
    else own.push(suite)
  }
  return projects
}
