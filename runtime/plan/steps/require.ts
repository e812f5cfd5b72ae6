import { defineStep } from "../define-step.ts"
import { decider, namedDecider, relationQuestion } from "../step-values.ts"

/** Asks the engine, or a decision point: may `user` have `relation` on `object`? No: 403. No answer: 503. Dynamic parts must be ids (no `#`, `:`, `*`, blanks), else 400. */
export const require_ = defineStep(
  "require",
  { role: "permission", rehearsed: "run" },
  relationQuestion,
  (step) => ({
    reads: [decider(step)],
    ends: ["refuse"],
    statuses: [403],
    waits: true,
    fits: "narrow",
    names: namedDecider(step),
  }),
)
