import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { count, textOrExpression, variableName } from "../step-values.ts"
import { stepId, text } from "../text.ts"

/** Reads a cached value into a variable. On a miss, `steps` compute it (and set the variable), once for all exchanges that wait. */
export const cacheValue = defineStep(
  "cache-value",
  { role: "observe", rehearsed: "assume", holds: "blocks" },
  {
    key: text,
    variable: variableName,
    seconds: count,
    /** From this age on, the old value is used while one exchange computes the new one. */
    refreshAfterSeconds: count.optional(),
    default: textOrExpression.optional(),
    steps: z.array(stepId).max(1000),
  },
  ({ key, variable }) => ({
    reads: [`variable:${variable}`, `cache:${typeof key === "string" ? key : "*"}`],
    writes: [`variable:${variable}`],
    leaves: [`cache:${typeof key === "string" ? key : "*"}`],
    waits: true,
  }),
)
