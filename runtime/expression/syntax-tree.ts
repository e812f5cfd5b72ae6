import type { CelTypeTree } from "./types.ts"

interface NodeBase {
  readonly start: number
  readonly end: number
  /** Set by the type check; the compiler relies on it. */
  type: CelTypeTree
}

export interface LiteralNode extends NodeBase {
  readonly kind: "literal"
  readonly value: unknown
}

/** A name; `rooted` if it has a leading dot (`.name`), which skips loop variables and the container. */
export interface NameNode extends NodeBase {
  readonly kind: "name"
  readonly name: string
  readonly rooted: boolean
  /** Set by the type check. */
  meaning: Meaning | undefined
}

/** The meaning of a name or of a whole chain of names (`a.b.c`). */
export type Meaning =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "type"; readonly name: string }

/** `operand.field`, or with `test` the macro `has(operand.field)`. */
export interface SelectNode extends NodeBase {
  readonly kind: "select"
  readonly operand: TreeNode
  readonly field: string
  readonly fieldStart: number
  readonly fieldEnd: number
  readonly test: boolean
  /** Set by the type check if the whole chain is one name. */
  meaning: Meaning | undefined
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
  /** Set by the type check if the target is the namespace of a function: `strings.quote`. */
  namespaced: string | undefined
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

export type LoopMacro =
  | "all"
  | "exists"
  | "exists_one"
  | "filter"
  | "map"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"

/**
 * A macro over a list or a map. A single variable is the element or the key. Of two variables, the first is the index or the key and the second the
 * element or the value. `test` is the predicate, `result` the expression to collect.
 */
export interface LoopNode extends NodeBase {
  readonly kind: "loop"
  readonly macro: LoopMacro
  readonly range: TreeNode
  readonly variable: string
  readonly second: string | undefined
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

/** The number of nodes of a tree: the cost of one evaluation without loops. */
export function weightOf(node: TreeNode): number {
  let weight = 1
  for (const child of childrenOf(node)) weight += weightOf(child)
  return weight
}
