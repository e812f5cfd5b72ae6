import type {
  ConditionSeen,
  Explanation,
  NearestMiss,
  ProofNode,
  TupleKey,
} from "../../runtime/check/ports.ts"
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
      {proof && <Tree nodes={[proof]} label="Proof" />}
      {blocked_by.length > 0 && <Tree nodes={blocked_by} label="Excluded by" />}
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

function Tree({ nodes, label }: { readonly nodes: readonly ProofNode[]; readonly label: string }) {
  return (
    <section aria-label={label}>
      <h3>{label}</h3>
      <ul class="tree">
        {nodes.map((node) => (
          <Node key={`${node.object}#${node.relation}`} node={node} />
        ))}
      </ul>
    </section>
  )
}

function Node({ node }: { readonly node: ProofNode }) {
  const { children = [], holds, object, relation } = node
  const line = (
    <>
      <span class={holds ? "holds" : "fails"}>{holds ? "✓" : "✗"}</span>
      <code>
        {object}#{relation}
      </code>{" "}
      <span class="quiet">{ruleText(node)}</span>
    </>
  )
  if (children.length === 0) return <li class="leaf">{line}</li>
  return (
    <li>
      <details open>
        <summary>{line}</summary>
        <ul>
          {children.map((child, at) => (
            <Node key={at} node={child} />
          ))}
        </ul>
      </details>
    </li>
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

function ruleText({ by, tuple, contextual, condition, holds }: ProofNode): string {
  const under = condition === undefined ? "" : `, ${conditionText(condition)}`
  switch (by) {
    case "tuple":
    case "userset":
    case "from":
      return `${contextual ? "contextual tuple" : "tuple"} ${tuple === undefined ? "" : tupleText(tuple)}${under}`
    case "computed":
      return "by another relation of the object"
    case "intersection":
      return "all of"
    case "but not":
      return holds ? "and not excluded" : "excluded"
    case "self":
      return "the user is this set itself"
    case "none":
      return "nothing grants it"
    case "above":
      return "shown above"
    case "cut":
      return "not shown: the tree would be too large"
  }
}

const tupleText = ({ user, relation, object, condition }: TupleKey): string =>
  `${user} ${relation} ${object}${condition === undefined ? "" : ` with ${condition.name}`}`

function conditionText({ name, outcome, values, missing_context = [], error }: ConditionSeen): string {
  const seen = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const given = seen.length === 0 ? "" : ` (${seen.join(", ")})`
  if (outcome === "missing_context") return `${name} needs ${missing_context.join(", ")}${given}`
  return outcome === "error" ? `${name} fails: ${error}${given}` : `${name} is ${outcome}${given}`
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
