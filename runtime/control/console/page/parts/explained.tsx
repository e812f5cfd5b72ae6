import type { ExplainRequestAnswer } from "../../../api.ts"
import { addressOf } from "../router.ts"
import { Badge, Message, Panel, type Tone } from "./basic.tsx"
import { insideName, StepRow, sectionName } from "./step.tsx"

type ExplainedSteps = ExplainRequestAnswer["sections"][number]["steps"]
type ExplainedStep = ExplainedSteps[number]
type Outcome = NonNullable<ExplainRequestAnswer["verdict"]>

const marks: Readonly<Record<ExplainedStep["state"], { readonly tone: Tone; readonly word: string }>> = {
  passed: { tone: "good", word: "passed" },
  answered: { tone: "bad", word: "responded" },
  unknown: { tone: "warn", word: "depends" },
  "not-reached": { tone: "plain", word: "not reached" },
  shown: { tone: "plain", word: "on the response" },
}

/** The road of a request through the plan, step by step. */
export function Explained({ answer }: { readonly answer: ExplainRequestAnswer }) {
  const { verdict, sections, trouble } = answer
  return (
    <>
      {trouble.length > 0 && (
        <div class="notice bad">
          <ul>
            {trouble.map((each) => (
              <li key={each}>
                <Message text={each} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {verdict && <Ending verdict={verdict} />}
      <RoutePanel answer={answer} />
      {sections
        .filter(({ steps }) => steps.length > 0)
        .map(({ name, steps }) => (
          <Panel key={name} title={sectionName(name)}>
            <Steps steps={steps} />
          </Panel>
        ))}
    </>
  )
}

function RoutePanel({ answer }: { readonly answer: ExplainRequestAnswer }) {
  const { route, why, lost, login } = answer
  return (
    <Panel title="Route" aside={why}>
      {route === null ? (
        <p>
          {login
            ? `The path belongs to the OIDC client ${login.client}: ${login.does}.`
            : "No route matches."}
        </p>
      ) : (
        <p>
          <a href={addressOf(["routes", route.key])}>
            <code>{route.key}</code>
          </a>{" "}
          <span class="quiet">
            {route.api}
            {route.version === null ? "" : ` ${route.version}`}, {route.place}
          </span>
        </p>
      )}
      {login && (
        <ol>
          {login.order.map((each) => (
            <li key={each}>
              <Message text={each} />
            </li>
          ))}
        </ol>
      )}
      {lost.length > 0 && (
        <details>
          <summary>Similar routes</summary>
          <ul class="plain-list">
            {lost.map((each) => (
              <li key={each.route}>
                <code>{each.route}</code> <span class="quiet">{each.why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

function Ending({ verdict }: { readonly verdict: Outcome }) {
  const assuming = verdict.assuming.length > 0 && (
    <ul>
      {verdict.assuming.map((each) => (
        <li key={each} class="quiet">
          assuming: <Message text={each} />
        </li>
      ))}
    </ul>
  )
  if (verdict.kind === "forwarded")
    return (
      <div class="notice good">
        <p>
          <Badge tone="good">forwarded</Badge> Backend <span class="strong">{verdict.backend}</span> would get{" "}
          <code>
            {verdict.method} {verdict.path}
          </code>
          .
        </p>
        {assuming}
      </div>
    )
  const { status, problem, cause, by } = verdict
  return (
    <div class={`notice ${status >= 400 ? "bad" : "good"}`}>
      <p>
        <Badge tone={status >= 400 ? "bad" : "good"}>{status}</Badge> The gateway responds itself
        {problem && `: ${problem}`}
        {by?.place && (
          <>
            {" "}
            (<code>{by.kind}</code> at <code>{by.place}</code>)
          </>
        )}
        .
      </p>
      {cause && (
        <p class="quiet">
          <Message text={cause} />
        </p>
      )}
      {assuming}
    </div>
  )
}

function Steps({ steps }: { readonly steps: ExplainedSteps }) {
  return (
    <ol class="steps">
      {steps.map((each) => (
        <StepRow
          key={each.at}
          step={each.step as unknown as Readonly<Record<string, unknown>>}
          place={each.place}
          mark={marks[each.state]}
          isFaded={each.state === "not-reached"}
        >
          <Notes step={each} />
          {each.inside
            .filter((inner) => inner.steps.length > 0)
            .map((inner) => (
              <div key={inner.place} class="inside">
                {insideName(inner.place) && <code class="quiet">{insideName(inner.place)}</code>}
                <Steps steps={inner.steps} />
              </div>
            ))}
        </StepRow>
      ))}
    </ol>
  )
}

function Notes({ step: { notes, limit, quota, proof } }: { readonly step: ExplainedStep }) {
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="quiet note">
          <Message text={note} />
        </p>
      ))}
      {limit && (
        <p class="quiet note">
          {limit.remaining ?? "?"} of {limit.callsMax} calls left in {limit.periodSeconds} s for{" "}
          <code>{limit.key}</code>
        </p>
      )}
      {quota && (
        <p class="quiet note">
          quota of <code>{quota.key}</code>: {quota.calls ?? "?"}
          {quota.callsMax === undefined ? "" : ` of ${quota.callsMax}`} calls used
        </p>
      )}
      {proof && (
        <>
          <p class="note">
            Is <code>{proof.user}</code> <code>{proof.relation}</code> of <code>{proof.object}</code>?{" "}
            {proof.allowed === undefined ? "not asked" : proof.allowed ? "yes" : "no"}
          </p>
          {proof.text && <pre class="proof">{proof.text.trimEnd()}</pre>}
        </>
      )}
    </>
  )
}
