import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, statementOf } from "../bind/bound.ts"
import { lowerCollector } from "./collector.ts"
import type { Values } from "./values.ts"

/** As an SDK of OpenTelemetry. */
const everyMsDefault = 60_000

/** Where the metrics are sent, and how often. */
export function lowerMetrics(
  gateway: BoundBlock | undefined,
  values: Values,
  report: Report,
): Pick<NonNullable<PlanBody["gateway"]>, "metrics"> {
  const block = statementOf(gateway, "metrics")?.block
  const collector = lowerCollector(block, values, report)
  if (collector === undefined) return {}
  const everyMs = statementOf(block, "every")?.args.value<number>("interval") ?? everyMsDefault
  const delta = statementOf(block, "delta") === undefined ? {} : ({ delta: true } as const)
  const metrics = { ...collector, everyMs, ...delta }
  values.needIn(metrics)
  return { metrics }
}
