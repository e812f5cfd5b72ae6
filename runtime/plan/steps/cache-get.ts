import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { cacheKey, variableName } from "../step-values.ts"
import { expression, text } from "../text.ts"

/** Reads a value of the cache into a variable. */
export const cacheGet = defineStep(
  "cache-get",
  { role: "observe", rehearsed: "assume" },
  {
    key: text,
    variable: variableName,
    default: z.union([text, z.strictObject({ expression })]).optional(),
  },
  ({ key, variable }) => ({
    reads: [cacheKey(key), `variable:${variable}`],
    writes: [`variable:${variable}`],
    waits: true,
  }),
)
