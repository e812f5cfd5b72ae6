import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { wholeResponse } from "../places.ts"
import { tokenKind } from "../step-values.ts"
import { expression, text } from "../text.ts"

/**
 * Adds to a counter of /metrics; token counts are added when the exchange has ended. Labels are bounded: after 1,000 series of a metric, further ones
 * count as `other`.
 */
export const metric = defineStep(
  "metric",
  { role: "observe", rehearsed: "skip" },
  {
    name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/),
    value: z.union([z.number(), z.strictObject({ expression }), z.strictObject({ tokens: tokenKind })]),
    labels: z
      .array(
        z.strictObject({ name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/), value: text.optional() }),
      )
      .max(20),
  },
  ({ name, value }) => ({
    leaves: [`metric:${name}`],
    ...(typeof value === "object" && "tokens" in value ? { late: wholeResponse } : {}),
  }),
)
