import type { CelTypeTree } from "./types.ts"

interface NodeBase {
  readonly start: number
  readonly end: number
  /** Set by the type check, which compilation relies on. */
  type: CelTypeTree
}

export interface LiteralNode extends NodeBase {
  readonly kind: "literal"
  readonly value: unknown
}

export interface NameNode extends NodeBase {
  readonly kind: "name"
  readonly name: string
}

/** `operand.field`, or with `test` the macro `has(operand.field)`. */
export interface SelectNode extends NodeBase {
  readonly kind: "select"
  readonly operand: TreeNode
  readonly field: string
  readonly fieldStart: number
  readonly fieldEnd: number
  readonly test: boolean
}

/** A function, a method (`target` is the receiver) or an operator (`name` is its sign; `[]` is the index). */
export interface CallNode extends NodeBase {
  readonly kind: "call"
  readonly form: "function" | "method" | "operator"
  readonly name: string
  readonly nameStart: number
  readonly nameEnd: number
  readonly target: TreeNode | undefined
  readonly args: readonly TreeNode[]
}

export interface LogicNode extends NodeBase {
  readonly kind: "logic"
  readonly operator: "&&" | "||"
  readonly left: TreeNode
  readonly right: TreeNode
}

export interface ConditionalNode extends NodeBase {
  readonly kind: "conditional"
  readonly condition: TreeNode
  readonly whenTrue: TreeNode
  readonly whenFalse: TreeNode
}

export interface ListNode extends NodeBase {
  readonly kind: "list"
  readonly elements: readonly TreeNode[]
}

export interface MapNode extends NodeBase {
  readonly kind: "map"
  readonly entries: readonly { readonly key: TreeNode; readonly value: TreeNode }[]
}

/** A macro over a list or the keys of a map. `test` is the predicate, `result` what `map` collects. */
export interface LoopNode extends NodeBase {
  readonly kind: "loop"
  readonly macro: "all" | "exists" | "exists_one" | "filter" | "map"
  readonly range: TreeNode
  readonly variable: string
  readonly test: TreeNode | undefined
  readonly result: TreeNode | undefined
}

export type TreeNode =
  | LiteralNode
  | NameNode
  | SelectNode
  | CallNode
  | LogicNode
  | ConditionalNode
  | ListNode
  | MapNode
  | LoopNode

/** The nodes directly below a node, in the order of the source. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  switch (node.kind) {
    case "literal":
    case "name":
      return []
    case "select":
      return [node.operand]
    case "call":
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case "logic":
      return [node.left, node.right]
    case "conditional":
      return [node.condition, node.whenTrue, node.whenFalse]
    case "list":
      return node.elements
    case "map":
      return node.entries.flatMap(({ key, value }) => [key, value])
    case "loop":
      return [node.range, node.test, node.result].filter((child) => child !== undefined)
  }
}

/** How many nodes a tree has: the work of one evaluation without loops. */
export function weightOf(node: TreeNode): number {
  let weight = 1
  for (const child of childrenOf(node)) weight += weightOf(child)
  return weight
}
