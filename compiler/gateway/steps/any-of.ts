import { closes, opens } from "../../analysis/finding.ts"
import type { Span } from "../../core/source.ts"
import { type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import { idsOf, type Lowered, type LowerStep, type StepContext } from "../lower/step.ts"
import { oneLine, statement } from "../print.ts"
import { type Form, type StatementRow, word } from "../schema/row.ts"
import type { StepText } from "../step-text.ts"
import { checkJwt } from "./validate-jwt.ts"

/** `check any { jwt ISSUER { … } … }` in a section. */
export const checkAny: { readonly form: Form; readonly lower: LowerStep } = {
  form: { args: [word("any")], block: "check any", blockRequired: true },
  lower: (bound, context) => {
    const statements = statementsOf(bound.block, "jwt")
    const checks = statements.map((each) => checkJwt.lower(each, context))
    const known = checks.filter((each) => each !== undefined)
    return known.length < checks.length
      ? undefined
      : lowerWays(known, statements, headSpan(bound.statement), context)
  },
}

/** The statements in the block of `check any`. */
export const checkAnyRows: readonly StatementRow[] = [checkJwt.row]

/**
 * The step of several alternative credentials, each given by a statement. A single alternative needs no wrapping step. Duplicates are
 * reported.
 */
export function lowerWays(
  ways: readonly Lowered[],
  statements: readonly BoundStatement[],
  at: Span,
  { report, steps }: StepContext,
): Lowered | undefined {
  const isFirst = ({ id }: Lowered, index: number) => ways.findIndex((each) => each.id === id) === index
  const unique = ways.filter(isFirst)
  const twice = statements[ways.findIndex((way, index) => !isFirst(way, index))]
  if (twice !== undefined) {
    const { keyword } = twice.statement
    report.add("SP2008", headSpan(twice.statement), `the same \`${keyword.text}\` is given twice`)
  }
  if (unique.length <= 1) return unique[0]
  return steps.add({ kind: "any-of", steps: idsOf(unique) }, at, { steps: unique })
}

/** Printing and comparison of a step that accepts any of several credentials. */
export const anyOf: StepText<"any-of"> = {
  print: ({ steps }, printing) => {
    const ways = printing.inside(steps)
    if (!printing.inSection) return statement(ways.map(oneLine).join(" or "))
    const checks = ways.map((way) => ({ ...way, head: way.head.replace(/^check /, "") }))
    return statement("check any", checks)
  },
  identities: () => ["auth"],
  added: () => closes("requests without one of these credentials are refused"),
  removed: () => opens("requests without these credentials are now let through"),
  // Each alternative is compared separately.
  changed: { steps: () => [] },
}
