import type { Diagnostic } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { answerText, questionText } from "../../model-test/run.ts"
import { placeOf } from "../../render/text.ts"
import type { TestRun } from "../test-run.ts"

/** A line of TAP, and its diagnostic block. */
interface Point {
  readonly passed: boolean
  readonly name: string
  readonly details: Readonly<Record<string, string>>
  readonly skip?: string | undefined
}

/**
 * The run in version 14 of the Test Anything Protocol: a point for each question of a model, each test of a gateway, and each error of a file.
 */
export function testTap(run: TestRun): string {
  const points = [...pointsOfModels(run), ...pointsOfGateways(run), ...run.findings.flatMap(pointOfFinding)]
  const lines = points.flatMap(({ passed, name, details, skip }, index) => [
    `${passed ? "ok" : "not ok"} ${index + 1} - ${plain(name)}${skip === undefined ? "" : ` # SKIP ${plain(skip)}`}`,
    ...(passed ? [] : blockOf(details)),
  ])
  return `${["TAP version 14", `1..${points.length}`, ...lines].join("\n")}\n`
}

function pointsOfModels({ suites }: TestRun): Point[] {
  return suites.flatMap(({ suite, tests }) =>
    tests.flatMap(({ test, results }) =>
      results.map(({ question, passed, answer }) => ({
        passed,
        name: `${suite.file.path}: ${test.name}: ${questionText(question)}`,
        details: {
          expected: answerText({ got: question.expected }),
          got: answerText(answer),
          at: placeOf(question.span),
        },
      })),
    ),
  )
}

function pointsOfGateways({ gateways }: TestRun): Point[] {
  return gateways.flatMap(({ suite, tests, skipped }) => [
    ...tests.map(({ test, failures, error, passed }) => {
      const [first] = failures
      return {
        passed,
        name: `${suite.file.path}: ${test.name}`,
        details: {
          ...(error === undefined ? {} : { error }),
          ...(first === undefined
            ? {}
            : { request: first.request, what: first.what, expected: first.expected, got: first.got }),
          at: placeOf(first?.span ?? test.span),
        },
      }
    }),
    ...skipped.map(({ name, skip }) => ({
      ...{ passed: true, name: `${suite.file.path}: ${name}`, details: {} },
      skip: skip === undefined || skip === "" ? "no reason given" : skip,
    })),
  ])
}

function pointOfFinding({ severity, code, title, detail, span }: Diagnostic): Point[] {
  if (severity !== "error") return []
  return [{ passed: false, name: `${code} ${title}`, details: { message: detail, ...atOf(span) } }]
}

function atOf(span: Span | undefined): Record<string, string> {
  return span === undefined ? {} : { at: placeOf(span) }
}

/** JSON strings are strings of YAML, on one line. */
function blockOf(details: Readonly<Record<string, string>>): string[] {
  return [
    "  ---",
    ...Object.entries(details).map(([name, text]) => `  ${name}: ${JSON.stringify(text)}`),
    "  ...",
  ]
}

/** A description is one line, and `#` begins a directive. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll("#", "\\#")
}
