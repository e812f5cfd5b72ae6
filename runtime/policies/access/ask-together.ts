import { CheckError } from "../../check/ports.ts"
import type { RelationQuestion } from "../../plan/step-values.ts"
import type { StepId } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { AccessAnswer, AccessAnswers, AccessRequest, Outcome, Provision, Run } from "../policy.ts"
import { authorizerOf, compileQuestion, questionFailure } from "./question.ts"

/**
 * Sends the questions in one request when all of them go to the same decision point. `enough`: whether one yes is enough or all must be yes. Returns
 * undefined otherwise.
 */
export function compileTogether(
  ids: readonly StepId[],
  provision: Provision,
  enough: "any" | "all",
): Run | undefined {
  const plans = ids.flatMap((id) => {
    const plan = provision.plan(id)
    return plan.kind === "require" ? [plan] : []
  })
  const [first] = plans
  if (first?.pdp === undefined || plans.some(({ pdp }) => pdp !== first.pdp)) return undefined
  if (plans.length < ids.length) return undefined
  const { authorizer, name } = authorizerOf(first, provision)
  if (authorizer.remote !== true) return undefined
  const questions = plans.map((plan) => compileQuestion(plan, provision))
  return async (exchange) => {
    const asked: AccessRequest[] = []
    let refusal: Problem | undefined
    for (const question of questions) {
      const request = question(exchange)
      if ("kind" in request) refusal ??= request
      else asked.push(request)
    }
    if (asked.length === 0 || (enough === "all" && refusal !== undefined)) return refusal
    try {
      const answers = await authorizer.batch(name, asked, exchange)
      return judged(asked, answers, { plan: first, enough }, exchange)
    } catch (error) {
      const [request] = asked as [AccessRequest]
      exchange.decided({ ...decisionOf(request, first), allowed: false })
      return questionFailure(error)
    }
  }
}

/** The answer that decides: for `any` the first yes, for `all` the first answer that is not yes; otherwise the first answer. */
function judged(
  asked: readonly AccessRequest[],
  { results }: AccessAnswers,
  { plan, enough }: { readonly plan: RelationQuestion; readonly enough: "any" | "all" },
  exchange: Exchange,
): Outcome {
  const isYes = (each: AccessAnswer | CheckError) => !(each instanceof CheckError) && each.allowed === true
  const at = Math.max(
    0,
    results.findIndex((each) => isYes(each) === (enough === "any")),
  )
  const [request, answer] = [asked[at], results[at]]
  if (request === undefined || answer === undefined || answer instanceof CheckError)
    return questionFailure(answer)
  // `all` needs as many answers as questions.
  if (enough === "all" && results.length < asked.length) return questionFailure(undefined)
  const allowed = answer.allowed === true
  exchange.decided({ ...decisionOf(request, plan), allowed, reason: answer.reason })
  return allowed ? undefined : problem("forbidden")
}

function decisionOf({ user, relation, object }: AccessRequest, { pdp }: RelationQuestion) {
  return { pdp, user, relation, object }
}
