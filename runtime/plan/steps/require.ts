import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { asked, circumstances, decider, namedDecider } from "../question.ts"
import { text } from "../text.ts"

/** Asks the engine, or a decision point: may `user` have `relation` on `object`? No: 403. No answer: 503. Dynamic parts must be ids (no `#`, `:`, `*`, blanks), else 400. */
export const require_ = defineStep(
  "require",
  { role: "guard", rehearsed: "run" },
  {
    ...asked,
    relation: z.string(),
    object: text,
    user: text,
    ...circumstances,
  },
  (step) => ({
    reads: [decider(step)],
    ends: ["refuse"],
    statuses: [403],
    waits: true,
    fits: "narrow",
    names: namedDecider(step),
  }),
)
