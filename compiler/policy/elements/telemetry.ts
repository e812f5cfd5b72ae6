import type { Step } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf, textOf } from "../values.ts"
import {
  complete,
  dynamic,
  everywhere,
  optional,
  type PolicyTable,
  required,
  requiredDynamic,
} from "./row.ts"

type Metric = Extract<Step, { kind: "metric" }>

function trace(use: Use): Used[] | undefined {
  const message = use.child("message")
  // Older documents have the message as the element's own text.
  const text = (message ?? use).ownText()
  const metadata = use.children("metadata").map((each) => {
    const parts = { name: each.constant("name"), value: each.text("value") }
    return complete(parts) ? parts : undefined
  })
  const parts = {
    source: use.constant("source"),
    severity: use.choice("severity", ["verbose", "information", "error"], "verbose"),
    message: text,
  }
  if (!complete(parts) || metadata.includes(undefined)) return undefined
  return use.step({ kind: "trace", ...parts, metadata: metadata as { name: string; value: Text }[] })
}

/** Names of metrics and labels have letters, digits and `_` only (the text format of Prometheus). */
function metricName(text: string): string {
  return text
    .trim()
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^(?=\d)/, "_")
    .toLowerCase()
}

function emitMetric(use: Use): Used[] | undefined {
  const namespace = use.has("namespace") ? use.constant("namespace") : ""
  const parts = { name: use.constant("name"), value: use.has("value") ? numberOf(use) : 1 }
  const labels = use.children("dimension").map((each) => {
    const name = each.constant("name")
    if (!each.has("value")) return name === undefined ? undefined : { name: metricName(name) }
    const value = each.text("value")
    return name === undefined || value === undefined ? undefined : { name: metricName(name), value }
  })
  if (!complete(parts) || namespace === undefined || labels.includes(undefined)) return undefined
  const name = metricName(namespace === "" ? parts.name : `${namespace}_${parts.name}`)
  return use.step({ kind: "metric", value: parts.value, name, labels: labels as Metric["labels"] })
}

function numberOf(use: Use): Metric["value"] | undefined {
  const value = use.value("value")
  if (value === undefined) return undefined
  if (value.kind === "code") {
    const expression = use.context.surroundings.compile(value.code)
    return expression === undefined ? undefined : { expression }
  }
  const number = Number(constantOf(value) ?? Number.NaN)
  if (Number.isFinite(number)) return number
  if (textOf(value, use.context.surroundings) === undefined) return undefined
  return use.report(
    "SP7009",
    value.span,
    "the value of a metric is a number",
    "Write a number or an expression.",
  )
}

export const telemetry: PolicyTable = {
  trace: {
    sections: everywhere,
    attributes: { source: required, severity: { values: ["verbose", "information", "error"] } },
    children: {
      message: { text: "value" },
      metadata: { many: true, attributes: { name: required, value: requiredDynamic } },
    },
    text: "value",
    lower: trace,
  },
  "emit-metric": {
    sections: everywhere,
    attributes: { name: required, namespace: optional, value: dynamic },
    children: { dimension: { many: true, attributes: { name: required, value: dynamic } } },
    lower: emitMetric,
  },
}
