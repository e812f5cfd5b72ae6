import { ExpressionError } from "../expression/expression-error.ts"
import { anyText } from "./grammars.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"
import { compileValue } from "./value.ts"

/** Adds to a counter on /metrics. */
export const metric: Policy<"metric"> = (plan, provision) => {
  const meter = provision.meter()
  const { name } = plan
  const amount = typeof plan.value === "number" ? undefined : compileValue(plan.value.expression, provision)
  const labels = plan.labels.map((label) => ({
    name: label.name,
    text: label.value === undefined ? undefined : compileText(label.value, provision, anyText),
  }))
  const constant = typeof plan.value === "number" ? plan.value : 0
  return (exchange) => {
    const values: Record<string, string> = {}
    for (const { name: label, text } of labels) values[label] = text?.of(exchange) ?? ""
    const value = amount === undefined ? constant : Number(amount(exchange))
    if (!Number.isFinite(value) || value < 0)
      throw new ExpressionError("type", "what a metric adds is a number that is not negative")
    meter.add(name, values, value)
    return undefined
  }
}
