import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { expression, stepId } from "../text.ts"

/** An evaluation error in the test fails the request (500); it is never treated as false. */
export const when = defineStep(
  "when",
  { role: "change", rehearsed: "run", holds: "blocks" },
  {
    test: expression,
    matched: z.array(stepId).max(1000),
    otherwise: z.array(stepId).max(1000),
  },
  () => ({}),
)
