import { problem } from "../messages/answer.ts"
import type { AccessAnswer, Outcome, Policy } from "../policy.ts"
import { authorizerOf, compileQuestion, questionFailure } from "./question.ts"

/**
 * Asks the engine or a decision point whether the caller is allowed. Only a yes continues. A no is 403; a question the engine finds malformed is 400;
 * a condition without a value is 403; any other failure is 503.
 */
export const require_: Policy<"require"> = (plan, provision) => {
  const { store, pdp } = plan
  const { authorizer, name } = authorizerOf(plan, provision)
  const question = compileQuestion(plan, provision)
  return (exchange) => {
    const request = question(exchange)
    if ("kind" in request) return request
    const { user, relation, object } = request
    const judge = ({ allowed, revision, stamp, reason }: AccessAnswer): Outcome => {
      exchange.decided({ store, pdp, user, relation, object, allowed, revision, stamp, reason })
      return allowed === true ? undefined : problem("forbidden")
    }
    const fail = (error: unknown): Outcome => {
      exchange.decided({ store, pdp, user, relation, object, allowed: false })
      return questionFailure(error)
    }
    try {
      const answer = authorizer.check(name, request, exchange)
      return answer instanceof Promise ? answer.then(judge, fail) : judge(answer)
    } catch (error) {
      return fail(error)
    }
  }
}
