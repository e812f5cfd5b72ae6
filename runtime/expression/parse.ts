import type { ExpressionFinding } from "./finding.ts"
import { Parser } from "./parser.ts"
import { StopParsing } from "./parser-state.ts"
import type { TreeNode } from "./syntax-tree.ts"

/** Longest expression in UTF-16 units. */
export const sourceLengthMax = 16 * 1024

export type Parsed =
  | { readonly ok: true; readonly tree: TreeNode }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

function refused(kind: "limit" | "syntax", message: string, start: number, end: number): Parsed {
  return { ok: false, findings: [{ kind, message, start, end }] }
}

/** Source to tree, or the mistakes in its writing, in their order. Never throws. */
export function parseExpression(source: string): Parsed {
  const { length } = source
  if (length > sourceLengthMax) {
    return refused(
      "limit",
      `the expression is longer than ${sourceLengthMax} characters`,
      sourceLengthMax,
      length,
    )
  }
  if (source.trim() === "") return refused("syntax", "the expression is empty", 0, length)
  const parser = new Parser(source)
  try {
    const tree = parser.parse()
    if (parser.findings.length === 0) return { ok: true, tree }
  } catch (error) {
    if (error !== StopParsing) throw error
  }
  return { ok: false, findings: parser.findings.toSorted((a, b) => a.start - b.start) }
}
