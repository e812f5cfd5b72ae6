import type { Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { compileTogether } from "./ask-together.ts"

/** All answers must be yes; the first answer that is not yes decides the refusal. */
export const requireAll: Policy<"require-all"> = (plan, provision) => {
  const together = compileTogether(plan.steps, provision, "all")
  if (together !== undefined) return together
  const steps = plan.steps.map((id) => provision.step(id))
  return (exchange) => runSteps(steps, exchange)
}
