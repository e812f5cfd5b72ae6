import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { judging, variableName, violationAction } from "../step-values.ts"

/** Validates the response's status. */
export const validateStatus = defineStep(
  "validate-status",
  { role: "judge", rehearsed: "run" },
  {
    codes: z
      .array(z.strictObject({ code: z.string().regex(/^([1-5]xx|[1-5][0-9]{2})$/), action: violationAction }))
      .max(200),
    unspecified: violationAction,
    errors: variableName.optional(),
  },
  (step) => judging(step, [step.unspecified, ...step.codes.map(({ action }) => action)], ["response.status"]),
)
