import { CsharpError, ExpressionError } from "../expression/expression-error.ts"
import type { Exchange } from "./exchange.ts"
import { failedExpression, type Problem, problem, Refused } from "./messages/answer.ts"
import type { Outcome, ProvisionedStep } from "./policy.ts"

/** Records the innermost step that ended the section, and the lists that contain it. */
function noteAnswer(exchange: Exchange, steps: readonly ProvisionedStep[], at: number): void {
  if (exchange.answeredBy === undefined) {
    exchange.answeredBy = steps[at]
    exchange.answerTrail = []
  }
  exchange.answerTrail.push({ steps, at })
}

/**
 * Runs steps in order until one ends the section. It stays synchronous until a step returns a promise. It never throws or rejects: every failure
 * becomes an answer.
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

/** Continues after a step that returned a promise. Steps that do not wait run without a promise, which is faster. */
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
 * The answer for a thrown value: its own, or an internal error whose text goes only to the log. Expressions were type-checked at compile time, so one
 * that fails before there is a response means that the request (or token) lacks a value it needs: the client's error.
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

/** The failure of an expression, in the form of Azure API Management. */
function csharpFailure(error: CsharpError): Problem {
  return problem("internal-error", {
    reason: "ExpressionValueEvaluationFailure",
    cause: `policy expression: ${error.reason}: ${error.message}`,
    expression: failedExpression(error, error.at),
    failure: `Expression evaluation failed. ${error.message}`,
  })
}
