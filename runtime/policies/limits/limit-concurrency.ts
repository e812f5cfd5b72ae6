import { problem } from "../messages/answer.ts"
import type { Outcome, Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { limitKeyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/**
 * Lets so many exchanges with one key be inside at a time. The place is given back when the steps inside have ended, or, without steps, when the exchange has;
 * an exchange that ends early (the client goes) gives it back then, whatever still runs.
 */
export const limitConcurrency: Policy<"limit-concurrency"> = (plan, provision) => {
  const { counter, max } = plan
  const limiter = provision.limiter()
  const key = compileText(plan.key, provision, limitKeyText)
  const steps = plan.steps.map((id) => provision.step(id))
  const full = problem("rate-limited", {
    headers: ["retry-after", "1"],
    reason: "ConcurrencyLimitExceeded",
    cause: `${max} requests are inside already`,
  })
  return (exchange) => {
    const leave = limiter.enter(counter, key.of(exchange), max)
    if (leave === undefined) return full
    exchange.whenOver(leave)
    if (steps.length === 0) return undefined
    const outcome: Outcome | Promise<Outcome> = runSteps(steps, exchange)
    if (outcome instanceof Promise) return outcome.finally(leave)
    leave()
    return outcome
  }
}
