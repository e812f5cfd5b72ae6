import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/**
 * Requires all of several `require` steps. Checks at the same decision point go in one request. The first check that is not allowed responds 403, or
 * with its own refusal.
 */
export const requireAll = defineStep(
  "require-all",
  { role: "permission", rehearsed: "run", holds: "alternatives" },
  {
    steps: z.array(stepId).min(2).max(20),
  },
  () => ({ ends: ["refuse"], statuses: [403] }),
)
