import { spawnSync } from "node:child_process"
import { beforeAll, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
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

/** The rules of `promtool check metrics`, in its words. */
function breaches(page: string): string[] {
  const found: string[] = []
  const types = new Map(
    [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type]) => [name, type]),
  )
  for (const [name, type] of types) {
    if (!new RegExp(`^# HELP ${name} \\S.*[^ ]$`, "m").test(page)) found.push(`${name} no help text`)
    if ((type === "counter") !== name.endsWith("_total"))
      found.push(`${name} counters end in "_total", others do not`)
    if (/_(?:bucket|count|sum)$/.test(name)) found.push(`${name} non-histogram with a histogram's suffix`)
    if (new RegExp(`_${type}(?:_|$)`).test(name)) found.push(`${name} the name contains its type`)
    if (/[A-Z:]/.test(name)) found.push(`${name} names are snake_case without colons`)
    if (/_(?:ms|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|percent)(?:_|$)/.test(name))
      found.push(`${name} not in base units`)
  }
  for (const [, name = "", labels = ""] of page.matchAll(/^([a-zA-Z_:][\w:]*)\{(.*)\} \S+$/gm)) {
    const isBucket = name.endsWith("_bucket") && types.get(name.slice(0, -"_bucket".length)) === "histogram"
    if (/(?:^|,)le="/.test(labels) && !isBucket) found.push(`${name} non-histogram with the label "le"`)
    if (/(?:^|,)quantile="/.test(labels)) found.push(`${name} non-summary with the label "quantile"`)
  }
  const samples = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  const form =
    /^[a-zA-Z_][\w]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (?:[+-]?(?:\d[\d.e+-]*|Inf)|NaN)$/
  return [...found, ...samples.filter((line) => !form.test(line)).map((line) => `not a sample: ${line}`)]
}

describePostgres("the metrics page", () => {
  let page = ""
  beforeAll(async () => {
    page = await servedPage()
  })

  it("follows the conventions of Prometheus", () => {
    expect(breaches(page)).toEqual([])
    expect(page).toContain("sallyport_engine_requests_total{")
  })

  it("is clean for promtool", (context) => {
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: page,
      encoding: "utf8",
    })
    if (error !== undefined) context.skip("needs promtool (apt-get install prometheus)")
    expect(stderr + stdout).toBe("")
    expect(status).toBe(0)
  })

  it("finds breaches of them", () => {
    const broken = [
      "# HELP a_events A.\n# TYPE a_events counter\na_events 1",
      "# HELP b_total B.\n# TYPE b_total gauge\nb_total 1",
      '# HELP lag_seconds L.\n# TYPE lag_seconds gauge\nlag_seconds{quantile="0.5"} 1',
      "# TYPE c_ms gauge\nc_ms 1",
      '# HELP d D.\n# TYPE d gauge\nd{x="a"b"} 1',
    ].join("\n")
    expect(breaches(broken)).toHaveLength(6)
  })
})
