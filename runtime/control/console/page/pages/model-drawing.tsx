import { useMemo } from "preact/hooks"
import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import { Loading, Panel } from "../parts/basic.tsx"
import { Graph } from "../parts/graph.tsx"
import type { GraphTone } from "../parts/graph-layout.ts"
import { pathGraphOf, typeEdgesOf, typeGraphOf } from "../parts/model-graph.ts"

/** The drawing of a model: its types, or how users get the relation in focus (`doc#viewer`). A type in focus (`doc`) shows what it is connected with. */
export function ModelDrawingPanel(props: {
  readonly model: AuthorizationModel | undefined
  readonly tones: ReadonlyMap<string, GraphTone>
  readonly focus: string | undefined
  readonly onFocus: (id: string | undefined) => void
}) {
  const { model, tones, focus, onFocus } = props
  const types = useMemo(() => model && typeGraphOf(model, tones), [model, tones])
  const paths = useMemo(
    () => (model === undefined || focus?.includes("#") !== true ? undefined : pathGraphOf(model, focus)),
    [model, focus],
  )
  const drawing = paths ?? types
  return (
    <Panel title="Graph" aside={model && <Focus model={model} focus={focus} onFocus={onFocus} />}>
      {model === undefined || drawing === undefined ? (
        <Loading />
      ) : (
        <>
          <Graph
            label={paths === undefined ? "Types, and whose users their relations name" : `Who gets ${focus}`}
            nodes={drawing.nodes}
            edges={drawing.edges}
            selected={focus}
            onSelect={(id) => onFocus(id === undefined ? undefined : id.replace(/:\*$/, ""))}
          />
          {paths?.isCut && <p class="quiet hint">The drawing ends here: there are more relations.</p>}
          <details class="as-text">
            <summary>As text</summary>
            <ul class="plain-list">
              {paths === undefined
                ? typeEdgesOf(model).map(({ from, to, relations }) => (
                    <li key={`${from} ${to}`}>
                      <code>{from}</code> can be {relations.join(", ")} of <code>{to}</code>
                    </li>
                  ))
                : paths.edges.map(({ from, to, label }) => (
                    <li key={`${from} ${to}`}>
                      <code>{from}</code> → <code>{to}</code> {label}
                    </li>
                  ))}
            </ul>
          </details>
        </>
      )}
    </Panel>
  )
}

function Focus(props: {
  readonly model: AuthorizationModel
  readonly focus: string | undefined
  readonly onFocus: (id: string | undefined) => void
}) {
  const { model, focus, onFocus } = props
  return (
    <label class="inline-field">
      <span>Focus</span>
      <select onChange={({ currentTarget: { value } }) => onFocus(value === "" ? undefined : value)}>
        <option value="" selected={focus === undefined}>
          all types
        </option>
        {model.type_definitions.map(({ type, relations = {} }) => (
          <optgroup key={type} label={type}>
            {[type, ...Object.keys(relations).map((relation) => `${type}#${relation}`)].map((id) => (
              <option key={id} value={id} selected={id === focus}>
                {id}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}
