import type { CallNode, TreeNode } from "./syntax-tree.ts"
import { simpleTypes } from "./types.ts"

/** Operators of other languages. */
export const words: ReadonlyMap<string, "&&" | "||"> = new Map([
  ["and", "&&"],
  ["or", "||"],
])

/** A call of an operator; its sign is at `nameStart`. */
export function operatorNode(
  name: string,
  args: readonly TreeNode[],
  place: { readonly start: number; readonly end: number; readonly nameStart: number },
): CallNode {
  const { start, end, nameStart } = place
  const nameEnd = nameStart + (name === "[]" ? 1 : name.length)
  return {
    kind: "call",
    form: "operator",
    name,
    nameStart,
    nameEnd,
    target: undefined,
    args,
    namespaced: undefined,
    start,
    end,
    type: simpleTypes.dyn,
  }
}

/** Whether a node is a name, or names separated by dots. */
export function isNameChain(node: TreeNode): boolean {
  if (node.kind === "select" && !node.test) return isNameChain(node.operand)
  return node.kind === "name"
}
