import type { Step } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { shown } from "../../core/shown.ts"
import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf, textOf } from "../values.ts"
import { bodyOf } from "./body.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  everywhere,
  given,
  inboundOnly,
  optional,
  required,
  requiredDynamic,
} from "./row.ts"

type Metric = Extract<Step, { kind: "metric" }>

function trace(use: Use): Used[] | undefined {
  const message = use.child("message")
  // Older documents contain the message as the text of the element itself.
  const text = (message ?? use).ownText()
  const metadata = use.children("metadata").map((each) => {
    const parts = { name: each.constant("name"), value: each.text("value") }
    return complete(parts) ? parts : undefined
  })
  const parts = {
    source: use.text("source"),
    severity: use.choice("severity", ["verbose", "information", "error"]),
    message: text,
  }
  if (!complete(parts) || metadata.includes(undefined)) return undefined
  return use.step({ kind: "trace", ...parts, metadata: metadata as { name: string; value: Text }[] })
}

/** Names of metrics and labels may contain only letters, digits and `_` (the text format of Prometheus). */
function metricName(text: string): string {
  return (
    text
      .trim()
      .replace(/[^A-Za-z0-9_]+/g, "_")
      // A name must not begin with a digit (Prometheus data model).
      .replace(/^(?=\d)/, "_")
      .toLowerCase()
  )
}

/** Default values of dimensions, read from the exchange. */
const knownDimensions: Readonly<Record<string, string>> = {
  api_id: "api.name",
  operation_id: "operation.name",
  client_ip: "request.ip",
  gateway_id: "gateway.name",
}

/** Dimensions. A known one without a value reads it from the context. */
function labelsOf(use: Use): Metric["labels"] | undefined {
  const labels = use.children("dimension").map((each) => {
    const constant = each.constant("name")
    if (constant === undefined) return undefined
    const name = metricName(constant)
    if (each.has("value")) {
      const value = each.text("value")
      return value === undefined ? undefined : { name, value }
    }
    const known = knownDimensions[name]
    // A dimension that nobody can fill is an empty label, not an error.
    if (known === undefined) return { name }
    return { name, value: { text: [{ expression: { lang: "cel" as const, text: known, type: "string" } }] } }
  })
  return labels.includes(undefined) ? undefined : (labels as Metric["labels"])
}

/** `emit-metric`. The namespace becomes a prefix of the name. */
function emitMetric(use: Use): Used[] | undefined {
  const parts = {
    namespace: use.has("namespace") ? use.constant("namespace") : "",
    name: use.constant("name"),
    value: use.has("value") ? numberOf(use) : 1,
    labels: labelsOf(use),
  }
  if (!complete(parts)) return undefined
  const { namespace, value, labels } = parts
  const name = metricName(namespace === "" ? parts.name : `${namespace}_${parts.name}`)
  return use.step({ kind: "metric", value, name, labels })
}

/** Three counters, with the names that the service uses. */
function emitTokenMetric(use: Use): Used[] | undefined {
  const parts = {
    namespace: use.has("namespace") ? use.constant("namespace") : "",
    labels: labelsOf(use),
  }
  if (!complete(parts)) return undefined
  return (["total", "prompt", "completion"] as const).flatMap((tokens) =>
    use.step({
      kind: "metric",
      value: { tokens },
      name: metricName(`${parts.namespace === "" ? "" : `${parts.namespace}_`}${tokens}_tokens`),
      labels: parts.labels,
    }),
  )
}

/** Sends nothing when gateway.conf does not declare the hub: the caller sees no difference. The content is compiled all the same. */
function logToHub(use: Use): Used[] | undefined {
  const id = use.constant("logger-id")
  // Compiled even if nothing is sent: a mistake in it should not wait for the hub.
  const body = bodyOf(use)
  if (id === undefined || body === undefined) return undefined
  for (const name of ["partition-id", "partition-key"])
    if (use.has(name) && use.text(name) === undefined) return undefined
  const { host } = use.context
  const hub = host.hub(id)
  if (hub === undefined) {
    host.report.add("SP7019", use.at, "nothing is sent: gateway.conf declares no hub with this id", {
      help: `Declare it: \`xml { hub "${shown(id)}" "https://…/messages" NAME }\`, or write \`trace\` for the log.`,
    })
    // No step and no error: logging must not change what callers get.
    return []
  }
  return use.step({
    kind: "send-request",
    mode: "new",
    url: hub.url,
    method: "POST",
    headers: [],
    media: null,
    body,
    ...given("authentication", hub.authentication),
    timeoutSeconds: 60,
    // A failing hub must not fail the request.
    ignoreError: true,
    wait: false,
  })
}

const dimensions: ChildRow = { many: true, attributes: { name: required, value: dynamic } }

const tokenMetric: ElementTable[string] = {
  about: "Counts the tokens of a language model in metrics.",
  sections: inboundOnly,
  attributes: { namespace: optional },
  children: { dimension: dimensions },
  lower: emitTokenMetric,
}

/** The value of a metric: a number or an expression. */
function numberOf(use: Use): Metric["value"] | undefined {
  const value = use.value("value")
  if (value === undefined) return undefined
  if (value.kind === "code") {
    const expression = use.context.host.compile(value.code)
    return expression === undefined ? undefined : { expression }
  }
  const number = Number(constantOf(value) ?? Number.NaN)
  if (Number.isFinite(number)) return number
  // A named value that is read later may be a number, but nobody can check it now.
  if (textOf(value, use.context.host) === undefined) return undefined
  return use.report(
    "SP7009",
    value.span,
    "the value of a metric must be a number",
    "Write a number or an expression.",
  )
}

export const telemetry: ElementTable = {
  trace: {
    about: "Writes a message to the log.",
    sections: everywhere,
    attributes: {
      source: requiredDynamic,
      severity: { values: ["verbose", "information", "error"], byDefault: "verbose" },
    },
    children: {
      message: { text: "value" },
      metadata: { many: true, attributes: { name: required, value: requiredDynamic } },
    },
    text: "value",
    lower: trace,
  },
  "emit-metric": {
    about: "Counts in a metric.",
    sections: everywhere,
    attributes: { name: required, namespace: optional, value: dynamic },
    children: { dimension: dimensions },
    lower: emitMetric,
  },
  "llm-emit-token-metric": tokenMetric,
  "azure-openai-emit-token-metric": tokenMetric,
  "log-to-eventhub": {
    about: "Sends a message to an event hub.",
    sections: everywhere,
    attributes: { "logger-id": required, "partition-id": dynamic, "partition-key": dynamic },
    text: "body",
    lower: logToHub,
  },
}
