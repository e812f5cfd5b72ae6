import { defineStep } from "../define-step.ts"
import { text } from "../text.ts"

/** Method of the request to the backend. */
export const setMethod = defineStep(
  "set-method",
  { role: "change", rehearsed: "run" },
  { method: text },
  () => ({ writes: ["request.method"], fits: "narrow" }),
)
