import { defineStep } from "../define-step.ts"
import { cacheKey, textOrExpression, variableName } from "../step-values.ts"
import { text } from "../text.ts"

/** Reads a cached value into a variable. */
export const cacheGet = defineStep(
  "cache-get",
  { role: "observe", rehearsed: "assume" },
  {
    key: text,
    variable: variableName,
    default: textOrExpression.optional(),
  },
  ({ key, variable }) => ({
    reads: [cacheKey(key), `variable:${variable}`],
    writes: [`variable:${variable}`],
    waits: true,
  }),
)
