import type { StepOf } from "../../../runtime/plan/steps.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerAll } from "../lower/header.ts"
import type { LowerStep } from "../lower/step.ts"

/** `query set|append|default|remove "name" "value" …` */
export const lowerQuery: LowerStep = (bound, { texts, place, steps }) => {
  const action = bound.statement.args[0]
  const name = bound.args.value<string>("name")
  if (action?.kind !== "word" || name === undefined) return undefined
  const values = lowerAll(bound, "value", (argument) => texts.lower(argument, place, { secrets: true }))
  if (values === undefined) return undefined
  return steps.add(
    { kind: "set-query", action: action.text as StepOf<"set-query">["action"], name, values },
    headSpan(bound.statement),
  )
}
