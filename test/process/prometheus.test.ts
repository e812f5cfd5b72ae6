import { beforeAll, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { breachesOf, promtool } from "../support/metrics-page.ts"
import { author, call, control, freePorts, type Ports, planOfEngine, start } from "./project.ts"

/** The metrics page of a process that has served something of each kind. */
async function servedPage(): Promise<string> {
  const { url, drop } = await createMigratedDatabase()
  const ports = await freePorts()
  const runtime = await start(url, ports)
  await runtime.apply(planOfEngine(ports, "", ""), author)
  await askSome(ports)
  const { text } = (await control(ports, "GET", "/metrics")).body as { readonly text: string }
  await runtime.close()
  await drop()
  return text
}

async function askSome(ports: Ports): Promise<void> {
  expect(await call(ports, "/hello")).toBe("hello")
  expect(await call(ports, "/order/1", "ann")).toBe("403")
  const key = { user: "user:ann", relation: "viewer", object: 'order:"1\\' }
  await control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: [key] } })
  await control(ports, "POST", "/authz/stores/acme/check", { tuple_key: key })
}

describePostgres("the metrics page", () => {
  let page = ""
  beforeAll(async () => {
    page = await servedPage()
  })

  it("follows the conventions of Prometheus", () => {
    expect(breachesOf(page)).toEqual([])
    expect(page).toContain("sallyport_engine_requests_total{")
  })

  it("is clean for promtool", (context) => {
    const said = promtool(["check", "metrics"], page)
    if (said === undefined) return context.skip("needs promtool (apt-get install prometheus)")
    expect(said).toEqual({ status: 0, output: "" })
  })

  it("finds breaches of them", () => {
    const broken = [
      "# HELP a_events A.\n# TYPE a_events counter\na_events 1",
      "# HELP b_total B.\n# TYPE b_total gauge\nb_total 1",
      '# HELP lag_seconds L.\n# TYPE lag_seconds gauge\nlag_seconds{quantile="0.5"} 1',
      "# TYPE c_ms gauge\nc_ms 1",
      '# HELP d D.\n# TYPE d gauge\nd{x="a"b"} 1',
    ].join("\n")
    expect(breachesOf(broken)).toHaveLength(6)
  })
})
