import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten } from "../places.ts"
import { decider, namedDecider, relationQuestion } from "../step-values.ts"

const { store, pdp, ...question } = relationQuestion

/**
 * Takes out of a JSON answer (2xx) the items the caller may not see, by one batch: of the array at `items` (dots walk into objects; empty: the whole).
 * `object`, `user` and what else is asked may read `item`. No answer to it: 503, an answer without such an array: 502; never unfiltered.
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
