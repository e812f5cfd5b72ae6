import { compileExpression } from "../expression/compile.ts"
import { ExpressionError } from "../expression/expression-error.ts"
import type { Policy } from "./policy.ts"
import { runSteps } from "./run-steps.ts"

/** Runs one list of steps or the other. A test without a value fails the request: false would be a guess, and a guess can open a door. */
export const when: Policy<"when"> = (plan, provision) => {
  const test = compileExpression(plan.test.text, provision.environment())
  const matched = plan.matched.map((id) => provision.step(id))
  const otherwise = plan.otherwise.map((id) => provision.step(id))
  return (exchange) => {
    const value = test(exchange.bindings())
    if (typeof value !== "boolean")
      throw new ExpressionError("type", "the condition is neither true nor false")
    return runSteps(value ? matched : otherwise, exchange)
  }
}
