import { defineStep } from "../define-step.ts"
import { cacheKey, count, textOrExpression } from "../step-values.ts"
import { text } from "../text.ts"

/** Puts a value in the cache. */
export const cacheSet = defineStep(
  "cache-set",
  { role: "observe", rehearsed: "skip" },
  {
    key: text,
    value: textOrExpression,
    seconds: count,
  },
  ({ key }) => ({ leaves: [cacheKey(key)], waits: true }),
)
