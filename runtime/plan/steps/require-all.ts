import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Each of several `require` steps; of one decision point all are asked in one request. The first that is no yes: 403, or as it is refused. */
export const requireAll = defineStep(
  "require-all",
  { role: "permission", rehearsed: "run", holds: "alternatives" },
  {
    steps: z.array(stepId).min(2).max(20),
  },
  () => ({ ends: ["refuse"], statuses: [403] }),
)
