import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Runs `steps` in order until one goes on; all refuse: the first refusal of a credential that was present, else of the first step. */
export const anyOf = defineStep(
  "any-of",
  { role: "ways", rehearsed: "run", holds: "alternatives" },
  { steps: z.array(stepId).min(2).max(10) }, // Whether a caller is known already decides whether other ways are tried.
  () => ({
    reads: ["caller", "subscription"],
    writes: ["caller", "subscription"],
    ends: ["refuse"],
  }),
)
