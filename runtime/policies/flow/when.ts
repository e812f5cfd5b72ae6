import type { Policy } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { compileTest } from "../values/value.ts"

/** Runs one list of steps or the other. A test without a value fails the request: treating it as false could let a request through. */
export const when: Policy<"when"> = (plan, provision) => {
  const test = compileTest(plan.test, provision)
  const matched = plan.matched.map((id) => provision.step(id))
  const otherwise = plan.otherwise.map((id) => provision.step(id))
  return (exchange) => runSteps(test(exchange) ? matched : otherwise, exchange)
}
