import { type ModelCoverage, percentOf } from "../../model-test/coverage.ts"
import {
  answerText,
  type QuestionResult,
  questionText,
  type SuiteResult,
  type TestAnswer,
  type TestResult,
} from "../../model-test/run.ts"
import { placeOf } from "../../render/text.ts"
import { visible } from "../../render/width.ts"
import type { TestRun } from "../test-run.ts"
import { checkText } from "./check.ts"
import { gatewayCoverageText, gatewaySuiteText, mutationText } from "./gateway-test.ts"

type Paint = Readonly<Record<"red" | "green" | "bold" | "dim", (text: string) => string>>

/** The result of a run: a line per file, details of failures, the coverage gaps if measured, and the totals. */
export function testText(run: TestRun, paint: Paint): string {
  const parts = run.suites.map((suite) => suiteText(suite, paint))
  for (const suite of run.gateways) parts.push(gatewaySuiteText(suite, paint))
  for (const coverage of run.coverage ?? []) parts.push(coverageText(coverage, run.minCoverage ?? 0, paint))
  for (const coverage of run.gatewayCoverage ?? [])
    parts.push(gatewayCoverageText(coverage, run.failUnder ?? 0, paint))
  for (const mutation of run.mutations ?? []) parts.push(mutationText(mutation, run.failUnder ?? 0, paint))
  return `${parts.join("")}${parts.length === 0 ? "" : "\n"}${summaryOf(run)}\n`
}

function suiteText({ suite, tests, passed }: SuiteResult, paint: Paint): string {
  const questions = tests.flatMap(({ results }) => results)
  // Most store files have no name of their own; the path is not repeated.
  const name = suite.name === suite.file.path ? "" : `  ${visible(suite.name)}`
  const count = `${counted(tests.length, "test")}, ${counted(questions.length, "question")}`
  const head = `${passed ? paint.green("ok  ") : paint.red("FAIL")}  ${visible(suite.file.path)}${name}  ${paint.dim(count)}\n`
  const failures = tests.filter((test) => !test.passed).map((test) => testFailure(test, paint))
  return `${head}${failures.join("")}${failures.length === 0 ? "" : "\n"}`
}

function testFailure({ test, results }: TestResult, paint: Paint): string {
  const about = test.description === undefined ? "" : `  ${paint.dim(visible(test.description))}`
  const failed = results.filter(({ passed }) => !passed).map((result) => questionFailure(result, paint))
  return `\n  ${paint.bold(visible(test.name))}${about}\n${failed.join("")}`
}

/** A failed question: expected, found, and why the engine decided so. */
function questionFailure(result: QuestionResult, paint: Paint): string {
  const { question, answer, reasons } = result
  // Expected and found below each other, in the words of the test file.
  const lines = [
    `    ${paint.red(visible(questionText(question)))}  ${paint.dim(placeOf(question.span))}`,
    `      expected  ${visible(answerText({ got: question.expected }))}`,
    `      got       ${visible(answerText(answer))}`,
    ...differenceLines(question, answer),
  ]
  const why = reasons.map(({ answer: reason, ...asked }) => checkText(asked, reason)).join("")
  const explained = why
    .split("\n")
    .filter((line) => line !== "")
    .map((line, at) => `      ${at === 0 ? "why       " : "          "}${visible(line)}`)
  return `${[...lines, ...explained].join("\n")}\n`
}

/** For lists, which items are missing and which are too many. */
function differenceLines(question: QuestionResult["question"], answer: TestAnswer): string[] {
  // A boolean needs no list of differences.
  if (question.kind === "check" || !("got" in answer) || typeof answer.got === "boolean") return []
  const { got } = answer
  const missing = question.expected.filter((item) => !got.includes(item))
  const extra = got.filter((item) => !question.expected.includes(item))
  return [
    ...(missing.length > 0 ? [`      missing   ${visible(missing.join(", "))}`] : []),
    ...(extra.length > 0 ? [`      too many  ${visible(extra.join(", "))}`] : []),
  ]
}

/** The coverage of a model and what no test covers. */
function coverageText(coverage: ModelCoverage, minCoverage: number, paint: Paint): string {
  const { model, parts, gaps } = coverage
  const percent = percentOf(coverage)
  const enough = percent >= minCoverage ? "" : paint.red(`, ${minCoverage} % are required`)
  const lines = gaps.map(({ of, text, span }) => {
    const place = span === undefined ? visible(model.name) : placeOf(span)
    return `  not covered by a test:  ${visible(of)}  ${visible(text)}  ${place}`
  })
  return `${[`\ncoverage of ${visible(model.name)}: ${parts - gaps.length} of ${parts} parts (${percent} %)${enough}`, ...lines].join("\n")}\n`
}

/** The totals of a run in one line. Files that could not run do not count as passed. */
export function summaryOf({ suites, gateways, files, findings }: TestRun): string {
  const tests = suites.flatMap((suite) => suite.tests)
  const results = tests.flatMap((test) => test.results)
  const gatewayTests = gateways.flatMap((suite) => suite.tests)
  const judged = gatewayTests.reduce((sum, { expectations }) => sum + expectations, 0)
  const failures = gatewayTests.reduce(
    (sum, each) => sum + each.failures.length + (each.error === undefined ? 0 : 1),
    0,
  )
  const failed = results.filter(({ passed }) => !passed).length + failures
  const errors = findings.filter(({ severity }) => severity === "error").length
  const all = results.length + judged
  const mixed = `${Math.max(0, all - failed)} passed${failed === 0 ? "" : `, ${failed} failed`}`
  const asked = failed + errors === 0 ? "all passed" : mixed
  const outcome = all + failed === 0 ? "nothing asked" : asked
  const broken = errors === 0 ? "" : `, ${counted(errors, "error")}`
  const counts = [
    counted(files, "file"),
    counted(tests.length + gatewayTests.length, "test"),
    ...(results.length > 0 || judged === 0 ? [counted(results.length, "question")] : []),
    ...(judged > 0 ? [counted(judged, "expectation")] : []),
  ]
  return `${counts.join(", ")}: ${outcome}${broken}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}
