import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { answerFields, variablePlaces } from "../places.ts"
import { count, counted, countingFacts, limitSigns } from "../step-values.ts"

const { counter, ...counting } = counted

/**
 * Allows at most `callsMax` calls in any `periodSeconds` per key. `counter` names the counter: it survives a new plan that keeps the name. With
 * `countIf`, a call counts only if the condition is true, after the response if it reads one. `increment` is how much a call counts.
 */
export const rateLimit = defineStep(
  "rate-limit",
  { role: "limit", rehearsed: "run" },
  {
    counter,
    callsMax: count,
    periodSeconds: count,
    ...counting,
    ...limitSigns,
    /** Requests get 503 while the counters that all processes share are unavailable. Absent: each process then counts on its own. */
    sharedRequired: z.literal(true).optional(),
  },
  (step) => {
    const facts = countingFacts(step)
    const { remainingHeader, totalHeader, consumedHeader } = step
    const { remainingVariable, totalVariable, consumedVariable, retryAfterVariable } = step
    return {
      ...facts,
      statuses: step.sharedRequired === true ? [429, 503] : [429],
      writes: variablePlaces(remainingVariable, totalVariable, consumedVariable, retryAfterVariable),
      leaves: [
        ...(facts.leaves ?? []),
        ...answerFields("ratelimit", "ratelimit-policy", remainingHeader, totalHeader, consumedHeader),
      ],
    }
  },
)
