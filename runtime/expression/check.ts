import { checkSource } from "./check-source.ts"
import type { Environment } from "./environment.ts"
import type { ExpressionFinding, VariableReference } from "./finding.ts"
import type { CelType } from "./types.ts"

/** The outcome of a check: the type and what the expression reads, or at least one finding. */
export type Checked =
  | { readonly ok: true; readonly type: CelType; readonly references: readonly VariableReference[] }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/**
 * Parses and type-checks. Never throws and never runs long, whatever the source. With `expected`, a result that can't be
 * that type is a finding too (`dyn` can be anything, and is checked when it is evaluated).
 */
export function checkExpression(source: string, environment: Environment, expected?: CelType): Checked {
  const checked = checkSource(source, environment, expected)
  if (!checked.ok) return checked
  return { ok: true, type: checked.tree.type.text, references: checked.references }
}
