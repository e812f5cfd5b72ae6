import { signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { Graph } from "../../runtime/control/console/page/parts/graph.tsx"
import { typeEdgesOf, typeGraphOf } from "../../runtime/control/console/page/parts/model-graph.ts"
import { store } from "./project.ts"

const selected = signal<string | undefined>(undefined)

/** The types of the model with their relations, and which types the tuples of each may name. */
export function Drawing() {
  const known = store.value
  const model = known?.model
  const graph = useMemo(() => (model === undefined ? undefined : typeGraphOf(model)), [model])
  if (known === undefined || model === undefined || graph === undefined)
    return <p class="quiet empty">There is no model without errors.</p>
  return (
    <>
      <Graph
        label={`Types of ${known.name} and the users of their relations`}
        nodes={graph.nodes}
        edges={graph.edges}
        selected={selected.value}
        onSelect={(id) => {
          selected.value = id
        }}
      />
      <details>
        <summary>As text</summary>
        <ul class="names">
          {typeEdgesOf(model).map(({ from, to, relations }) => (
            <li key={`${from} ${to}`}>
              <code>{from}</code> can be {relations.join(", ")} of <code>{to}</code>
            </li>
          ))}
        </ul>
      </details>
    </>
  )
}
