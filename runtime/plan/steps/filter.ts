import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten } from "../places.ts"
import { decider, namedDecider, relationQuestion } from "../step-values.ts"

const { store, pdp, ...question } = relationQuestion

/**
 * Removes the items that the caller may not see from a JSON response (2xx), by one batch check of the array at `items` (dots walk into objects; empty:
 * the whole). `object`, `user` and the other inputs can read `item`. No decision: 503; no such array: 502; never unfiltered.
 */
export const filter = defineStep(
  "filter",
  { role: "guard", rehearsed: "assume" },
  {
    store,
    pdp,
    items: z.string().max(1024),
    ...question,
  },
  (step) => ({
    reads: [decider(step), "response.status", ...bodyRead("response")],
    writes: bodyWritten("response", true),
    ends: ["refuse"],
    waits: true,
    fits: "narrow",
    names: namedDecider(step),
  }),
)
