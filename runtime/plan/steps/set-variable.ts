import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { variableName } from "../step-values.ts"
import { expression, text } from "../text.ts"

/** Sets a variable of the exchange to the value of an expression, or a text. */
export const setVariable = defineStep(
  "set-variable",
  { role: "change", rehearsed: "run" },
  {
    name: variableName,
    value: z.union([text, z.strictObject({ expression })]),
  },
  ({ name }) => ({ writes: [`variable:${name}`] }),
)
