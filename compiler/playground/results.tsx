import { analysis, jump, show, showFinding } from "./project.ts"
import type { ShownTest } from "./protocol.ts"

/** The tests of all stores, failed ones first in each. */
export function Tests() {
  const stores = (analysis.value?.stores ?? []).filter(({ tests }) => tests.length > 0)
  if (stores.length === 0)
    return (
      <p class="quiet empty">There are no tests. `tests` of a `*.fga.yaml` file has the expected answers.</p>
    )
  return (
    <>
      {stores.map(({ id, name, path, tests }) => (
        <section key={id} aria-label={name}>
          <h3>
            {name}{" "}
            <span class="quiet">{`${tests.filter(({ passed }) => passed).length} of ${tests.length} passed`}</span>
          </h3>
          <ul class="tests">
            {[...tests.filter(({ passed }) => !passed), ...tests.filter(({ passed }) => passed)].map(
              (test, at) => (
                <Test key={at} test={test} path={path} />
              ),
            )}
          </ul>
        </section>
      ))}
    </>
  )
}

function Test({
  test: { name, passed, questions },
  path,
}: {
  readonly test: ShownTest
  readonly path: string
}) {
  const toLine = (line: number) => {
    show(path)
    jump.value = { path, offset: 0, line }
  }
  return (
    <li>
      <details open={!passed}>
        <summary>
          <span class={passed ? "holds" : "fails"}>{passed ? "✓" : "✗"}</span> {name}
        </summary>
        <ul>
          {questions.map((question, at) => (
            <li key={at}>
              <span class={question.passed ? "holds" : "fails"}>{question.passed ? "✓" : "✗"}</span>
              <code>{question.text}</code>{" "}
              {question.passed ? (
                <span class="quiet">{question.got}</span>
              ) : (
                <>
                  <span>{`expected ${question.expected}, got ${question.got}`}</span>{" "}
                  <button type="button" class="link" onClick={() => toLine(question.line)}>
                    {`line ${question.line}`}
                  </button>
                </>
              )}
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}

/** All findings of the project, errors first. */
export function Findings() {
  const findings = analysis.value?.findings ?? []
  if (findings.length === 0) return <p class="quiet empty">No findings: the project compiles.</p>
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.path} ${finding.start} ${finding.code} ${finding.detail}`}>
          <span
            class={`badge ${finding.severity === "error" ? "bad" : finding.severity === "warning" ? "warn" : ""}`}
          >
            {finding.severity}
          </span>{" "}
          <button type="button" class="link" onClick={() => showFinding(finding)}>
            {`${finding.path}:${finding.line}`}
          </button>{" "}
          <strong>{finding.title}</strong>
          <p>{finding.detail}</p>
          {finding.help && <p class="quiet">{finding.help}</p>}
        </li>
      ))}
    </ul>
  )
}
