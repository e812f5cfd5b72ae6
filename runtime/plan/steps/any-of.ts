import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId } from "../text.ts"

/** Runs `steps` in order until one succeeds. If all refuse, the response is the first refusal of a credential that was present, otherwise that of the first step. */
export const anyOf = defineStep(
  "any-of",
  { role: "ways", rehearsed: "run", holds: "alternatives" },
  { steps: z.array(stepId).min(2).max(10) }, // Reads `caller`: a known caller decides whether the other steps are tried.
  () => ({
    reads: ["caller", "subscription"],
    writes: ["caller", "subscription"],
    ends: ["refuse"],
  }),
)
