import { breaking, neutral } from "../../analysis/finding.ts"
import { headSpan } from "../bind/bound.ts"
import { statusOf } from "../lower/count.ts"
import { headerUse } from "../lower/header.ts"
import { countText, statement, textsOf } from "../print.ts"
import { oneOf, optional, slot } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/** A status as a literal or an expression, and a reason phrase. */
const anyStatus = oneOf([slot("found", "expression")], [slot("status", "status", { min: 200, max: 599 })])
export const answerStatus = [anyStatus, optional(slot("reason", "text"))]

/** `status 202 "reason"` */
export const status: StatementDefinition = {
  row: {
    keyword: "status",
    several: true,
    forms: [{ args: answerStatus }],
    docs: "The status of the response (200 to 599), as a number or an expression, and its reason phrase.",
    example: 'status 202 "Accepted"',
  },
  lower: (bound, context) => {
    const { texts, place, steps } = context
    const status = statusOf(bound, context)
    const argument = bound.args.text("reason")
    const reason = argument === undefined ? undefined : texts.lower(argument, place, headerUse(false))
    if (status === undefined || (argument !== undefined && reason === undefined)) return undefined
    return steps.add(
      { kind: "set-status", status, ...(reason === undefined ? {} : { reason }) },
      headSpan(bound.statement),
    )
  },
}

/** Printing and comparison of a step that changes the status of the response. */
export const setStatus: StepText<"set-status"> = {
  print: ({ status, reason }) =>
    statement(`status ${countText(status)}${textsOf(reason === undefined ? [] : [reason])}`),
  identities: () => ["set-status"],
  added: ({ status }) => breaking(`callers get ${countText(status)}`),
  removed: () => breaking("callers get the backend's own status"),
  changed: {
    status: (before, after) => breaking(`callers get ${countText(after)} instead of ${countText(before)}`),
    reason: () => neutral("callers get another reason phrase"),
  },
}
