import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { TracingPlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { lowerCollector, Once } from "./collector.ts"
import type { Values } from "./values.ts"

/** As an SDK of OpenTelemetry: a user who tries tracing sees the first request. */
const defaultPercent = 100

/** Where and which requests the gateway traces. Without a valid URL (reported) there is no tracing. */
export function lowerTracing(
  gateway: BoundBlock | undefined,
  values: Values,
  report: Report,
): Pick<NonNullable<PlanBody["gateway"]>, "tracing"> {
  const block = statementOf(gateway, "tracing")?.block
  const collector = lowerCollector(block, values, report)
  if (block === undefined || collector === undefined) return {}
  const tracing: TracingPlan = {
    ...collector,
    ...samplesOf(block, report),
    ...keptOf(block, report),
  }
  values.needIn(tracing)
  return { tracing }
}

/** The general share, and those of APIs. */
function samplesOf(block: BoundBlock, report: Report): Pick<TracingPlan, "sample" | "apis"> {
  const once = new Once(report)
  let sample = defaultPercent
  const apis = new Map<string, number>()
  for (const bound of statementsOf(block, "sample")) {
    const percent = bound.args.value<number>("share") ?? defaultPercent
    const named = bound.args.words("api")
    if (named.length === 0 && once.isFirst("", headSpan(bound.statement), "the general share"))
      sample = percent
    for (const { text, span } of named)
      if (once.isFirst(text, span, `the share of the API \`${text}\``)) apis.set(text, percent)
  }
  if (apis.size === 0) return { sample }
  return { sample, apis: Object.fromEntries([...apis].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function keptOf(block: BoundBlock, report: Report): Pick<TracingPlan, "errors" | "slowerMs"> {
  const once = new Once(report)
  let kept: Pick<TracingPlan, "errors" | "slowerMs"> = {}
  for (const bound of statementsOf(block, "always")) {
    const slowerMs = bound.args.value<number>("time")
    const word = slowerMs === undefined ? "errors" : "slower"
    if (!once.isFirst(word, headSpan(bound.statement), `\`always ${word}\``)) continue
    kept = { ...kept, ...(slowerMs === undefined ? { errors: true } : { slowerMs }) }
  }
  return kept
}
