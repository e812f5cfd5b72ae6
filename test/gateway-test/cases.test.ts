import { chosenTests, runGateways } from "../../compiler/cli/gateway-run.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { readGatewayTests } from "../../compiler/gateway-test/test-file.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { runCases } from "../cases.ts"
import { compile } from "../compile.ts"

/** Reads and runs the tests of a file with the gateway.conf beside it. */
async function findings(files: MemoryFiles, path: string): Promise<string> {
  const report = new Report()
  const file = new Project(files, report).read(path, undefined)
  if (file === undefined) return ""
  const { plan, models } = compile(files, "gateway.conf")
  const projectOf = async () => plan && { config: "gateway.conf", plan, folder: "/nonexistent", models }
  const suites = chosenTests(await readGatewayTests(file, report, projectOf), undefined, report)
  for (const { tests } of await runGateways(suites, report))
    for (const { test, failures, error } of tests)
      if (failures.length > 0 || error !== undefined)
        report.add("SP6010", test.span, `${error ?? failures.map(({ what }) => what).join(", ")}`)
  return renderDiagnostics(report.sorted(), "text", { colour: false })
}

// What is called `right` is the mistake corrected: it has no findings at all.
runCases("gateway-test", {
  diagnostics: async (files) => {
    const paths = ["tests.gw.yaml", "right.gw.yaml"].filter((path) => files.glob(path).paths.length > 0)
    return (await Promise.all(paths.map((path) => findings(files, path)))).join("")
  },
})
