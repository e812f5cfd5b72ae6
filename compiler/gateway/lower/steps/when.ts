import { headSpan } from "../../bind/bound.ts"
import { placeBehind } from "../place.ts"
import { idsOf, type LowerStep } from "../step.ts"

/** `when (CEL) { … } else { … }` */
export const lowerWhen: LowerStep = (bound, { expressions, place, block, steps }) => {
  const condition = bound.args.cel("test")
  const inside = condition === undefined ? place : placeBehind(condition.source, place)
  const matched = block(bound.block, inside)
  const otherwise = block(bound.otherwise, inside)
  const test = condition === undefined ? undefined : expressions.lower(condition, place, "bool")
  if (test === undefined) return undefined
  const step = { kind: "when" as const, test, matched: idsOf(matched), otherwise: idsOf(otherwise) }
  return steps.add(step, headSpan(bound.statement), { matched, otherwise })
}
