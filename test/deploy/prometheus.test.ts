import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parse, stringify } from "yaml"
import { projectRoot } from "../structure/tree.ts"
import { promtool } from "../support/metrics-page.ts"
import { sampled } from "../support/random-run.ts"
import { withFile } from "../support/temporary-file.ts"
import { type AlertCase, alertCases } from "./alert-cases.ts"
import { breachesOfQuery } from "./promql.ts"

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

const file = `${projectRoot}runtime/deploy/prometheus/alerts.yaml`
const { groups } = parse(readFileSync(file, "utf8")) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const alerts = rules.flatMap(({ alert }) => alert ?? [])
const recorded = rules.flatMap(({ record }) => record ?? [])

test.each(rules.map((rule) => [rule.alert ?? rule.record ?? "", rule.expr] as const))(
  "%s asks for metrics and labels that exist",
  (_, expr) => {
    expect(breachesOfQuery(expr, { recorded, targetLabels: ["job", "instance"] })).toEqual([])
  },
)

test("every alert has a severity, what happened and what to do, and a case", () => {
  for (const { alert, labels, annotations } of rules.filter((rule) => rule.alert !== undefined)) {
    expect(labels?.["severity"], alert).toMatch(/^(critical|warning)$/)
    expect(Object.keys(annotations ?? {}), alert).toEqual(["summary", "description"])
    expect(annotations?.["description"], alert).toMatch(/\.$/)
  }
  expect(alertCases.map((each) => each.alert)).toEqual(alerts)
})

test("promtool accepts the alerts, and each fires and stays silent in its case", (context) => {
  const checked = promtool(["check", "rules", file])
  if (checked === undefined) return context.skip("needs promtool (apt-get install prometheus)")
  expect(checked).toMatchObject({ status: 0, output: expect.stringContaining("SUCCESS") })
  const tests = sampled(alertCases, 12).flatMap((each) => [
    promtoolTest(each, "fires"),
    promtoolTest(each, "silent"),
  ])
  // Rules are evaluated every five minutes instead of every minute: a fifth of the CPU time.
  const text = stringify({ rule_files: [file], evaluation_interval: "5m", tests })
  const { status, output } = withFile("cases.yaml", text, (cases) => promtool(["test", "rules", cases])) ?? {}
  expect(output).toContain("SUCCESS")
  expect(status).toBe(0)
})

/** A test of promtool: at the case's time exactly these alerts fire. */
function promtoolTest({ alert, atMinute = 60, also = [], ...series }: AlertCase, kind: "fires" | "silent") {
  const alerting = kind === "fires" ? [alert, ...also] : []
  // Most cases have no `up`, which is the case of this alert alone.
  const unless = alert === "SallyportMissing" ? "" : ', alertname!="SallyportMissing"'
  return {
    name: `${alert} ${kind}`,
    interval: "1m",
    input_series: Object.entries(series[kind]).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertstate="firing"${unless}}) > bool 0`,
        eval_time: `${atMinute}m`,
        exp_samples: alerting.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
      },
    ],
  }
}
