import { expect, test } from "vitest"
import { run } from "../cli/run.ts"
import { conformanceFiles, conformanceRoot, describeConformance } from "../model/conformance.ts"

describeConformance("OpenFGA's sample stores", () => {
  test("all pass, unchanged", async () => {
    const files = conformanceFiles("sample-stores").filter((path) => path.endsWith(".fga.yaml"))
    const { code, out, err } = await run(
      { cwd: conformanceRoot },
      "test",
      "sample-stores",
      "--format",
      "json",
    )
    expect(err).toBe("")
    const { passed, stores } = JSON.parse(out)
    const tests = stores.flatMap((store: { tests: { questions: unknown[] }[] }) => store.tests)
    const questions = tests.flatMap((each: { questions: unknown[] }) => each.questions)
    expect({ code, passed }).toEqual({ code: 0, passed: true })
    expect({ stores: stores.length, tests: tests.length }).toEqual({ stores: files.length, tests: 102 })
    expect(questions.length).toBe(363)
  })
})
