import { closes, opens } from "../../analysis/finding.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerAlternatives } from "../lower/question.ts"
import { idsOf, type LowerStep } from "../lower/step.ts"
import { statement } from "../print.ts"
import { alternativeLines } from "../question-text.ts"
import { type Form, word } from "../schema/row.ts"
import type { StepText } from "../step-text.ts"

/** The form of `require` that needs all of several relations. */
export const allForm: Form = { args: [word("all")], block: "require any", blockRequired: true }

/** `require all { … }` */
export const lowerRequireAll: LowerStep = (bound, context) => {
  const inside = lowerAlternatives(bound, "all", context)
  return inside === undefined
    ? undefined
    : context.steps.add({ kind: "require-all", steps: idsOf(inside) }, headSpan(bound.statement), {
        steps: inside,
      })
}

/** Printing and comparison of a step that demands all of several relations. */
export const requireAllText: StepText<"require-all"> = {
  print: ({ steps }, printing) => statement("require all", alternativeLines(steps, printing)),
  identities: () => ["require-all"],
  added: () => closes("callers without all of these relations get 403"),
  removed: () => opens("these relations are no longer required"),
  changed: { steps: () => opens("other relations are required now") },
}
