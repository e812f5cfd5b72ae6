import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Runs the branches concurrently. Continues when all have ended, or when the first has succeeded. If a branch responds, that is the response. */
export const parallel = defineStep(
  "parallel",
  { role: "change", rehearsed: "assume", holds: "blocks" },
  {
    until: z.enum(["all", "any"]),
    branches: z.array(z.array(stepId).min(1).max(100)).min(1).max(50),
  },
  () => ({ waits: true, repeats: "beside" }),
)
