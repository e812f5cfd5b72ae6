import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Explanation, NearestMiss, TupleKey } from "../../../../check/ports.ts"
import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import { may } from "../client.ts"
import {
  type AssertionOutcome,
  type AssertionRun,
  type EngineAssertion,
  loadAssertions,
  runAssertions,
  saveAssertions,
} from "../model-api.ts"
import { Badge, Failed, Loading, Panel, Scroll } from "../parts/basic.tsx"
import type { ModelDraft } from "./model-draft.ts"

/** A run begins when nothing was typed for this time. */
const pauseMs = 250

/** The assertions of a version with their results against the tuples of the store. Each change of the text or of an assertion runs them again. */
export function Assertions({ draft }: { readonly draft: ModelDraft }) {
  const { store, version, model, isEdited, isBehind } = draft
  const assertions = useSignal<readonly EngineAssertion[] | undefined>(undefined)
  const saved = useSignal<readonly EngineAssertion[] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  useEffect(() => {
    loadAssertions(store, version).then(
      (found) => {
        assertions.value = found
        saved.value = found
      },
      (reason: unknown) => {
        error.value = reason
      },
    )
  }, [store, version])
  const { run, failure } = useRun(draft, assertions.value, isEdited ? model : undefined)
  const save = async () => {
    error.value = undefined
    const now = assertions.peek() ?? []
    try {
      await saveAssertions(store, version, now)
      saved.value = now
    } catch (reason) {
      error.value = reason
    }
  }
  const known = assertions.value
  const canSave = may("operator", "engine.write") && known !== saved.value
  return (
    <Panel title="Assertions" aside={<RunState run={run} isBehind={isBehind} />}>
      {error.value !== undefined && <Failed error={error.value} />}
      {failure !== undefined && <Failed error={failure} />}
      {known === undefined ? (
        error.value === undefined && <Loading />
      ) : (
        <Results
          assertions={known}
          run={run}
          onRemove={(at) => {
            assertions.value = known.filter((_, other) => other !== at)
          }}
        />
      )}
      <div class="panel-foot">
        <NewAssertion
          onAdd={(added) => {
            assertions.value = [...(assertions.peek() ?? []), added]
          }}
        />
        {canSave && (
          <button type="button" class="primary" onClick={() => void save()}>
            Save assertions
          </button>
        )}
      </div>
    </Panel>
  )
}

