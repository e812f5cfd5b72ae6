import { CheckError } from "../check/ports.ts"
import type { StepId, StepOf } from "../plan/steps.ts"
import { type Problem, problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import type {
  AccessAnswer,
  AccessAnswers,
  AccessRequest,
  Outcome,
  Policy,
  Provision,
  Run,
  Step,
} from "./policy.ts"
import { authorizerOf, compileQuestion, questionFailure } from "./question.ts"

/** One yes is enough. Without one, a question that had no answer (503) leaves it open whether the caller may; else the refusal is the first one. */
export const requireAny: Policy<"require-any"> = (plan, provision) => {
  const together = compileTogether(plan.steps, provision)
  if (together !== undefined) return together
  const steps = plan.steps.map((id) => provision.step(id))
  return (exchange) => attempt(steps, 0, exchange, undefined)
}

function attempt(
  steps: readonly Step[],
  at: number,
  exchange: Exchange,
  refusal: Problem | undefined,
): Outcome | Promise<Outcome> {
  const step = steps[at]
  if (step === undefined) return refusal
  const judge = (outcome: Outcome): Outcome | Promise<Outcome> => {
    if (outcome?.kind !== "problem") return outcome
    const worse =
      refusal === undefined || (outcome.name === "authorization-unavailable" && refusal.name !== outcome.name)
    return attempt(steps, at + 1, exchange, worse ? outcome : refusal)
  }
  const outcome = step(exchange)
  return outcome instanceof Promise ? outcome.then(judge) : judge(outcome)
}

/** Questions that all go to one decision point go there in one request. Undefined: they do not. */
function compileTogether(ids: readonly StepId[], provision: Provision): Run | undefined {
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
    if (asked.length === 0) return refusal
    try {
      return judged(asked, await authorizer.batch(name, asked, exchange), first, exchange)
    } catch (error) {
      const [request] = asked as [AccessRequest]
      exchange.decided({ ...decisionOf(request, first), allowed: false })
      return questionFailure(error)
    }
  }
}

/** The first yes is the decision, without one the first no. */
function judged(
  asked: readonly AccessRequest[],
  { results }: AccessAnswers,
  plan: StepOf<"require">,
  exchange: Exchange,
): Outcome {
  const isYes = (each: AccessAnswer | CheckError) => !(each instanceof CheckError) && each.allowed === true
  const at = Math.max(0, results.findIndex(isYes))
  const [request, answer] = [asked[at], results[at]]
  if (request === undefined || answer === undefined || answer instanceof CheckError)
    return questionFailure(answer)
  const allowed = answer.allowed === true
  exchange.decided({ ...decisionOf(request, plan), allowed, reason: answer.reason })
  return allowed ? undefined : problem("forbidden")
}

function decisionOf({ user, relation, object }: AccessRequest, { pdp }: StepOf<"require">) {
  return { pdp, user, relation, object }
}
