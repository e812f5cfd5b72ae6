import type { ExpressionFinding } from "./finding.ts"
import { CelParser } from "./parser.ts"
import { StopParsing } from "./parser-state.ts"
import type { TreeNode } from "./syntax-tree.ts"

/** Longest expression in UTF-16 units. */
export const sourceLengthMax = 16 * 1024

export type Parsed =
  | { readonly ok: true; readonly tree: TreeNode }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/** Parses a source to a tree, or returns the syntax mistakes in order. `extended` adds the macros of extension libraries. Never throws. */
export function parseExpression(source: string, extended: boolean): Parsed {
  const { length } = source
  if (length > sourceLengthMax) {
    const message = `the expression is longer than ${sourceLengthMax} characters`
    return { ok: false, findings: [{ kind: "limit", message, start: sourceLengthMax, end: length }] }
  }
  const parser = new CelParser(source, extended)
  try {
    const tree = parser.parse()
    if (parser.findings.length === 0) return { ok: true, tree }
  } catch (error) {
    if (error !== StopParsing) throw error
  }
  return { ok: false, findings: parser.findings.toSorted((a, b) => a.start - b.start) }
}
