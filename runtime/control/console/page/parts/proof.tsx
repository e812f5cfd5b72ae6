import type { ConditionSeen, ProofNode, TupleKey } from "../../../../check/ports.ts"

/** Deeper nodes are closed at first. */
const openDepth = 8

/** A proof as a tree that opens and closes. `linkOf`: the address of a node's own proof. */
export function ProofTree(props: {
  readonly nodes: readonly ProofNode[]
  readonly label: string
  readonly linkOf?: (node: ProofNode) => string
}) {
  return (
    <ul class="tree" aria-label={props.label}>
      {props.nodes.map((node) => (
        <Node key={`${node.object}#${node.relation}`} node={node} linkOf={props.linkOf} depth={0} />
      ))}
    </ul>
  )
}

function Node(props: {
  readonly node: ProofNode
  readonly linkOf: ((node: ProofNode) => string) | undefined
  readonly depth: number
}) {
  const { node, linkOf, depth } = props
  const { children = [], holds, object, relation, by } = node
  const name = (
    <code>
      {object}#{relation}
    </code>
  )
  const isCut = by === "cut" || by === "above"
  const line = (
    <>
      <span class={holds ? "holds" : "fails"}>{holds ? "✓" : "✗"}</span>
      {isCut && linkOf !== undefined ? <a href={linkOf(node)}>{name}</a> : name}{" "}
      <span class="quiet">{ruleText(node)}</span>
    </>
  )
  if (children.length === 0) return <li class="leaf">{line}</li>
  return (
    <li>
      <details open={depth < openDepth}>
        <summary>{line}</summary>
        <ul>
          {children.map((child, at) => (
            <Node key={at} node={child} linkOf={linkOf} depth={depth + 1} />
          ))}
        </ul>
      </details>
    </li>
  )
}

/** Why a node holds, or does not. */
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

/** A tuple in the order in which it is read aloud: the user, the relation, the object. */
export const tupleText = ({ user, relation, object, condition }: TupleKey): string =>
  `${user} ${relation} ${object}${condition == null ? "" : ` with ${condition.name}`}`

/** What a condition came to, and the values that it read. */
export function conditionText({ name, outcome, values, missing_context = [], error }: ConditionSeen): string {
  const seen = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const given = seen.length === 0 ? "" : ` (${seen.join(", ")})`
  if (outcome === "missing_context") return `${name} needs ${missing_context.join(", ")}${given}`
  return outcome === "error" ? `${name} fails: ${error}${given}` : `${name} is ${outcome}${given}`
}
