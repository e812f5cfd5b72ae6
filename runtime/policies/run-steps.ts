import { CsharpError, ExpressionError } from "../expression/expression-error.ts"
import type { Exchange } from "./exchange.ts"
import { failedExpression, type Problem, problem, Refused } from "./messages/answer.ts"
import type { Outcome, ProvisionedStep } from "./policy.ts"

/** Notes the innermost step that answered, and the lists it stands in. */
function noteAnswer(exchange: Exchange, steps: readonly ProvisionedStep[], at: number): void {
  if (exchange.answeredBy === undefined) {
    exchange.answeredBy = steps[at]
    exchange.answerTrail = []
  }
  exchange.answerTrail.push({ steps, at })
}

/**
 * Runs steps in order until one answers. Synchronous as long as the steps are: a promise is made only by a step that has to wait.
 * Never throws and never rejects: whatever goes wrong becomes an answer.
 */
export function runSteps(
  steps: readonly ProvisionedStep[],
  exchange: Exchange,
  from = 0,
): Outcome | Promise<Outcome> {
  for (let at = from; at < steps.length; at += 1) {
    let outcome: Outcome | Promise<Outcome>
    try {
      outcome = (steps[at] as ProvisionedStep)(exchange)
    } catch (error) {
      noteAnswer(exchange, steps, at)
      return failureOf(error, exchange)
    }
    if (outcome === undefined) continue
    if (outcome instanceof Promise) return goOn(outcome, steps, exchange, at)
    noteAnswer(exchange, steps, at)
    return outcome
  }
  return undefined
}

async function goOn(
  waiting: Promise<Outcome>,
  steps: readonly ProvisionedStep[],
  exchange: Exchange,
  at: number,
): Promise<Outcome> {
  try {
    const outcome = await waiting
    if (outcome === undefined) return runSteps(steps, exchange, at + 1)
    noteAnswer(exchange, steps, at)
    return outcome
  } catch (error) {
    noteAnswer(exchange, steps, at)
    return failureOf(error, exchange)
  }
}

/**
 * The answer to something thrown: its own, or an internal error whose text goes to the log only. Expressions were type-checked when they were compiled:
 * one that has no value before there is a response met a request (or token) without what it needs, which is the client's to mend.
 */
export function failureOf(error: unknown, exchange: Exchange): Outcome {
  if (error instanceof Refused) return error.answer
  if (error instanceof CsharpError) return csharpFailure(error)
  if (error instanceof ExpressionError) {
    const ours = exchange.response !== undefined || error.reason === "cost"
    const cause = `expression: ${error.message}`
    return problem(ours ? "internal-error" : "invalid-request", {
      cause,
      expression: failedExpression(error, undefined),
    })
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return problem("internal-error", { cause: text })
}

/** The failure of an expression as Azure API Management tells it. */
function csharpFailure(error: CsharpError): Problem {
  return problem("internal-error", {
    reason: "ExpressionValueEvaluationFailure",
    cause: `policy expression: ${error.reason}: ${error.message}`,
    expression: failedExpression(error, error.at),
    failure: `Expression evaluation failed. ${error.message}`,
  })
}
