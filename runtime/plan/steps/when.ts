import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { expression, stepId } from "../text.ts"

/** A test that fails to evaluate is an error of the request (500), never false. */
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
