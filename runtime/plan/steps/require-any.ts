import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** One of several `require` steps is enough. None says yes: 403, unless one had no answer: 503. */
export const requireAny = defineStep(
  "require-any",
  { role: "permission", rehearsed: "run", holds: "alternatives" },
  {
    steps: z.array(stepId).min(2).max(20),
  },
  () => ({ ends: ["refuse"], statuses: [403] }),
)
