import { whenUsed } from "../limits/token-usage.ts"
import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileValue } from "../values/value.ts"

/**
 * Increments a counter on /metrics: at once, or at the end of the exchange when the response contains the usage. A value the counter cannot add is
 * logged and skipped: a metric never fails a request.
 */
export const metric: Policy<"metric"> = (plan, provision) => {
  const meter = provision.meter()
  const log = provision.traceLog()
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
    if (Number.isFinite(value) && value >= 0) meter.add(name, values, value)
    else
      log.write({
        requestId: exchange.id,
        source: "metric",
        severity: "error",
        message: `${name} was not counted: ${value} is not a number of 0 or more`,
        metadata: values,
      })
    return undefined
  }
}
