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
import { withNotes } from "./noted-answers.ts"

/** Builds the question of one exchange. Returns a problem when the token does not identify the caller. */
export type Question = (exchange: Exchange) => AccessRequest | Problem

/** The authorizer that answers a step's questions, and the name by which it knows them: the store's or its own. */
export function authorizerOf(
  { store, pdp }: Pick<RelationQuestion, "store" | "pdp">,
  provision: Provision,
): { readonly authorizer: Authorizer; readonly name: string } {
  return pdp === undefined
    ? { authorizer: withNotes(provision.authorizer(), store ?? ""), name: store ?? "" }
    : { authorizer: withNotes(provision.decisionPoint(pdp), `pdp ${pdp}`), name: pdp }
}

/** Compiles the question. Values from the request must be valid ids. A token without a user is valid elsewhere but cannot be checked here. */
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
        return problem("forbidden", { cause: `the user of the check is unknown: ${error.message}` })
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

/** Engine errors caused by ids of the request; the compiler has checked the rest of the question. */
const requestCodes: ReadonlySet<string> = new Set([
  "validation_error",
  "invalid_tuple",
  "invalid_user",
  "invalid_object_format",
])

/**
 * The problem for a question without an answer: 400 for an invalid id in the request, 403 for a condition without a value. Otherwise 503, because it
 * is not known whether the caller is allowed.
 */
export function questionFailure(error: unknown): Problem {
  if (error instanceof NoDecision)
    return problem("authorization-unavailable", {
      headers: ["retry-after", String(error.retryAfterSeconds)],
      cause: error.message,
    })
  // The client must not learn about tuples and conditions; the log has both.
  if (error instanceof UndecidedCheck)
    return problem("forbidden", {
      cause: `authorization engine: ${error.message}; conditions get only the values stored with their tuples and those of \`context\` in \`require\``,
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
