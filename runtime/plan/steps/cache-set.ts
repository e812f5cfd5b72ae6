import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { cacheKey, count } from "../step-values.ts"
import { expression, text } from "../text.ts"

/** Puts a value in the cache. */
export const cacheSet = defineStep(
  "cache-set",
  { role: "observe", rehearsed: "skip" },
  {
    key: text,
    value: z.union([text, z.strictObject({ expression })]),
    seconds: count,
  },
  ({ key }) => ({ leaves: [cacheKey(key)], waits: true }),
)
