import { defineStep } from "../define-step.ts"
import { count } from "../step-values.ts"
import { text } from "../text.ts"

/** Status of the response. */
export const setStatus = defineStep(
  "set-status",
  { role: "change", rehearsed: "run" },
  {
    status: count,
    reason: text.optional(),
  },
  () => ({ writes: ["response.status", "response.reason"], fits: "narrow" }),
)
