import { defineStep } from "../define-step.ts"
import { textOrExpression, variableName } from "../step-values.ts"

/** Sets a variable of the exchange to the value of an expression, or a text. */
export const setVariable = defineStep(
  "set-variable",
  { role: "change", rehearsed: "run" },
  {
    name: variableName,
    value: textOrExpression,
  },
  ({ name }) => ({ writes: [`variable:${name}`] }),
)
