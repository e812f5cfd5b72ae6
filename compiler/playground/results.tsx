import { gatewayTestResults } from "./client.ts"
import { GatewayQuestion } from "./gateway-question.ts"
import { analysis, hasGatewayFile, showFinding, showPlace } from "./project.ts"
import type { GatewayTestResults, ShownGatewayTest, ShownTest } from "./protocol.ts"

/** The results of the gateway tests. They run as long as somebody looks at them. */
export const gatewayTests = new GatewayQuestion(gatewayTestResults)

/** The tests of all stores and of the gateway, failed ones first in each. */
export function Tests() {
  const stores = (analysis.value?.stores ?? []).filter(({ tests }) => tests.length > 0)
  if (stores.length === 0 && !hasGatewayFile.value)
    return (
      <p class="quiet empty">There are no tests. `tests` of a `*.fga.yaml` file has the expected answers.</p>
    )
  return (
    <>
      {hasGatewayFile.value && <GatewayTests />}
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
  const toLine = (line: number) => showPlace(path, line)
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

/** The tests of the gateway, by file. They run when they are first seen, because the gateway is loaded for them. */
function GatewayTests() {
  gatewayTests.useNewest()
  const fault = gatewayTests.fault.value
  if (fault !== undefined) return <p class="notice bad">{`The gateway cannot be loaded: ${fault}`}</p>
  if (analysis.value?.hasGateway === false)
    return <p class="quiet empty">The tests of the gateway run when gateway.conf has no errors.</p>
  const known = gatewayTests.answer
  if (known === undefined) return <p class="quiet empty">Loading the gateway …</p>
  if (known.tests.length === 0 && known.findings.length === 0)
    return <p class="quiet empty">The gateway has no tests: requests and what is expected, in `*.gw.yaml`.</p>
  return (
    <>
      <TestFindings findings={known.findings} />
      {[...new Set(known.tests.map(({ path }) => path))].map((path) => {
        const tests = known.tests.filter((test) => test.path === path)
        const failed = tests.filter(({ passed }) => !passed)
        const others = tests.filter(({ passed }) => passed)
        return (
          <section key={path} aria-label={path}>
            <h3>
              {path} <span class="quiet">{`${others.length} of ${tests.length} passed`}</span>
            </h3>
            <ul class="tests">
              {[...failed, ...others].map((test, at) => (
                <GatewayTest key={at} test={test} />
              ))}
            </ul>
          </section>
        )
      })}
    </>
  )
}

function TestFindings({ findings }: { readonly findings: GatewayTestResults["findings"] }) {
  return (
    <ul class="findings">
      {findings.map(({ path, line, detail }, at) => (
        <li key={at}>
          <button type="button" class="link" onClick={() => showPlace(path, line)}>
            {`${path}:${line}`}
          </button>{" "}
          {detail}
        </li>
      ))}
    </ul>
  )
}

function GatewayTest({
  test: { path, name, line, passed, skipped, error, failures },
}: {
  readonly test: ShownGatewayTest
}) {
  const mark = skipped !== undefined ? "–" : passed ? "✓" : "✗"
  return (
    <li>
      <details open={!passed}>
        <summary>
          <span class={passed ? "holds" : "fails"}>{mark}</span> {name}
          {skipped !== undefined && <span class="quiet">{` skipped: ${skipped}`}</span>}
        </summary>
        <ul>
          {error !== undefined && <li>{error}</li>}
          {failures.map((failure, at) => (
            <li key={at}>
              <code>{failure.request}</code>{" "}
              {`${failure.what}: expected ${failure.expected}, got ${failure.got}`}{" "}
              <button type="button" class="link" onClick={() => showPlace(path, failure.line)}>
                {`line ${failure.line}`}
              </button>
              {failure.why.length > 0 && <pre class="message">{failure.why.join("\n")}</pre>}
            </li>
          ))}
          <li>
            <button type="button" class="link" onClick={() => showPlace(path, line)}>
              {`${path}:${line}`}
            </button>
          </li>
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
