import type { Diagnostic } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type GatewayCoverage, gatewayPercent } from "../../gateway-test/gateway-coverage.ts"
import type { MutationResult } from "../../gateway-test/mutation.ts"
import type { GatewayTestResult } from "../../gateway-test/run-suite.ts"
import type { ModelCoverage } from "../../model-test/coverage.ts"
import {
  answerText,
  type QuestionResult,
  questionText,
  type SuiteResult,
  type TestAnswer,
} from "../../model-test/run.ts"
import { jsonOfFinding } from "../../render/json.ts"
import type { GatewaySuiteResult } from "../gateway-run.ts"
import { jsonDocument } from "../print.ts"
import type { TestRun } from "../test-run.ts"
import { checkText } from "./check.ts"

/** The whole run as JSON: findings, stores with every question, and the coverage if it was measured. */
export function testJson(run: TestRun): string {
  const document = {
    passed: run.passed,
    files: run.files,
    findings: run.findings.map(jsonOfFinding),
    stores: run.suites.map(storeJson),
    ...(run.gateways.length === 0 ? {} : { gateways: run.gateways.map(gatewayJson) }),
    ...(run.coverage === undefined ? {} : { coverage: run.coverage.map(coverageJson) }),
    ...(run.minCoverage === undefined ? {} : { min_coverage: run.minCoverage }),
    ...(run.gatewayCoverage === undefined
      ? {}
      : { gateway_coverage: run.gatewayCoverage.map(gatewayCoverageJson) }),
    ...(run.mutations === undefined ? {} : { mutations: run.mutations.map(mutationJson) }),
    ...(run.failUnder === undefined ? {} : { fail_under: run.failUnder }),
  }
  return jsonDocument(document)
}

/** What tests show of a gateway, and what they do not. */
function gatewayCoverageJson(coverage: GatewayCoverage): object {
  const { config, counts, gaps } = coverage
  return { config, percent: gatewayPercent(coverage), counts, gaps }
}

/** Weakened guards, and those that no test noticed. */
function mutationJson({ config, mutants, survivors }: MutationResult): object {
  return {
    ...{ config, weakened: mutants, noticed: mutants - survivors.length },
    unnoticed: survivors.map(({ what, place, routes, isReached }) => ({
      what,
      place,
      routes,
      reached: isReached,
    })),
  }
}

/** One file of gateway tests. */
function gatewayJson({ suite, tests, skipped, passed }: GatewaySuiteResult): object {
  return {
    file: suite.file.path,
    name: suite.name,
    passed,
    tests: [
      ...tests.map(({ test, failures, error, expectations, passed: all }) => ({
        name: test.name,
        ...placeJson(test.span),
        passed: all,
        expectations,
        ...(error === undefined ? {} : { error }),
        failures: failures.map(({ request, what, span, expected, got, why }) => ({
          ...{ request, what, ...placeJson(span), expected, got, why },
        })),
      })),
      ...skipped.map(({ name, span, skip }) => ({ name, ...placeJson(span), skipped: skip ?? "" })),
    ],
  }
}

/** One store file. */
function storeJson({ suite, tests, passed }: SuiteResult): object {
  return {
    file: suite.file.path,
    name: suite.name,
    model: suite.model.name,
    passed,
    tests: tests.map(({ test, results, passed: all }) => ({
      name: test.name,
      ...(test.description === undefined ? {} : { description: test.description }),
      ...placeJson(test.span),
      passed: all,
      questions: results.map(questionJson),
    })),
  }
}

/** One question with what was expected and what was found. */
function questionJson({ question, passed, answer, reasons }: QuestionResult): object {
  const { span, places: _, expected, ...asked } = question
  return {
    ...asked,
    ...placeJson(span),
    expected,
    ...answer,
    passed,
    ...(reasons.length === 0
      ? {}
      : {
          reasons: reasons.map(({ answer: { allowed, explanation }, ...check }) => ({
            ...check,
            allowed,
            explanation,
          })),
        }),
  }
}

/** Parts that no test covers. */
function coverageJson({ model, parts, gaps }: ModelCoverage): object {
  return {
    model: model.name,
    parts,
    covered: parts - gaps.length,
    gaps: gaps.map(({ of, text, span }) => ({
      of,
      text,
      ...(span === undefined ? {} : { file: span.file.path, ...placeJson(span) }),
    })),
  }
}

function placeJson({ file, start }: Span): { line: number; column: number } {
  return file.position(start)
}

/**
 * The run as JUnit XML for CI systems: a suite for each store, a case for each question. An unreadable file is a suite with one error case
 * for each finding.
 */
