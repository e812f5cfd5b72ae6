import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import { neutral, opens } from "../../analysis/finding.ts"
import { actionOf, addJudging, errorsOf, NamesOnce } from "../lower/violations.ts"
import { errorsText, requiredBlock } from "../print.ts"
import { many, optional, type StatementRow, slot, word } from "../schema/row.ts"
import { action, errors } from "../schema/violations.ts"
import type { StatementForm, StepText } from "../step-text.ts"
import { newAnswerActions, otherAnswerAction, otherErrors } from "../violation-rules.ts"

/** Statements in its block, with the action for responses with the listed statuses. */
const keywords = { allow: "ignore", detect: "detect", prevent: "prevent" } as const

/** `validate status detect { allow 200 4xx; prevent 500 }` */
export const statusForm: StatementForm = {
  form: { args: [word("status"), optional(action)], block: "validate status", blockRequired: true },
  lower: (bound, context) => {
    const names = new NamesOnce(bound, "code", context)
    const codes = Object.entries(keywords).flatMap(([keyword, action]) =>
      names.of(keyword).map((code) => ({ code, action })),
    )
    return addJudging(
      { kind: "validate-status", codes, unspecified: actionOf(bound), ...errorsOf(bound) },
      bound,
      context,
    )
  },
}

function judged(keyword: string, docs: string): StatementRow {
  const codes = many(slot("code", "status-or-class"), 50)
  return { keyword, several: true, forms: [{ args: [codes] }], docs, example: `${keyword} 500 5xx` }
}

export const validateStatusRows: readonly StatementRow[] = [
  judged("allow", "Statuses that are let through. An exact status takes precedence over its class."),
  judged("detect", "Statuses that are logged."),
  judged("prevent", "Statuses that become 502."),
  errors,
]

/** Printing and comparison of a step that validates the status of responses. */
export const validateStatus: StepText<"validate-status"> = {
  print: (step) =>
    requiredBlock(
      `validate status ${step.unspecified}`,
      Object.entries(keywords).map(([keyword, action]) => {
        const codes = step.codes.filter((each) => each.action === action)
        return codes.length > 0 && `${keyword} ${codes.map(({ code }) => code).join(" ")}`
      }),
      errorsText(step),
    ),
  identities: () => ["validate-status"],
  added: ({ codes, unspecified }) =>
    newAnswerActions(
      [
        ...codes.map(({ code, action }) => [action, `status ${code}`] as const),
        [unspecified, codes.length === 0 ? "any status" : "another status"],
      ],
      "no status of a response is refused or logged",
    ),
  removed: () => opens("the status of responses is no longer checked"),
  changed: {
    codes: (before, after, items) => {
      const actionIn = (codes: typeof before, others: ViolationAction, code: string): ViolationAction =>
        (codes.find((each) => each.code === code) ?? codes.find((each) => each.code === `${code[0]}xx`))
          ?.action ?? others
      const codes = [...new Set([...before, ...after].map(({ code }) => code))]
      const found = codes.flatMap((code) =>
        otherAnswerAction(
          actionIn(before, items.before.unspecified, code),
          actionIn(after, items.after.unspecified, code),
          `status ${code}`,
        ),
      )
      return found.length > 0
        ? found
        : neutral("the rules for statuses are written differently but mean the same")
    },
    unspecified: (before, after) => otherAnswerAction(before, after, "other statuses"),
    errors: otherErrors,
  },
}
