import { headSpan } from "../../bind/bound.ts"
import type { LowerStep } from "../step.ts"

/** `query set|remove "name" "value"` */
export const lowerQuery: LowerStep = (bound, { texts, place, steps }) => {
  const name = bound.args.value<string>("name")
  const argument = bound.args.text("value")
  if (name === undefined) return undefined
  const at = headSpan(bound.statement)
  if (argument === undefined) return steps.add({ kind: "set-query", action: "remove", name }, at)
  const value = texts.lower(argument, place, { secrets: true })
  return value === undefined ? undefined : steps.add({ kind: "set-query", action: "set", name, value }, at)
}
