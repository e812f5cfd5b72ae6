import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from "yaml"

/** A test of a file, with its line from 0. */
export interface TestAtLine {
  readonly name: string
  readonly line: number
}

/** Why a test failed, at a line from 0. */
export interface TestFailure {
  readonly message: string
  readonly line: number
  readonly expected?: string
  readonly got?: string
}

/** What became of the test at a line. */
export interface TestOutcome extends TestAtLine {
  readonly failures: readonly TestFailure[]
}

/** The tests of a store file or of a file of gateway tests. A file that cannot be read has those before the mistake. */
export function testsIn(text: string): TestAtLine[] {
  const lines = new LineCounter()
  return parseAllDocuments(text, { lineCounter: lines, logLevel: "silent" }).flatMap((document) => {
    const tests = isMap(document.contents) ? document.contents.get("tests") : undefined
    if (!isSeq(tests)) return []
    return tests.items.flatMap((item, index) => {
      if (!isMap(item) || item.range == null) return []
      const name = item.get("name", true)
      const line = lines.linePos(item.range[0]).line - 1
      return [{ name: isScalar(name) ? String(name.value) : `test ${index + 1}`, line }]
    })
  })
}

interface PrintedFailure {
  readonly line: number
  readonly request?: string
  readonly what?: string
  readonly kind?: string
  readonly user?: string
  readonly relation?: string
  readonly object?: string
  readonly passed?: boolean
  readonly expected?: unknown
  readonly got?: unknown
  readonly why?: readonly string[]
}

interface PrintedTest {
  readonly name: string
  readonly line: number
  readonly passed: boolean
  readonly failures?: readonly PrintedFailure[]
  readonly questions?: readonly PrintedFailure[]
}

interface PrintedRun {
  readonly findings: readonly {
    readonly message?: string
    readonly title?: string
    readonly detail?: string
    readonly place?: { readonly file: string; readonly start: { readonly line: number } }
  }[]
  readonly stores?: readonly { readonly tests: readonly PrintedTest[] }[]
  readonly gateways?: readonly { readonly tests: readonly PrintedTest[] }[]
}

/**
 * What `sallyport test FILE --format json` printed.
 * @throws Error with the findings when the file could not be read, or with the text when it is not JSON
 */
export function outcomesOf(printed: string): TestOutcome[] {
  let run: PrintedRun
  try {
    run = JSON.parse(printed) as PrintedRun
  } catch {
    throw new Error(printed.trim() === "" ? "sallyport printed nothing" : printed.trim())
  }
  const tests = [...(run.stores ?? []), ...(run.gateways ?? [])].flatMap((suite) => suite.tests)
  if (tests.length === 0 && run.findings.length > 0) throw new Error(run.findings.map(findingText).join("\n"))
  return tests.map(({ name, line, passed, failures = [], questions = [] }) => {
    const wrong = [...failures, ...questions.filter((each) => each.passed === false)]
    const shown = wrong.map(failureOf)
    const unsaid = !passed && shown.length === 0 ? [{ message: "the test failed", line: line - 1 }] : []
    return { name, line: line - 1, failures: [...shown, ...unsaid] }
  })
}

/** With its place: a mistake of the project, e.g. a failed test of its model, keeps the tests of every file from running. */
function findingText({ message, title, detail, place }: PrintedRun["findings"][number]): string {
  const at = place === undefined ? "" : `${place.file}:${place.start.line}: `
  return `${at}${message ?? detail ?? title}`
}

function failureOf({
  line,
  request,
  what,
  expected,
  got,
  why = [],
  ...question
}: PrintedFailure): TestFailure {
  const { user, relation, object, kind } = question
  const asked = [user, relation, object].filter((each) => each !== undefined).join(" ")
  const about = what === undefined ? `${kind ?? "question"} ${asked}` : `${request ?? ""}: ${what}`
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))
  return {
    message: [`${about}: expected ${text(expected)}, got ${text(got)}`, ...why].join("\n"),
    ...{ line: line - 1, expected: text(expected) ?? "", got: text(got) ?? "" },
  }
}
