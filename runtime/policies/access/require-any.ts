import type { Exchange } from "../exchange.ts"
import type { Problem } from "../messages/answer.ts"
import type { Outcome, Policy, ProvisionedStep } from "../policy.ts"
import { compileTogether } from "./ask-together.ts"

/** One yes is enough. Without a yes, an unanswered question (503) decides the result, because it might have been a yes; otherwise the first refusal does. */
export const requireAny: Policy<"require-any"> = (plan, provision) => {
  const together = compileTogether(plan.steps, provision, "any")
  if (together !== undefined) return together
  const steps = plan.steps.map((id) => provision.step(id))
  return (exchange) => attempt(steps, 0, exchange, undefined)
}

/** Asks one after another until one allows. "Unavailable" is the worst refusal: a later answer could have allowed. */
function attempt(
  steps: readonly ProvisionedStep[],
  at: number,
  exchange: Exchange,
  refusal: Problem | undefined,
): Outcome | Promise<Outcome> {
  const step = steps[at]
  if (step === undefined) return refusal
  const judge = (outcome: Outcome): Outcome | Promise<Outcome> => {
    if (outcome?.kind !== "problem") return outcome
    const worse =
      refusal === undefined || (outcome.name === "authorization-unavailable" && refusal.name !== outcome.name)
    return attempt(steps, at + 1, exchange, worse ? outcome : refusal)
  }
  const outcome = step(exchange)
  return outcome instanceof Promise ? outcome.then(judge) : judge(outcome)
}
