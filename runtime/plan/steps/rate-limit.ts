import * as z from "zod"
import { amount, countingFacts, limitKey, limitSigns } from "../counting.ts"
import { defineStep } from "../define-step.ts"
import { answerFields, variablePlaces } from "../places.ts"
import { count } from "../step-values.ts"
import { expression } from "../text.ts"

/**
 * Never more than `callsMax` in any `periodSeconds` per key. `counter` names the table of counts: it survives a new plan that keeps the name.
 * With `countIf` (perhaps about the response) a call is counted when that holds, after the response if it reads one; `increment` is how much one counts.
 */
export const rateLimit = defineStep(
  "rate-limit",
  { role: "limit", rehearsed: "run" },
  {
    counter: z.string().min(1).max(512),
    callsMax: count,
    periodSeconds: count,
    keys: z.array(limitKey).min(1).max(8),
    countIf: expression.optional(),
    increment: amount.optional(),
    ...limitSigns,
  },
  (step) => {
    const facts = countingFacts(step)
    const { remainingHeader, totalHeader, consumedHeader } = step
    const { remainingVariable, totalVariable, consumedVariable, retryAfterVariable } = step
    return {
      ...facts,
      statuses: [429],
      writes: variablePlaces(remainingVariable, totalVariable, consumedVariable, retryAfterVariable),
      leaves: [
        ...(facts.leaves ?? []),
        ...answerFields("ratelimit", "ratelimit-policy", remainingHeader, totalHeader, consumedHeader),
      ],
    }
  },
)
