import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Bound, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { LowerStep } from "../lower/step.ts"
import { lowerValidateContent } from "./validate-content.ts"

type Action = "ignore" | "detect" | "prevent"

/** `validate status detect { allow 200 4xx; prevent 500 }`, `validate headers { allow "X-A"; require "X-B" }` */
export const lowerValidateAnswer: LowerStep = (bound, context) => {
  const { steps, report } = context
  const [what] = bound.statement.args
  if (what?.kind !== "word") return undefined
  if (what.text === "content") return lowerValidateContent(bound, context)
  const action = bound.args.value<Action>("action") ?? "prevent"
  const seen = new Set<string>()
  const namedOnce = (each: Bound, slot: string): string[] =>
    each.args.all(slot).flatMap(({ value, argument }) => {
      if (typeof value !== "string") return []
      if (seen.has(value)) report.add("SP2016", argument.span, `\`${value}\` is named before`)
      seen.add(value)
      return [value]
    })
  const variable = statementOf(bound.block, "errors")?.args.value<string>("variable")
  const errors = variable === undefined ? {} : { errors: variable }
  const declares = variable === undefined ? {} : { declares: { [variable]: "dyn" as const } }
  const at = headSpan(bound.statement)
  if (what.text === "status") {
    const codes = (["allow", "detect", "prevent"] as const).flatMap((keyword) =>
      statementsOf(bound.block, keyword).flatMap((each) =>
        namedOnce(each, "code").map((code) => ({
          code,
          action: keyword === "allow" ? ("ignore" as const) : keyword,
        })),
      ),
    )
    const step: StepOf<"validate-status"> = { kind: "validate-status", codes, unspecified: action, ...errors }
    return { ...steps.add(step, at), ...declares }
  }
  const headers = (["allow", "require"] as const).flatMap((keyword) =>
    statementsOf(bound.block, keyword).flatMap((each) =>
      namedOnce(each, "name").map((name) => ({
        name,
        required: keyword === "require",
        action: keyword === "require" ? action : ("ignore" as const),
      })),
    ),
  )
  const named = (["detect", "prevent"] as const).flatMap((keyword) =>
    statementsOf(bound.block, keyword).flatMap((each) =>
      namedOnce(each, "name").map((name) => ({ name, action: keyword })),
    ),
  )
  const unspecified = statementOf(bound.block, "others")?.args.value<Action>("action") ?? action
  const step: StepOf<"validate-headers"> = {
    kind: "validate-headers",
    headers,
    ...(named.length === 0 ? {} : { named }),
    unspecified,
    ...errors,
  }
  return { ...steps.add(step, at), ...declares }
}
