import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { stringify } from "yaml"
import { projectRoot } from "../structure/tree.ts"
import { promtool } from "../support/metrics-page.ts"
import { withFile } from "../support/temporary-file.ts"
import { breachesOfQuery } from "./promql.ts"

interface Target {
  readonly refId: string
  readonly expr: string
  readonly datasource: { readonly type: string; readonly uid: string }
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly Target[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] }
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[]
  }
}

const dashboard = JSON.parse(
  readFileSync(`${projectRoot}runtime/deploy/grafana/sallyport.json`, "utf8"),
) as Dashboard
const variables = dashboard.templating.list.map(({ name }) => name)

/** The query as Grafana sends it. */
function filledIn(expr: string): string {
  return expr
    .replaceAll("$__rate_interval", "5m")
    .replaceAll(/\$(\w+)/g, (_, name: string) => (variables.includes(name) ? "value" : `$${name}`))
}

const queries: readonly (readonly [title: string, expr: string])[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => [`${title} ${refId}`, filledIn(expr)] as const),
  ),
  ...dashboard.annotations.list.map(({ name, expr }) => [`annotation ${name}`, filledIn(expr)] as const),
]

describe("the dashboard of Grafana", () => {
  test("asks for metrics and labels that exist", () => {
    const targetLabels = ["job", "instance"]
    const found = queries.flatMap(([title, expr]) =>
      breachesOfQuery(expr, { targetLabels }).map((breach) => `${title}: ${breach}`),
    )
    expect(found).toEqual([])
    expect(queries.length).toBeGreaterThan(50)
  })

  test("asks in the language of Prometheus", (context) => {
    const rules = queries.map(([, expr], at) => ({ record: `dashboard:query_${at}`, expr }))
    const text = stringify({ groups: [{ name: "dashboard", rules }] })
    const said = withFile("rules.yaml", text, (file) => promtool(["check", "rules", file]))
    if (said === undefined) return context.skip("needs promtool (apt-get install prometheus)")
    expect(said.output).toContain(`SUCCESS: ${queries.length} rules found`)
  })

  test("fills its variables from labels that exist, by the chosen data source", () => {
    for (const { name, definition } of dashboard.templating.list.slice(1)) {
      const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition ?? "") ?? []
      const query = `sum by (${label}) (${filledIn(selector)})`
      expect(breachesOfQuery(query, { targetLabels: ["job", "instance"] }), name).toEqual([])
    }
    for (const { title, targets = [] } of dashboard.panels)
      for (const { datasource } of targets)
        expect(datasource, title).toEqual({ type: "prometheus", uid: "${datasource}" })
  })

  test("has panels that do not overlap", () => {
    const taken = new Map<string, string>()
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x},${y}`), `${title} covers another panel`).toBeUndefined()
          taken.set(`${x},${y}`, title)
        }
    }
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

test("the check of queries finds what is wrong", () => {
  const breaches = (query: string) => breachesOfQuery(query, { targetLabels: ["job"] })
  expect(breaches("sum(rate(sallyport_requests_total[5m]))")).toEqual([])
  expect(breaches("sum(rate(sallyport_request_total[5m]))")).toEqual(["no metric sallyport_request_total"])
  expect(breaches('sallyport_requests_total{code="500"}')).toEqual([
    "sallyport_requests_total has no label code",
  ])
  expect(breaches("sum by (store) (sallyport_requests_total)")).toEqual(["nothing has the label store"])
  expect(breaches("sum(rate(sallyport_requests_total[5m])")[0]).toMatch(/^no expression from character 3/)
})
