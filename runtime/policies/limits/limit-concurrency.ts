import type { Exchange } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import type { Outcome, Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { limitKeyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/**
 * Limits how many exchanges with one key run at a time. The slot is released when the inner steps have ended, or, without steps, when the exchange
 * has. An exchange that ends early (the client disconnects) releases it at once, even if steps still run.
 */
export const limitConcurrency: Policy<"limit-concurrency"> = (plan, provision) => {
  const { counter, max } = plan
  const limiter = provision.limiter()
  const key = compileText(plan.key, provision, limitKeyText)
  const steps = plan.steps.map((id) => provision.step(id))
  const full = problem("rate-limited", {
    headers: ["retry-after", "1"],
    reason: "ConcurrencyLimitExceeded",
    cause: `${max} requests are already running`,
  })
  const inside = (exchange: Exchange, leave: (() => void) | undefined): Outcome | Promise<Outcome> => {
    if (leave === undefined) return full
    exchange.whenOver(leave)
    if (steps.length === 0) return undefined
    const outcome: Outcome | Promise<Outcome> = runSteps(steps, exchange)
    if (outcome instanceof Promise) return outcome.finally(leave)
    leave()
    return outcome
  }
  return (exchange) => {
    const leave = limiter.enter(counter, key.of(exchange), max)
    return leave instanceof Promise ? leave.then((late) => inside(exchange, late)) : inside(exchange, leave)
  }
}
