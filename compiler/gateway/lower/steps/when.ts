import { headSpan } from "../../bind/bound.ts"
import { placeBehind } from "../place.ts"
import { idsOf, type LowerStep } from "../step.ts"

/** `when (CEL) { … } else { … }` */
export const lowerWhen: LowerStep = (bound, { expressions, place, scope, block, steps }) => {
  const condition = bound.args.cel("test")
  const inside = condition === undefined ? place : placeBehind(condition.source, place)
  const words = `(${condition?.source.trim().replace(/\s+/g, " ") ?? ""})`
  const matched = block(bound.block, inside, `${scope}, when ${words}`)
  const otherwise = block(bound.otherwise, inside, `${scope}, not ${words}`)
  const test = condition === undefined ? undefined : expressions.lower(condition, place, "bool")
  if (test === undefined) return undefined
  const step = { kind: "when" as const, test, matched: idsOf(matched), otherwise: idsOf(otherwise) }
  return steps.add(step, headSpan(bound.statement), { matched, otherwise })
}
