import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { TracingPlan } from "../../runtime/plan/resources.ts"
import { closes, compareFields, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { backendStatements, durationWords, textWords } from "../analysis/words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

type Tracing = NonNullable<PlanBody["gateway"]>["tracing"]

/** Whether and where requests are traced. Who reads the traces sees paths and addresses of requests. */
export function tracingChanges(before: Tracing, after: Tracing): UnplacedChange[] {
  if (same(before, after)) return []
  const about = {
    subject: { kind: "gateway", name: "tracing" },
    scope: { kind: "gateway", name: "" },
    path: "gateway.tracing",
    ...(before === undefined ? {} : { before: tracingWords(before) }),
    ...(after === undefined ? {} : { after: tracingWords(after) }),
  } as const
  if (before === undefined)
    return [
      changeOf({ ...about, action: "added" }, [
        opens("the collector gets paths, addresses and user agents of requests"),
        neutral("backends get a `traceparent` of the gateway; one that is not valid no longer reaches them"),
      ]),
    ]
  if (after === undefined)
    return [
      changeOf(
        { ...about, action: "removed" },
        neutral("requests are no longer traced; backends get the `traceparent` of the caller"),
      ),
    ]
  return [changeOf({ ...about, action: "changed" }, compareFields(tracingRules, before, after))]
}

/** How the certificate of a collector is checked; `what` it gets. */
export function tlsOfCollector(what: string) {
  return (before: TracingPlan["tls"], after: TracingPlan["tls"]): Finding => {
    if (after.insecure && !before.insecure)
      return opens(
        `the certificate of the collector is not checked: any machine on the network path can read ${what}`,
      )
    if (before.insecure && !after.insecure) return closes("the certificate of the collector is now checked")
    return opens("another certificate authority is trusted for the collector")
  }
}

const tracingRules: FieldRules<TracingPlan> = {
  otlp: () => opens("another collector gets paths, addresses and user agents of requests"),
  headers: () => neutral("the collector gets other headers, and may refuse the traces"),
  tls: tlsOfCollector("traces"),
  sample: (before, after) =>
    neutral(`${after > before ? "more" : "fewer"} requests are traced: ${after}% instead of ${before}%`),
  apis: () => neutral("the share of traced requests changes for some APIs"),
  errors: (_, after) =>
    neutral(
      after === true
        ? "requests that fail are always traced"
        : "requests that fail are traced only as often as others",
    ),
  slowerMs: (_, after) =>
    neutral(
      after === undefined
        ? "slow requests are traced only as often as others"
        : `requests that take at least ${durationWords(after)} are always traced`,
    ),
}

/** `tracing` as it is written in gateway.conf. */
function tracingWords({ otlp, headers, tls, sample, apis = {}, errors, slowerMs }: TracingPlan): string {
  return `tracing { ${[
    `otlp ${textWords(otlp)}`,
    ...headers.map(({ name, secret }) => `header "${name}" ${secret}`),
    ...(tls.insecure || tls.ca !== undefined ? [backendStatements.tls({ tls })] : []),
    `sample ${sample}%`,
    ...Object.entries(apis).map(([name, share]) => `sample ${share}% of ${name}`),
    ...(errors === true ? ["always errors"] : []),
    ...(slowerMs === undefined ? [] : [`always slower ${durationWords(slowerMs)}`]),
  ].join("; ")} }`
}
