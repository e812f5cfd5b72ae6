import { relative, resolve } from "node:path"
import pc from "picocolors"
import type { Plan } from "../../runtime/plan/plan.ts"
import { CliError, exitCode } from "./command.ts"
import type { Io } from "./io.ts"
import type { ProjectArgs } from "./options.ts"
import { withProgress } from "./progress.ts"
import { showFindings } from "./project.ts"
import { testFolders } from "./test-files.ts"
import { runTests } from "./test-run.ts"
import { testText } from "./views/test.ts"

/**
 * Runs the tests of the gateway below this folder with exactly this plan, in this process: without a network, and before the plan is sent.
 * @throws CliError when a test fails, or there is none
 */
export async function probe(io: Io, plan: Plan, { folder, entry }: ProjectArgs): Promise<void> {
  const config = relative(io.cwd, resolve(io.cwd, folder, entry))
  const selection = {
    ...{ filter: undefined, coverage: false, minCoverage: undefined, failUnder: undefined, mutate: false },
    instead: { config, plan },
  }
  const folders = testFolders(io, ["**/*.gw.yaml"])
  const run = await withProgress(io, "testing", () => runTests(folders, selection, io.cwd))
  showFindings(io, run.findings)
  io.out(testText(run, pc.createColors(io.colour.out)))
  if (run.gateways.every(({ suite }) => suite.config !== config))
    throw new CliError(
      `not applied: no *.gw.yaml below this folder tests ${config}`,
      "Write tests of the gateway, or leave --probe out.",
      exitCode.refused,
    )
  if (!run.passed)
    throw new CliError(
      "not applied: the plan fails tests of the gateway",
      "Correct the project or its tests, and make the plan again.",
      exitCode.refused,
    )
}
