import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { stepId, text } from "../text.ts"

/** At most `max` exchanges with this key run `steps` at a time (empty: until the response is sent). More: 429. */
export const limitConcurrency = defineStep(
  "limit-concurrency",
  { role: "limit", rehearsed: "run", holds: "blocks" },
  {
    counter: z.string().min(1).max(512),
    key: text,
    max: z.number().int().min(1).max(1_000_000),
    steps: z.array(stepId).max(1000),
  },
  ({ counter }) => ({
    reads: [`slot:${counter}`],
    leaves: [`slot:${counter}`],
    ends: ["refuse"],
    statuses: [429],
  }),
)
