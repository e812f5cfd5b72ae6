import { CheckError, UndecidedCheck } from "../../check/ports.ts"
import { toJson } from "../../expression/compile.ts"
import { ExpressionError } from "../../expression/expression-error.ts"
import { NoDecision } from "../../pdp/http.ts"
import type { RelationQuestion } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { AccessRequest, Authorizer, Provision } from "../policy.ts"
import { idText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileValue } from "../values/value.ts"

/** Makes the question of one exchange; the caller may not be named by it, which is a refusal. */
export type Question = (exchange: Exchange) => AccessRequest | Problem

/** Who answers a step's questions, and by what name it knows them: a store's, or its own. */
export function authorizerOf(
  { store, pdp }: Pick<RelationQuestion, "store" | "pdp">,
  provision: Provision,
): { readonly authorizer: Authorizer; readonly name: string } {
  return pdp === undefined
    ? { authorizer: provision.authorizer(), name: store ?? "" }
    : { authorizer: provision.decisionPoint(pdp), name: pdp }
}

/** Compiles what is asked. What a request brings must be ids; a token that does not say who its bearer is may be good elsewhere, here it is nobody's. */
export function compileQuestion(
  plan: Omit<RelationQuestion, "store" | "pdp">,
  provision: Provision,
): Question {
  const { relation, tuples = [], properties } = plan
  const user = compileText(plan.user, provision, idText)
  const object = compileText(plan.object, provision, idText)
  const context = compileValues(plan.context, provision)
  const described = (["subject", "resource", "action"] as const).flatMap((of) => {
    const values = compileValues(properties?.[of], provision)
    return values === undefined ? [] : [{ of, values }]
  })
  const keys = tuples.map((tuple) => ({
    user: compileText(tuple.user, provision, idText),
    relation: tuple.relation,
    object: compileText(tuple.object, provision, idText),
  }))
  return (exchange) => {
    let named: string
    try {
      named = user.of(exchange)
    } catch (error) {
      if (error instanceof ExpressionError)
        return problem("forbidden", { cause: `the caller is not named: ${error.message}` })
      throw error
    }
    const request = { user: named, relation, object: object.of(exchange) }
    if (context === undefined && keys.length === 0 && described.length === 0) return request
    return {
      ...request,
      context: context?.(exchange) ?? {},
      contextualTuples: keys.map((key) => ({
        user: key.user.of(exchange),
        relation: key.relation,
        object: key.object.of(exchange),
      })),
      ...(described.length === 0
        ? {}
        : { properties: Object.fromEntries(described.map(({ of, values }) => [of, values(exchange)])) }),
    }
  }
}

function compileValues(
  plan: RelationQuestion["context"],
  provision: Provision,
): ((exchange: Exchange) => Record<string, unknown>) | undefined {
  if (plan === undefined || plan.length === 0) return undefined
  const values = plan.map(({ key, value }) => ({ key, value: compileValue(value, provision) }))
  return (exchange) => Object.fromEntries(values.map(({ key, value }) => [key, toJson(value(exchange))]))
}

/** Codes that say something about the ids of the request; the rest of the question was checked at compile time. */
const requestCodes: ReadonlySet<string> = new Set([
  "validation_error",
  "invalid_tuple",
  "invalid_user",
  "invalid_object_format",
])

/** The problem of a question that has no answer: the request's fault where it brought what is no id, else nobody knows whether the caller may. */
export function questionFailure(error: unknown): Problem {
  if (error instanceof NoDecision)
    return problem("authorization-unavailable", {
      headers: ["retry-after", String(error.retryAfterSeconds)],
      cause: error.message,
    })
  // The caller has no part in it, and is told nothing of tuples and conditions; the log has both.
  if (error instanceof UndecidedCheck)
    return problem("forbidden", {
      cause: `authorization engine: ${error.message}; \`require\` gives conditions no values but those stored with their tuples and those of its \`context\``,
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
