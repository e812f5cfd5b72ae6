import { parseExpression } from "./parse.ts"
import { childrenOf, type TreeNode } from "./syntax-tree.ts"
import { Uint } from "./values.ts"

/** The literals of expressions, and the names of the fields that they read. */
export class Literals {
  readonly texts = new Set<string>()
  readonly integers = new Set<bigint>()
  readonly doubles = new Set<number>()
  readonly fields = new Set<string>()

  /** An invalid expression has none. */
  add(expression: string): void {
    const parsed = parseExpression(expression, false)
    if (parsed.ok) this.#addTree(parsed.tree)
  }

  #addTree(node: TreeNode): void {
    if (node.kind === "select") this.fields.add(node.field)
    if (node.kind === "literal") {
      const { value } = node
      if (typeof value === "string") this.texts.add(value)
      else if (typeof value === "bigint") this.integers.add(value)
      else if (typeof value === "number") this.doubles.add(value)
      else if (value instanceof Uint) this.integers.add(value.value)
    }
    for (const child of childrenOf(node)) this.#addTree(child)
  }
}
