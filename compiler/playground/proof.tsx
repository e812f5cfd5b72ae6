import type { Explanation, NearestMiss } from "../../runtime/check/ports.ts"
import { conditionText, ProofTree, tupleText } from "../../runtime/control/console/page/parts/proof.tsx"
import { addTuple } from "./project.ts"

/** An answer with its proof as a tree that opens and closes, or what prevents it. */
export function Proof(props: {
  readonly explanation: Explanation
  /** Whether missing tuples can be added to the store file. */
  readonly canAdd?: boolean
}) {
  const { explanation, canAdd = true } = props
  const { allowed, proof, misses = [], blocked_by = [], missing_context = [], conditions = [] } = explanation
  const open = !allowed && missing_context.length > 0
  const [word, tone] = allowed
    ? ["Allowed", "good"]
    : open
      ? ["Depends on the context", "warn"]
      : ["Denied", "bad"]
  return (
    <div class="proof">
      <p class={`verdict ${tone}`}>
        <strong>{word}</strong> <code>{explanation.user}</code> <span>{explanation.relation}</span>{" "}
        <code>{explanation.object}</code>
      </p>
      {proof && (
        <>
          <h3>Proof</h3>
          <ProofTree nodes={[proof]} label="Proof" />
        </>
      )}
      {blocked_by.length > 0 && (
        <>
          <h3>Excluded by</h3>
          <ProofTree nodes={blocked_by} label="Excluded by" />
        </>
      )}
      {missing_context.length > 0 && (
        <Listed title="Values of the context that would decide it" items={missing_context} />
      )}
      {conditions.length > 0 && (
        <Listed
          title="Conditions that are not true"
          items={conditions.map(({ tuple, condition }) => `${tupleText(tuple)}: ${conditionText(condition)}`)}
        />
      )}
      {misses.length > 0 && <Misses misses={misses} canAdd={canAdd} />}
    </div>
  )
}

function Listed({ title, items }: { readonly title: string; readonly items: readonly string[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul class="names">
        {items.map((item) => (
          <li key={item}>
            <code>{item}</code>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What would allow it. Tuples to write have a button that adds them to the store file. */
function Misses({ misses, canAdd }: { readonly misses: readonly NearestMiss[]; readonly canAdd: boolean }) {
  const title = "It would be allowed after any of"
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul class="names">
        {misses.map((miss) => {
          const [tuple, ...others] = canAdd && miss.remove.length === 0 ? miss.add : []
          return (
            <li key={missText(miss)}>
              <code>{missText(miss)}</code>{" "}
              {tuple !== undefined && tuple.condition === undefined && others.length === 0 && (
                <button
                  type="button"
                  aria-label={`Add ${tupleText(tuple)}`}
                  onClick={() => void addTuple(tuple)}
                >
                  Add
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function missText({ add, remove, missing_context = [] }: NearestMiss): string {
  const steps = [
    ...add.map((each) => `write ${tupleText(each)}`),
    ...remove.map((each) => `delete ${tupleText(each)}`),
  ]
  const given = missing_context.length === 0 ? "" : `, given ${missing_context.join(", ")}`
  return steps.join(" and ") + given
}
