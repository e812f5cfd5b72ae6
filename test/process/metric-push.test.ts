import { expect, it } from "vitest"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"
import { author, call, freePorts, type Ports, planOfEngine, start } from "./project.ts"

function planWith(ports: Ports, collector: string, header?: string): Plan {
  const plan = planOfEngine(ports, "", "")
  const { gateway } = plan.plan
  if (gateway === null) throw new Error("no gateway")
  const headers = header === undefined ? [] : [{ name: "x-key", secret: header }]
  const where = { otlp: collector, tls: { insecure: false }, headers }
  const changed = { ...gateway, metrics: { ...where, everyMs: 1000 }, tracing: { ...where, sample: 100 } }
  const body = { ...plan.plan, gateway: changed }
  return { ...plan, plan: body, digest: digestOf(body) }
}

describePostgres("metrics by OTLP", () => {
  it("are those of the page, with exemplars in both", async () => {
    const { url, drop } = await createMigratedDatabase()
    const [ports, receiver] = [await freePorts(), await startReceiver()]
    const runtime = await start(url, ports)
    await runtime.apply(planWith(ports, receiver.url, "ann_key"), author)
    expect(await call(ports, "/hello")).toBe("hello")
    const page = async (accept: string) => {
      const response = await fetch(`http://127.0.0.1:${ports.control}/metrics`, { headers: { accept } })
      return [response.headers.get("content-type"), await response.text()] as const
    }
    const [type, text] = await page("application/openmetrics-text;version=1.0.0")
    expect(type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8")
    const [, traceId] =
      /^sallyport_request_duration_seconds_bucket\{api="hello".* # \{trace_id="([0-9a-f]{32})"/m.exec(text) ??
      []
    expect(traceId).toBeDefined()
    expect(await page("*/*")).toEqual([
      "text/plain; version=0.0.4; charset=utf-8",
      expect.not.stringContaining("trace_id"),
    ])
    const ofHello = () => {
      const points = receiver.metrics.at(-1)?.get("sallyport_request_duration_seconds")?.histogram?.dataPoints
      return points?.find(({ attributes }) =>
        attributes?.some(({ value }) => value["stringValue"] === "hello"),
      )
    }
    await until(() => ofHello() !== undefined)
    expect(ofHello()).toMatchObject({ count: "1", exemplars: [{ traceId }] })
    // A plan with another collector ends the exports to this one.
    await runtime.apply(planOfEngine(ports, "", ""), author)
    await runtime.close()
    expect(receiver.faults).toEqual([])
    expect(receiver.spans.some((span) => span.traceId === traceId)).toBe(true)
    const resource = { "service.name": "test", "service.instance.id": expect.any(String) }
    for (const found of receiver.resources) expect(found).toMatchObject(resource)
    expect(new Set(receiver.resources.map((found) => found["service.instance.id"])).size).toBe(1)
    expect(receiver.headers[0]).toHaveProperty("x-key")
    await Promise.all([receiver.close(), drop()])
  })
})
