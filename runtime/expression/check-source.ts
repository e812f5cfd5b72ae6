import { TreeChecker } from "./check-tree.ts"
import type { Environment } from "./environment.ts"
import type { ExpressionFinding, VariableReference } from "./finding.ts"
import { parseExpression } from "./parse.ts"
import type { TreeNode } from "./syntax-tree.ts"
import { type CelType, parseCelType } from "./types.ts"
import { accepts, newBindings } from "./unify.ts"

/** A checked source with its tree, for the compiler. */
export type CheckedSource =
  | { readonly ok: true; readonly tree: TreeNode; readonly references: readonly VariableReference[] }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/** See `checkExpression`. */
export function checkSource(source: string, environment: Environment, expected?: CelType): CheckedSource {
  const parsed = parseExpression(source, environment.extended)
  if (!parsed.ok) return { ok: false, findings: parsed.findings }
  const checker = new TreeChecker(source, environment)
  const type = checker.check(parsed.tree)
  const wanted = expected === undefined ? undefined : parseCelType(expected)
  if (
    checker.findings.length === 0 &&
    wanted !== undefined &&
    !accepts(wanted, type, newBindings(), environment.isObject)
  ) {
    const { start, end } = parsed.tree
    const message = `\`${wanted.text}\` is expected here, not \`${type.text}\``
    return { ok: false, findings: [{ kind: "type", message, start, end }] }
  }
  if (checker.findings.length > 0) {
    return { ok: false, findings: checker.findings.toSorted((a, b) => a.start - b.start) }
  }
  return { ok: true, tree: parsed.tree, references: checker.references }
}