/** Runs the assertions after each change. Results of an older text are dropped. */
function useRun(
  { store, version }: ModelDraft,
  assertions: readonly EngineAssertion[] | undefined,
  model: AuthorizationModel | undefined,
) {
  const run = useSignal<AssertionRun | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  useEffect(() => {
    if (assertions === undefined) return
    if (assertions.length === 0) {
      run.value = undefined
      return
    }
    let isOld = false
    const timer = setTimeout(() => {
      runAssertions(store, version, assertions, model).then(
        (found) => {
          if (isOld) return
          run.value = found
          failure.value = undefined
        },
        (reason: unknown) => {
          if (!isOld) failure.value = reason
        },
      )
    }, pauseMs)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [store, version, assertions, model])
  return { run: run.value, failure: failure.value }
}

function RunState({ run, isBehind }: { readonly run: AssertionRun | undefined; readonly isBehind: boolean }) {
  return (
    <span role="status" class="panel-state">
      {isBehind && "The text has errors; results are of the last text without. "}
      {run && (
        <Badge tone={run.failed === 0 ? "good" : "bad"}>
          {run.failed === 0 ? `${run.passed} passed` : `${run.failed} of ${run.failed + run.passed} failed`}
        </Badge>
      )}
    </span>
  )
}

function Results(props: {
  readonly assertions: readonly EngineAssertion[]
  readonly run: AssertionRun | undefined
  readonly onRemove: (at: number) => void
}) {
  const { assertions, run, onRemove } = props
  if (assertions.length === 0)
    return <p class="quiet hint">This version has no assertions. Add an expected answer below.</p>
  return (
    <Scroll label="Assertions">
      <table class="assertions">
        <thead>
          <tr>
            <th>Result</th>
            <th>Question</th>
            <th>Expected</th>
            <th>Why</th>
            <th aria-label="Remove" />
          </tr>
        </thead>
        <tbody>
          {assertions.map((each, at) => (
            <tr key={at}>
              <td>
                <Outcome outcome={run?.results[at]} asked={each} />
              </td>
              <td>
                <code>{questionText(each)}</code>
                <Circumstances assertion={each} />
              </td>
              <td>{each.expectation ? "allowed" : "denied"}</td>
              <td>{whyText(run?.results[at]) ?? <span class="quiet">–</span>}</td>
              <td>
                <button
                  type="button"
                  aria-label={`Remove ${questionText(each)}`}
                  onClick={() => onRemove(at)}
                >
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function questionText({ tuple_key: { user, relation, object } }: EngineAssertion): string {
  return `${user} ${relation} ${object}`
}

/** The result of this question; results of the questions before an edit do not fit. */
function Outcome({
  outcome,
  asked,
}: {
  readonly outcome: AssertionOutcome | undefined
  readonly asked: EngineAssertion
}) {
  if (outcome === undefined || questionText(outcome) !== questionText(asked))
    return <span class="quiet">…</span>
  return <Badge tone={outcome.passed ? "good" : "bad"}>{outcome.passed ? "passed" : "failed"}</Badge>
}

function Circumstances({
  assertion: { contextual_tuples: tuples = [], context },
}: {
  readonly assertion: EngineAssertion
}) {
  const parts = [
    ...(tuples.length === 0 ? [] : [`with ${tuples.length} contextual tuples`]),
    ...(context === undefined || context === null ? [] : [`context ${JSON.stringify(context)}`]),
  ]
  return parts.length === 0 ? null : <span class="quiet"> {parts.join(", ")}</span>
}

/** Why an assertion failed, in one line. */
function whyText(outcome: AssertionOutcome | undefined): string | undefined {
  if (outcome === undefined || outcome.passed) return undefined
  if (outcome.error !== undefined) return outcome.error.message
  if (outcome.explanation === undefined) return outcome.actual ? "it is allowed" : "it is denied"
  return outcome.actual ? allowedText(outcome.explanation) : deniedText(outcome.explanation)
}

function allowedText({ tuples = [] }: Explanation): string {
  return tuples.length === 0 ? "it is allowed" : `allowed by ${tuples.map(tupleText).join(", ")}`
}

function deniedText({ misses = [], missing_context: missing = [] }: Explanation): string {
  if (missing.length > 0) return `the context has no ${missing.join(", ")}`
  const nearest = misses[0]
  return nearest === undefined
    ? "denied by the model: no tuple would allow it"
    : `denied; it would be allowed after ${missText(nearest)}`
}

function missText({ add, remove }: NearestMiss): string {
  return [
    ...add.map((each) => `writing ${tupleText(each)}`),
    ...remove.map((each) => `deleting ${tupleText(each)}`),
  ].join(" and ")
}

function tupleText({ user, relation, object }: TupleKey): string {
  return `${user} ${relation} ${object}`
}

/** The form of a new assertion. */
function NewAssertion({ onAdd }: { readonly onAdd: (assertion: EngineAssertion) => void }) {
  const user = useSignal("")
  const relation = useSignal("")
  const object = useSignal("")
  const expectation = useSignal(true)
  const words = [
    ["User", user, "user:ann"],
    ["Relation", relation, "viewer"],
    ["Object", object, "doc:1"],
  ] as const
  const add = (event: Event) => {
    event.preventDefault()
    const tuple_key = {
      user: user.value.trim(),
      relation: relation.value.trim(),
      object: object.value.trim(),
    }
    onAdd({ tuple_key, expectation: expectation.value, contextual_tuples: [] })
  }
  return (
    <form class="assertion-form" onSubmit={add}>
      {words.map(([label, value, hint]) => (
        <label key={label} class="inline-field">
          <span>{label}</span>
          <input
            required
            value={value.value}
            placeholder={hint}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              value.value = currentTarget.value
            }}
          />
        </label>
      ))}
      <label class="inline-field">
        <span>Expected</span>
        <select
          onChange={({ currentTarget }) => {
            expectation.value = currentTarget.value === "allowed"
          }}
        >
          <option value="allowed">allowed</option>
          <option value="denied">denied</option>
        </select>
      </label>
      <button type="submit">Add assertion</button>
    </form>
  )
}
