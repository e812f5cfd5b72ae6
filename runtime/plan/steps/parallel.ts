import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Runs the branches at the same time; goes on when all, or the first that ends well, have ended. An answer of a branch is the answer. */
export const parallel = defineStep(
  "parallel",
  { role: "change", rehearsed: "assume", holds: "blocks" },
  {
    until: z.enum(["all", "any"]),
    branches: z.array(z.array(stepId).min(1).max(100)).min(1).max(50),
  },
  () => ({ waits: true, repeats: "beside" }),
)
