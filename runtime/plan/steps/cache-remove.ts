import { defineStep } from "../define-step.ts"
import { cacheKey } from "../step-values.ts"
import { text } from "../text.ts"

/** Removes a value from the cache. */
export const cacheRemove = defineStep(
  "cache-remove",
  { role: "observe", rehearsed: "skip" },
  { key: text },
  ({ key }) => ({ leaves: [cacheKey(key)], waits: true }),
)
