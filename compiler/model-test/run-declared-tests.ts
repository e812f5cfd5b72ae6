import type { Report } from "../core/diagnostic.ts"
import type { DeclaredTests } from "./declared-tests.ts"
import { answerText, questionText, runSuite } from "./run.ts"

/** Runs the tests that stores name. Every answer that differs from the expected one is an error at its assertion. */
export async function runDeclaredTests(declared: readonly DeclaredTests[], report: Report): Promise<void> {
  for (const { store, at, suites } of declared)
    for (const suite of suites)
      for (const { test, results } of (await runSuite(suite)).tests)
        for (const { question, passed, answer } of results) {
          if (passed) continue
          const expected = answerText({ got: question.expected })
          const detail = `\`${test.name}\`: ${questionText(question)}: expected ${expected}, got ${answerText(answer)}`
          const related = [{ span: at, message: `\`${store}\` uses these tests here` }]
          report.add("SP6010", question.span, detail, { related })
        }
}
