import { defineStep } from "../define-step.ts"
import { decider, namedDecider, relationQuestion } from "../step-values.ts"

/**
 * Checks at the engine or a decision point: does `user` have `relation` on `object`? Denied: 403. No decision: 503. Dynamic parts must be ids (no `#`,
 * `:`, `*`, spaces), otherwise 400.
 */
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
