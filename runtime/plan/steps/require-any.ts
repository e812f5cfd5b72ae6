import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Requires one of several `require` steps. If none allows: 403, or 503 if one had no decision. */
export const requireAny = defineStep(
  "require-any",
  { role: "permission", rehearsed: "run", holds: "alternatives" },
  {
    steps: z.array(stepId).min(2).max(20),
  },
  () => ({ ends: ["refuse"], statuses: [403] }),
)
