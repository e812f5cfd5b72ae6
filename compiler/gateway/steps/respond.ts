import type { StepOf } from "../../../runtime/plan/steps.ts"
import { didYouMean } from "../../core/nearest.ts"
import { isBodiless } from "../../openapi/mock-answer.ts"
import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { lowerContent } from "../lower/content.ts"
import { statusOf } from "../lower/count.ts"
import { headerUse, mayWrite } from "../lower/header.ts"
import type { LowerStep, StepContext } from "../lower/step.ts"

/** `respond STATUS "reason" { body …; header "Name" "value" }`, `respond from NAME { … }` */
export const lowerRespond: LowerStep = (bound, context) => {
  const { texts, place, report, steps } = context
  const status = statusOf(bound, context)
  const from = bound.args.value<string>("variable")
  const begun = from === undefined || isSet(bound, from, context)
  if ((status === undefined && from === undefined) || !begun) return undefined
  const reasonAt = bound.args.text("reason")
  const reason = reasonAt === undefined ? undefined : texts.lower(reasonAt, place, headerUse(false))
  if (reasonAt !== undefined && reason === undefined) return undefined
  const bodyAt = statementOf(bound.block, "body")
  const content = bodyAt === undefined ? undefined : lowerContent(bodyAt, context)
  if (bodyAt !== undefined && typeof status === "number" && isBodiless(status)) {
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
  const head = {
    ...(from === undefined ? {} : { from }),
    ...(status === undefined ? {} : { status }),
    ...(reason === undefined ? {} : { reason }),
  }
  return steps.add({ kind: "respond", ...head, ...body, headers }, headSpan(bound.statement))
}

/** Whether a statement before sets the variable; reported where none does. */
function isSet(bound: Bound, name: string, { place, report }: StepContext): boolean {
  if (Object.hasOwn(place.variables, name)) return true
  const hint = didYouMean(name, Object.keys(place.variables))
  const detail = `no statement before this one sets \`${name}\`${hint}`
  report.add("SP5018", bound.args.get("variable")?.argument.span, detail)
  return false
}
