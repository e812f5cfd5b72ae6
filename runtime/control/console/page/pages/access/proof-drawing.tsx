import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import type { Explanation } from "../../../../../check/ports.ts"
import { Graph } from "../../parts/graph.tsx"
import { proofGraphOf } from "../../parts/proof-graph.ts"

/** The reasons of an answer as a drawing. A click on a node opens or closes what is behind it. */
export default function ProofDrawing({ explanation }: { readonly explanation: Explanation }) {
  const toggled = useSignal<ReadonlySet<string>>(new Set())
  const graph = useMemo(() => proofGraphOf(explanation, toggled.value), [explanation, toggled.value])
  return (
    <>
      <Graph
        label="Reasons, from the user to the object"
        direction="LR"
        nodes={graph.nodes}
        edges={graph.edges}
        onSelect={(spot) => {
          const id = spot?.split(" ")[0] ?? ""
          if (!graph.movable.has(id)) return
          const next = new Set(toggled.peek())
          if (!next.delete(id)) next.add(id)
          toggled.value = next
        }}
      />
      <p class="quiet">
        Green holds, red does not. Dashes are exclusions, and tuples that would allow it. Click a box to open
        or close it.
        {graph.isCut && " The drawing is cut: the tree has more."}
      </p>
    </>
  )
}
