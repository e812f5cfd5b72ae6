import { expect, it } from "vitest"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { type ReceivedSpan, startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"
import { author, call, freePorts, type Ports, planOfEngine, start } from "./project.ts"

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const callerSpan = "00f067aa0ba902b7"
const question = { tuple_key: { user: "user:ann", relation: "viewer", object: "order:1" } }

function tracedPlan(ports: Ports, collector: string): Plan {
  const plan = planOfEngine(ports, "", "")
  const { gateway } = plan.plan
  if (gateway === null) throw new Error("no gateway")
  const tracing = { otlp: collector, tls: { insecure: false }, headers: [], sample: 0, errors: true as const }
  const body = { ...plan.plan, gateway: { ...gateway, tracing } }
  return { ...plan, plan: body, digest: digestOf(body) }
}

describePostgres("traces of the engine", () => {
  it("contain a span for each request below that of its caller, and for each read of tuples", async () => {
    const [{ url, drop }, ports, receiver] = [
      await createMigratedDatabase(),
      await freePorts(),
      await startReceiver(),
    ]
    const runtime = await start(url, ports)
    await runtime.apply(tracedPlan(ports, receiver.url), author)
    const ask = async (path: string, flags: string, text: object) => {
      const response = await fetch(`http://127.0.0.1:${ports.authz}${path}`, {
        method: "POST",
        body: JSON.stringify(text),
        headers: {
          "content-type": "application/json",
          traceparent: `00-${traceId}-${callerSpan}-${flags}`,
        },
      })
      await response.text()
      return response.status
    }
    expect(await ask("/stores/acme/check", "01", question)).toBe(200)
    expect(await ask("/stores/acme/check", "00", question)).toBe(200)
    expect(await ask("/stores/acme/check", "01", { tuple_key: { user: "x" } })).toBe(400)
    const writes = { tuple_keys: [{ user: "user:eve", relation: "viewer", object: "order:9" }] }
    expect(await ask("/stores/acme/write", "01", { writes })).toBe(200)
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    await runtime.close()
    await until(() => receiver.spans.length >= 2)
    expect(receiver.faults).toEqual([])
    const named = (name: string): ReceivedSpan[] => receiver.spans.filter((span) => span.name === name)
    const [check, refused, more] = named("POST /stores/{store}/check")
    expect(more).toBeUndefined()
    expect(check).toMatchObject({ traceId, parentSpanId: callerSpan, kind: 2, flags: 0x301 })
    expect(check?.attributes).toMatchObject({
      ...{ "http.request.method": "POST", "http.response.status_code": 200 },
      ...{ "sallyport.engine.method": "Check", "sallyport.engine.outcome": "denied" },
      ...{
        "sallyport.engine.store": "acme",
        "sallyport.engine.model": expect.stringMatching(/^[0-9A-Z]{26}$/),
      },
    })
    expect(check?.attributes["sallyport.engine.steps"]).toBeGreaterThan(0)
    expect(JSON.stringify(check)).not.toContain("user:ann")
    expect(refused?.attributes).toMatchObject({
      ...{ "http.response.status_code": 400, "sallyport.engine.outcome": "invalid" },
    })
    // The first question reads pages, unless the whole store was in memory before them.
    const reads = named("SELECT tuples")
    expect(reads.length > 0).toBe(Number(check?.attributes["sallyport.engine.pages_read"]) > 0)
    for (const read of reads) {
      expect(read).toMatchObject({ parentSpanId: check?.spanId, kind: 3 })
      expect(read.attributes).toMatchObject({ "db.system.name": "postgresql", "db.operation.name": "SELECT" })
    }
    const [[write], [commit]] = [named("POST /stores/{store}/write"), named("BATCH tuples")]
    expect(commit).toMatchObject({ parentSpanId: write?.spanId, kind: 3 })
    expect(commit?.attributes).toMatchObject({
      ...{ "db.system.name": "postgresql", "db.operation.name": "BATCH", "db.operation.batch.size": 1 },
    })
    await Promise.all([receiver.close(), drop()])
  })
})
