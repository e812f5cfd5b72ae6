import type { Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { compileTogether } from "./ask-together.ts"

/** Every answer must be a yes; the first that is none refuses. */
export const requireAll: Policy<"require-all"> = (plan, provision) => {
  const together = compileTogether(plan.steps, provision, "all")
  if (together !== undefined) return together
  const steps = plan.steps.map((id) => provision.step(id))
  return (exchange) => runSteps(steps, exchange)
}
