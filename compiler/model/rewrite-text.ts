import type { Userset } from "../../runtime/plan/authorization-model.ts"
import { nestingMax } from "./layout.ts"

/**
 * A relation's definition in the text language, with `list` for its direct types. Operands that are operators are in parentheses. The list
 * comes first, as the language requires: operands of `or` and `and` may be reordered, those of `but not` can't. Returns undefined for what the
 * language cannot express: a list in another place, two lists, or an operator with one operand.
 */
export function rewriteText(rewrite: Userset, list: string): string | undefined {
  if (directIn(rewrite) > 1) return undefined
  return textOf(rewrite, list, true, 0)
}

/** The same as an operand: an operator gets parentheses. */
export function operandText(rewrite: Userset, list: string): string | undefined {
  const text = rewriteText(rewrite, list)
  return text !== undefined && operandsOf(rewrite).length > 0 ? `(${text})` : text
}

/** How often the list occurs in a definition. */
export function directIn(rewrite: Userset): number {
  if ("this" in rewrite) return 1
  return operandsOf(rewrite).reduce((sum, each) => sum + directIn(each), 0)
}

function operandsOf(rewrite: Userset): readonly Userset[] {
  if ("union" in rewrite) return rewrite.union.child
  if ("intersection" in rewrite) return rewrite.intersection.child
  return "difference" in rewrite ? [rewrite.difference.base, rewrite.difference.subtract] : []
}

/** `first`: only parentheses come before it; `depth` counts them. */
function textOf(rewrite: Userset, list: string, first: boolean, depth: number): string | undefined {
  // The brackets of the list count as nesting too.
  if (depth >= nestingMax) return undefined
  if ("this" in rewrite) return first ? list : undefined
  if ("computedUserset" in rewrite) return rewrite.computedUserset.relation
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return `${computedUserset.relation} from ${tupleset.relation}`
  }
  const operands = operandsOf(rewrite)
  if (operands.length < 2) return undefined
  const [operator, ordered] =
    "difference" in rewrite
      ? ["but not", operands]
      : ["union" in rewrite ? "or" : "and", directFirst(operands)]
  const texts = ordered.map((each, at) => {
    const isOperator = operandsOf(each).length > 0
    const text = textOf(each, list, first && at === 0, isOperator ? depth + 1 : depth)
    return text !== undefined && isOperator ? `(${text})` : text
  })
  return texts.includes(undefined) ? undefined : texts.join(` ${operator} `)
}

function directFirst(operands: readonly Userset[]): readonly Userset[] {
  const at = operands.findIndex((each) => directIn(each) > 0)
  return at <= 0 ? operands : [operands[at] as Userset, ...operands.toSpliced(at, 1)]
}
