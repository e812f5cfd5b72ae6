import type { Report } from "../../core/diagnostic.ts"
import { mockAnswer } from "../../openapi/mock-answer.ts"
import { headSpan, statementOf } from "../bind/bound.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import type { Lowered, PlanSteps } from "./step.ts"

/** `mock` of the nearest scope: an answer made of what the document says. Undefined where nobody asked for one, `broken` where there is none to give. */
export function lowerMock(
  source: RouteSource,
  chain: readonly (RouteScope | undefined)[],
  steps: PlanSteps,
  report: Report,
): Lowered | "broken" | undefined {
  const statement = chain.map((scope) => statementOf(scope?.block, "mock")).find((each) => each !== undefined)
  if (statement === undefined) return undefined
  const { described } = source
  const own = statementOf(source.scopes.operation.block, "mock") === statement
  if (described === undefined) {
    // An extra operation of a described API has a backend, or answers itself.
    if (!own && source.inDescribed) return undefined
    // What keeps the document from being read was reported.
    if (source.inDescribed === "unread") return "broken"
    report.add("SP8012", headSpan(statement.statement), "no document describes what is to be answered here")
    return "broken"
  }
  const { args } = statement
  const media = args.value<string>("media")?.toLowerCase()
  const answer = mockAnswer(described.operation, described.document, args.value<number>("status"), media)
  if (typeof answer !== "string") return steps.add(answer, headSpan(statement.statement))
  report.add("SP8012", own ? headSpan(statement.statement) : described.operation.span, answer)
  return "broken"
}
