import { defineStep } from "../define-step.ts"
import { answerFields, variablePlaces } from "../places.ts"
import { count, counted, countingFacts, limitSigns } from "../step-values.ts"

const { counter, ...counting } = counted

/**
 * Never more than `callsMax` in any `periodSeconds` per key. `counter` names the table of counts: it survives a new plan that keeps the name.
 * With `countIf` (perhaps about the response) a call is counted when that holds, after the response if it reads one; `increment` is how much one counts.
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
