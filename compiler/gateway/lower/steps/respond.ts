import type { StepOf } from "../../../../runtime/plan/steps.ts"
import { headSpan, mentions, statementOf, statementsOf } from "../../bind/bound.ts"
import type { LowerStep } from "../step.ts"
import { lowerContent } from "./body.ts"
import { headerUse, mayWrite } from "./header.ts"

/** Statuses that have no body (RFC 9110 §6.4.1). */
const bodiless: readonly number[] = [204, 205, 304]

/** `respond STATUS { body …; header "Name" "value" }` */
export const lowerRespond: LowerStep = (bound, context) => {
  const { texts, place, report, steps } = context
  const status = bound.args.value<number>("status")
  if (status === undefined) return undefined
  const bodyAt = statementOf(bound.block, "body")
  const content = bodyAt === undefined ? undefined : lowerContent(bodyAt, context)
  if (bodyAt !== undefined && bodiless.includes(status)) {
    report.add("SP2029", bodyAt.statement.keyword.span, `an answer with status ${status} has no body`, {
      help: "Remove the body, or answer another status.",
    })
  }
  let complete = mentions(bound.block, "body") === (content !== undefined)
  const headers: StepOf<"respond">["headers"] = []
  for (const each of statementsOf(bound.block, "header")) {
    const name = each.args.value<string>("name")
    const nameAt = each.args.get("name")?.argument.span
    const argument = each.args.text("value")
    if (name === undefined || nameAt === undefined || argument === undefined) continue
    const value = mayWrite(name, nameAt, "response", report)
      ? texts.lower(argument, place, headerUse(false))
      : undefined
    if (value === undefined) complete = false
    else headers.push({ name, action: "set", values: [value] })
  }
  if (!complete) return undefined
  const body = content === undefined ? { media: null } : { media: content.media, body: content.content }
  return steps.add({ kind: "respond", status, ...body, headers }, headSpan(bound.statement))
}
