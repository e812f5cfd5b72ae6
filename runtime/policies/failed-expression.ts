import type { Expression } from "../plan/text.ts"
import type { FailedExpression } from "./messages/answer.ts"

// Beside the errors: they are made by the languages, which know nothing of plans.
const expressions = new WeakMap<object, Expression>()

/** Says of an error which expression of the plan threw it, and gives it back. The innermost one counts. */
export function blamed(error: unknown, expression: Expression): unknown {
  if (typeof error === "object" && error !== null && !expressions.has(error))
    expressions.set(error, expression)
  return error
}

/** The expression that threw an error; undefined where none did. */
export function failedExpression(error: object, at: number | undefined): FailedExpression | undefined {
  const expression = expressions.get(error)
  return expression === undefined ? undefined : { expression, at }
}
