import { closes, opens } from "../../analysis/finding.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerAlternatives } from "../lower/question.ts"
import { idsOf, type LowerStep } from "../lower/step.ts"
import { statement } from "../print.ts"
import { alternativeLines } from "../question-text.ts"
import { type Form, word } from "../schema/row.ts"
import type { StepText } from "../step-text.ts"

/** The form of `require` that needs one of several relations. */
export const anyForm: Form = { args: [word("any")], block: "require any", blockRequired: true }

/** `require any { … }` */
export const lowerRequireAny: LowerStep = (bound, context) => {
  const inside = lowerAlternatives(bound, "any", context)
  return inside === undefined
    ? undefined
    : context.steps.add({ kind: "require-any", steps: idsOf(inside) }, headSpan(bound.statement), {
        steps: inside,
      })
}

/** Printing and comparison of a step that demands one of several relations. */
export const requireAnyText: StepText<"require-any"> = {
  print: ({ steps }, printing) => statement("require any", alternativeLines(steps, printing)),
  identities: () => ["require-any"],
  added: () => closes("callers without one of these relations get 403"),
  removed: () => opens("these relations are no longer required"),
  changed: { steps: () => opens("other relations are required now") },
}