export function testJunit(run: TestRun): string {
  const results = run.suites.flatMap(({ tests }) => tests.flatMap((test) => test.results))
  const errors = run.findings.filter(({ severity }) => severity === "error")
  const head = totalCounts(run, results, errors.length)
  const suites = [...run.suites.map(suiteXml), ...run.gateways.map(gatewayXml)]
  const paths = [...new Set(errors.map(pathOf))]
  const broken = paths.map((path) =>
    brokenXml(
      path,
      errors.filter((finding) => pathOf(finding) === path),
    ),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sallyport test" ${head}>\n${[...suites, ...broken].join("")}</testsuites>\n`
}

function counts(results: readonly QuestionResult[], errors = 0): string {
  const failures = results.filter((result) => !result.passed && "got" in result.answer).length
  const raised = results.filter((result) => !("got" in result.answer)).length
  return `tests="${results.length + errors}" failures="${failures}" errors="${raised + errors}"`
}

/** The counts of the whole run. A test of a gateway is one case. */
function totalCounts(
  { gateways }: Pick<TestRun, "gateways">,
  results: readonly QuestionResult[],
  errors: number,
): string {
  const tests = gateways.flatMap((suite) => suite.tests)
  const skipped = gateways.reduce((sum, suite) => sum + suite.skipped.length, 0)
  const raised = tests.filter(({ error }) => error !== undefined).length
  const failures = tests.filter(({ passed }) => !passed).length - raised
  const failed = results.filter((result) => !result.passed && "got" in result.answer).length + failures
  const unanswered = results.filter((result) => !("got" in result.answer)).length + errors + raised
  const head = `tests="${results.length + errors + tests.length + skipped}" failures="${failed}" errors="${unanswered}"`
  return skipped === 0 ? head : `${head} skipped="${skipped}"`
}

/** A `testsuite` for a file of gateway tests. */
function gatewayXml(result: GatewaySuiteResult): string {
  const { suite, tests, skipped } = result
  const path = suite.file.path
  const cases = tests.map((test) => gatewayCaseXml(test, path))
  const left = skipped.map(
    ({ name, span, skip }) =>
      `    <testcase ${attributes({ classname: path, name, file: path, line: lineOf(span) })}>\n      <skipped ${attributes({ message: skip ?? "" })}/>\n    </testcase>\n`,
  )
  const name = suite.name === path ? path : `${path} ${suite.name}`
  const head = totalCounts({ gateways: [result] }, [], 0)
  return `  <testsuite ${attributes({ name, file: path })} ${head}>\n${[...cases, ...left].join("")}  </testsuite>\n`
}

/** A `testcase`: with all its failures in one text, because a case has one result. */
function gatewayCaseXml({ test, failures, error, passed }: GatewayTestResult, file: string): string {
  const [first] = failures
  const head = `    <testcase ${attributes({ classname: file, name: test.name, file, line: lineOf(first?.span ?? test.span) })}`
  if (passed) return `${head}/>\n`
  if (error !== undefined)
    return `${head}>\n      <error ${attributes({ message: error })}/>\n    </testcase>\n`
  const message =
    first === undefined ? "" : `${first.request}: ${first.what}: expected ${first.expected}, got ${first.got}`
  const text = failures
    .flatMap(({ request, what, expected, got, why }) => [
      `${request}: ${what}`,
      `  expected ${expected}`,
      `  got ${got}`,
      ...why.map((line) => `  ${line}`),
    ])
    .join("\n")
  return `${head}>\n      <failure ${attributes({ message })}>${escaped(text)}</failure>\n    </testcase>\n`
}

function lineOf({ file, start }: Span): string {
  return String(file.position(start).line)
}

/** A `testsuite` of the JUnit format. */
function suiteXml({ suite, tests }: SuiteResult): string {
  const path = suite.file.path
  const cases = tests.flatMap(({ test, results }) =>
    results.map((result) => caseXml(result, test.name, path)),
  )
  const name = suite.name === path ? path : `${path} ${suite.name}`
  const head = counts(tests.flatMap(({ results }) => results))
  return `  <testsuite ${attributes({ name, file: path })} ${head}>\n${cases.join("")}  </testsuite>\n`
}

/** A `testcase`. A question that could not be asked is an `error`, a wrong answer a `failure`. */
function caseXml({ question, passed, answer, reasons }: QuestionResult, test: string, file: string): string {
  const { line } = question.span.file.position(question.span.start)
  const head = `    <testcase ${attributes({ classname: test, name: questionText(question), file, line: String(line) })}`
  if (passed) return `${head}/>\n`
  const message = `expected ${answerText({ got: question.expected })}, got ${answerText(answer)}`
  const why = reasons.map(({ answer: reason, ...asked }) => checkText(asked, reason)).join("")
  const kind = kindOf(answer)
  return `${head}>\n      <${kind} ${attributes({ message })}>${escaped(why)}</${kind}>\n    </testcase>\n`
}

function kindOf(answer: TestAnswer): "failure" | "error" {
  return "got" in answer ? "failure" : "error"
}

function pathOf({ span }: Diagnostic): string {
  return span?.file.path ?? ""
}

function brokenXml(path: string, findings: readonly Diagnostic[]): string {
  const cases = findings.map(({ code, title, detail, span }) => {
    const line = span === undefined ? {} : { line: String(span.file.position(span.start).line) }
    const head = attributes({ classname: code, name: `${code} ${title}`, file: path, ...line })
    return `    <testcase ${head}>\n      <error ${attributes({ message: detail })}/>\n    </testcase>\n`
  })
  return `  <testsuite ${attributes({ name: path, file: path })} tests="${findings.length}" failures="0" errors="${findings.length}">\n${cases.join("")}  </testsuite>\n`
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;")}"`)
    .join(" ")
}

/** XML 1.0 cannot represent other control characters, surrogates, U+FFFE and U+FFFF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced here.
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

function escaped(text: string): string {
  return text
    .replace(notInXml, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
}
