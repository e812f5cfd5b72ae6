import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import type { EngineModel } from "../model-api.ts"
import { Badge, Failed, Panel } from "../parts/basic.tsx"
import { Editor, type EditorPlace } from "../parts/editor.tsx"
import { type ModelReading, modelHelp, readModelText } from "../parts/model-desk.ts"
import { place, setQuery } from "../router.ts"
import { Assertions } from "./model-assertions.tsx"
import { Differences } from "./model-differences.tsx"
import type { ModelDraft } from "./model-draft.ts"
import { ModelDrawingPanel } from "./model-drawing.tsx"

/** The text of a version beside its drawing, with assertions and differences below. */
export function ModelView(props: {
  readonly store: string
  readonly version: string
  readonly versions: readonly EngineModel[]
  readonly path: string
  readonly stored: string
}) {
  const { store, version, versions, path, stored } = props
  const text = useSignal(stored)
  const { reading, model, error } = useReading(path, text)
  const focus = place.value.query.get("focus") ?? undefined
  const jump = useMemo((): EditorPlace | undefined => {
    const offset = focus === undefined ? undefined : reading.peek()?.places[focus]
    return offset === undefined ? undefined : { offset }
  }, [focus])
  const tones = useSignal<ReadonlyMap<string, "good" | "bad" | "warn">>(new Map())
  const draft: ModelDraft = {
    ...{ store, version, versions, model: model.value },
    isEdited: text.value !== stored,
    isBehind: reading.value !== undefined && reading.value.model === undefined,
  }
  return (
    <>
      {error.value !== undefined && <Failed error={error.value} />}
      <div class="model-pair">
        <Panel
          title="Text"
          aside={<TextState {...{ draft, reading: reading.value }} onReset={() => (text.value = stored)} />}
        >
          <Editor
            path={path}
            label="Text of the model"
            text={text.value}
            marks={reading.value?.findings}
            place={jump}
            help={path.endsWith(".fga") ? modelHelp : undefined}
            onChange={(now) => {
              text.value = now
            }}
          />
          <FindingList reading={reading.value} />
        </Panel>
        <ModelDrawingPanel
          model={model.value}
          tones={tones.value}
          focus={focus}
          onFocus={(id) => setQuery({ focus: id })}
        />
      </div>
      <Assertions draft={draft} />
      <Differences draft={draft} tones={tones} />
    </>
  )
}

/** What the compiler says about the newest text. While it works, the last answer stays. */
function useReading(path: string, text: Signal<string>) {
  const reading = useSignal<ModelReading | undefined>(undefined)
  const model = useSignal<AuthorizationModel | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const now = text.value
  useEffect(() => {
    let isOld = false
    readModelText(path, now).then(
      (found) => {
        if (isOld) return
        reading.value = found
        // A model that says the same keeps its identity, so that nothing is asked or drawn again.
        if (found.model !== undefined && JSON.stringify(found.model) !== JSON.stringify(model.peek()))
          model.value = found.model
      },
      (reason: unknown) => {
        if (!isOld) error.value = reason
      },
    )
    return () => {
      isOld = true
    }
  }, [path, now])
  return { reading, model, error }
}

function TextState(props: {
  readonly draft: ModelDraft
  readonly reading: ModelReading | undefined
  readonly onReset: () => void
}) {
  const { draft, reading, onReset } = props
  const errors = reading?.findings.filter(({ severity }) => severity === "error").length ?? 0
  return (
    <span class="panel-state">
      {errors > 0 && <Badge tone="bad">{errors === 1 ? "1 error" : `${errors} errors`}</Badge>}
      {draft.isEdited && (
        <>
          <Badge tone="warn">draft</Badge>
          <button type="button" onClick={onReset}>
            Discard
          </button>
        </>
      )}
    </span>
  )
}

function FindingList({ reading }: { readonly reading: ModelReading | undefined }) {
  if (reading === undefined || reading.findings.length === 0) return null
  return (
    <ul class="finding-list" aria-label="Findings">
      {reading.findings.map(({ start, line, severity, message }) => (
        <li key={`${start} ${message}`}>
          <Badge tone={severity === "error" ? "bad" : "warn"}>{severity}</Badge>{" "}
          <span class="quiet">line {line}</span> {message.split("\n")[0]}
        </li>
      ))}
    </ul>
  )
}
