import { type CheckAnswer, CheckError, UndecidedCheck } from "../check/ports.ts"
import { ExpressionError } from "../expression/expression-error.ts"
import { problem } from "./answer.ts"
import { idText } from "./grammars.ts"
import type { Outcome, Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/**
 * Asks the engine whether the caller may. Only a plain yes goes on: a no is 403, a question the engine finds malformed is the request's
 * fault (400), one that hangs on a condition without an outcome is no yes (403), everything else is no answer (503).
 */
export const require_: Policy<"require"> = (plan, provision) => {
  const { store, relation } = plan
  const authorizer = provision.authorizer()
  const userText = compileText(plan.user, provision, idText)
  const objectText = compileText(plan.object, provision, idText)
  return (exchange) => {
    let user: string
    try {
      user = userText.of(exchange)
    } catch (error) {
      // A token that does not say who its bearer is may be good elsewhere; here it is nobody's.
      if (error instanceof ExpressionError)
        return problem("forbidden", { cause: `the caller is not named: ${error.message}` })
      throw error
    }
    const object = objectText.of(exchange)
    const judge = (answer: CheckAnswer): Outcome => {
      const { allowed, revision } = answer
      exchange.decided({ store, user, relation, object, allowed, revision })
      return allowed === true ? undefined : problem("forbidden")
    }
    const fail = (error: unknown): Outcome => {
      exchange.decided({ store, user, relation, object, allowed: false })
      return failure(error)
    }
    try {
      const answer = authorizer.check(store, { user, relation, object })
      return answer instanceof Promise ? answer.then(judge, fail) : judge(answer)
    } catch (error) {
      return fail(error)
    }
  }
}

/** Codes that say something about the ids of the request; the rest of the question was checked at compile time. */
const requestCodes: ReadonlySet<string> = new Set([
  "validation_error",
  "invalid_tuple",
  "invalid_user",
  "invalid_object_format",
])

function failure(error: unknown): Outcome {
  // The caller has no part in it, and is told nothing of tuples and conditions; the log has both.
  if (error instanceof UndecidedCheck)
    return problem("forbidden", {
      cause: `authorization engine: ${error.message}; \`require\` gives conditions no values but those stored with their tuples`,
    })
  if (error instanceof CheckError) {
    const cause = `authorization engine: ${error.code}: ${error.message}`
    return requestCodes.has(error.code)
      ? problem("invalid-request", { cause })
      : problem("authorization-unavailable", { headers: ["retry-after", "1"], cause })
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return problem("authorization-unavailable", {
    headers: ["retry-after", "1"],
    cause: `authorization engine: ${cause}`,
  })
}
