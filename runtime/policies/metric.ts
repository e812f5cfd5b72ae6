import { ExpressionError } from "../expression/expression-error.ts"
import { anyText } from "./grammars.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"
import { whenUsed } from "./token-usage.ts"
import { compileValue } from "./value.ts"

/** Adds to a counter on /metrics: at once, or what the answer says was used when the exchange has ended. */
export const metric: Policy<"metric"> = (plan, provision) => {
  const meter = provision.meter()
  const { name, value: source } = plan
  const tokens = typeof source === "object" && "tokens" in source ? source.tokens : undefined
  const amount =
    typeof source === "object" && "expression" in source
      ? compileValue(source.expression, provision)
      : undefined
  const labels = plan.labels.map((label) => ({
    name: label.name,
    text: label.value === undefined ? undefined : compileText(label.value, provision, anyText),
  }))
  const constant = typeof source === "number" ? source : 0
  return (exchange) => {
    const values: Record<string, string> = {}
    for (const { name: label, text } of labels) values[label] = text?.of(exchange) ?? ""
    if (tokens !== undefined) {
      whenUsed(exchange, (usage) => meter.add(name, values, usage[tokens]))
      return undefined
    }
    const value = amount === undefined ? constant : Number(amount(exchange))
    if (!Number.isFinite(value) || value < 0)
      throw new ExpressionError("type", "what a metric adds is a number that is not negative")
    meter.add(name, values, value)
    return undefined
  }
}
