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
