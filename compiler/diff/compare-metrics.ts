import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { MetricsPlan } from "../../runtime/plan/resources.ts"
import { compareFields, type FieldRules, neutral } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { backendStatements, durationWords, textWords } from "../analysis/words.ts"
import { tlsOfCollector } from "./compare-tracing.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

type Metrics = NonNullable<PlanBody["gateway"]>["metrics"]

/** Whether and where metrics are sent. They contain names of the plan and numbers, nothing of single requests. */
export function metricsChanges(before: Metrics, after: Metrics): UnplacedChange[] {
  if (same(before, after)) return []
  const about = {
    subject: { kind: "gateway", name: "metrics" },
    scope: { kind: "gateway", name: "" },
    path: "gateway.metrics",
    ...(before === undefined ? {} : { before: metricsWords(before) }),
    ...(after === undefined ? {} : { after: metricsWords(after) }),
  } as const
  if (before === undefined)
    return [
      changeOf({ ...about, action: "added" }, neutral("the collector gets the metrics of all processes")),
    ]
  if (after === undefined)
    return [changeOf({ ...about, action: "removed" }, neutral("the collector no longer gets metrics"))]
  return [changeOf({ ...about, action: "changed" }, compareFields(metricsRules, before, after))]
}

const metricsRules: FieldRules<MetricsPlan> = {
  otlp: () => neutral("another collector gets the metrics"),
  headers: () => neutral("the collector gets other headers, and may refuse the metrics"),
  tls: tlsOfCollector("metrics"),
  everyMs: (before, after) =>
    neutral(`metrics are sent every ${durationWords(after)} instead of ${durationWords(before)}`),
  delta: (_, after) =>
    neutral(
      after === true
        ? "counters are sent as differences since the last export"
        : "counters are sent as sums since the start of the process",
    ),
}

/** `metrics` as it is written in gateway.conf. */
function metricsWords({ otlp, headers, tls, everyMs, delta }: MetricsPlan): string {
  return `metrics { ${[
    `otlp ${textWords(otlp)}`,
    ...headers.map(({ name, secret }) => `header "${name}" ${secret}`),
    `every ${durationWords(everyMs)}`,
    ...(delta === true ? ["delta"] : []),
    ...(tls.insecure || tls.ca !== undefined ? [backendStatements.tls({ tls })] : []),
  ].join("; ")} }`
}
