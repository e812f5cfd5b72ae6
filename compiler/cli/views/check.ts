import type { ExplainNode, TupleKey } from "../../../runtime/check/ports.ts"

/** The answer in one sentence, and the tree when it was asked for. */
export function checkText(
  question: { readonly user: string; readonly relation: string; readonly object: string },
  answer: { readonly allowed: boolean; readonly explanation?: ExplainNode | undefined },
): string {
  const verdict = answer.allowed ? "allowed" : "denied"
  const head = `${verdict}: ${question.user} ${answer.allowed ? "has" : "does not have"} ${question.relation} on ${question.object}\n`
  return answer.explanation === undefined ? head : head + treeText(answer.explanation)
}

/** The evaluated tree, two blanks a level. */
export function treeText(node: ExplainNode, depth = 0): string {
  const indent = "  ".repeat(depth)
  const mark = { true: "yes", false: "no", error: "error" }[node.result]
  const reason = node.reason === undefined ? "" : ` (${node.reason})`
  const tuples = (node.tuples ?? []).map((tuple) => `${indent}    tuple ${tupleText(tuple)}\n`).join("")
  return `${indent}${mark}  ${node.label}${reason}\n${tuples}${(node.children ?? []).map((child) => treeText(child, depth + 1)).join("")}`
}

/** A tuple as the command line takes it: `user:ann owner order:1`. */
export function tupleText(tuple: TupleKey): string {
  const condition = tuple.condition === undefined ? "" : ` with ${tuple.condition.name}`
  return `${tuple.user} ${tuple.relation} ${tuple.object}${condition}`
}
