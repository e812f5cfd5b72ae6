import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { answerFields, variablePlaces } from "../places.ts"
import { counted, countingFacts, variableName } from "../step-values.ts"
import { expression } from "../text.ts"

const { counter, ...counting } = counted

/**
 * A quota: calls (the number can be computed per request) or bytes in a fixed period. It survives restarts (stored with usage). `periodSeconds` 0: for
 * ever. The period starts at `startsAt` (ISO date-time); absent: with the subscription, or at the epoch. Exceeded: 403 with Retry-After.
 */
export const quota = defineStep(
  "quota",
  { role: "limit", rehearsed: "run" },
  {
    counter,
    callsMax: z.union([z.number().int().min(1), z.strictObject({ expression })]).optional(),
    bytesMax: z.number().int().min(1).optional(),
    periodSeconds: z.number().int().min(0).max(2_147_483_647),
    startsAt: z.iso.datetime().optional(),
    ...counting,
    remainingHeader: headerName.optional(),
    remainingVariable: variableName.optional(),
    consumedHeader: headerName.optional(),
    consumedVariable: variableName.optional(),
  },
  (step) => {
    const facts = countingFacts(step)
    return {
      ...facts,
      statuses: [403],
      // A period can start with the subscription.
      reads: [...(facts.reads ?? []), "subscription"],
      writes: variablePlaces(step.remainingVariable, step.consumedVariable),
      leaves: [...(facts.leaves ?? []), ...answerFields(step.remainingHeader, step.consumedHeader)],
    }
  },
)
