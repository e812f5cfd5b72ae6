import { request } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { Tracing } from "../../runtime/process/tracing.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { compile } from "../compile.ts"
import { freePort } from "../support/free-port.ts"
import { type Receiver, startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"
import { type Answering, newGateway, startUpstream } from "./harness.ts"

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function planOf(port: number, tracing: string, backend: string, trust = "none"): Plan {
  const text = `
    gateway edge { listen 127.0.0.1:${port}; trust ${trust}; ${tracing} }
    secret collector_key = env(KEY)
    backend one { url "${backend}/base"; retry 1 on 503 connect-error }
    backend away { url "http://127.0.0.1:1" }
    api a {
      path "/a"; auth none
      GET "/orders/{id}" { backend one }
      GET "/away" { backend away }
      GET "/own" { respond 200 }
      GET "/asking" {
        inbound { send found { url "${backend}/asked?key=secret" }; send and forget { url "${backend}/told" } }
        backend one
      }
    }
    api b { path "/b"; auth none; GET "/" { respond 200 } }`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  return plan
}

interface Parts {
  readonly rules?: string
  readonly trust?: string
  readonly answer?: Answering
  /** The collector (default: the receiver). */
  readonly collector?: string
}

async function start({ rules = "", trust, answer, collector }: Parts = {}) {
  const [receiver, upstream, port] = [await startReceiver(), await startUpstream(answer), await freePort()]
  const http = new HttpClient()
  const metrics = new Metrics()
  const log: Finished[] = []
  const tracing = new Tracing({ http, log: createLog({ level: "silent" }), version: "1.2.3" }, metrics)
  const gateway = newGateway({
    observer: { finished: (finished) => log.push(finished) },
    environment: { KEY: "k1" },
    folder: process.cwd(),
    openTracer: tracing.open,
  })
  closers.push(
    () => upstream.close(),
    () => receiver.close(),
    () => http.close(),
    () => tracing.close(),
    () => gateway.close(0),
  )
  const words = `tracing { otlp "${collector ?? receiver.url}"; header "x-key" collector_key; ${rules} }`
  await gateway.apply(planOf(port, words, upstream.url, trust))
  return { gateway, receiver, upstream, log, metrics, port, url: `http://127.0.0.1:${port}` }
}

/** Ends the gateway, which sends what waits. */
async function spansOf({ gateway, receiver }: { gateway: Gateway; receiver: Receiver }, count: number) {
  await gateway.close(1000)
  await until(() => receiver.spans.length >= count)
  expect(receiver.faults).toEqual([])
  return receiver.spans
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const callerSpan = "00f067aa0ba902b7"
const parent = (flags: string) => `00-${traceId}-${callerSpan}-${flags}`

test("a request has a span, and its attempt at the backend one below it", async () => {
  const running = await start()
  const response = await fetch(`${running.url}/a/orders/7?key=secret`, {
    headers: { "user-agent": "test/1" },
  })
  expect(response.status).toBe(200)
  await response.text()
  const spans = await spansOf(running, 2)
  const server = spans.find(({ kind }) => kind === 2)
  const client = spans.find(({ kind }) => kind === 3)
  expect(server).toMatchObject({ name: "GET /a/orders/{id}", parentSpanId: undefined, flags: 0x101 })
  expect(server?.attributes).toMatchObject({
    ...{ "http.request.method": "GET", "http.route": "/a/orders/{id}", "http.response.status_code": 200 },
    ...{ "url.path": "/a/orders/7", "url.scheme": "http", "user_agent.original": "test/1" },
    ...{ "server.address": "127.0.0.1", "server.port": running.port, "client.address": "127.0.0.1" },
    ...{ "sallyport.request_id": response.headers.get("x-request-id"), "sallyport.api": "a" },
  })
  expect(server?.status).toBeUndefined()
  expect(client).toMatchObject({ name: "GET", parentSpanId: server?.spanId, traceId: server?.traceId })
  expect(client?.attributes).toMatchObject({
    ...{ "server.port": running.upstream.port, "http.response.status_code": 200, "sallyport.backend": "one" },
    "url.full": `${running.upstream.url}/base/orders/7`,
  })
  expect(client?.durationMs).toBeLessThanOrEqual(server?.durationMs ?? 0)
  expect(JSON.stringify(spans)).not.toContain("secret")
  const [seen] = running.upstream.requests
  expect(seen?.headers["traceparent"]).toBe(`00-${server?.traceId}-${client?.spanId}-01`)
  expect(running.receiver.resources[0]).toMatchObject({ "service.name": "edge", "service.version": "1.2.3" })
  expect(running.receiver.headers[0]).toMatchObject({ "x-key": "k1" })
  expect(running.log[0]?.trace).toMatchObject({ traceId: server?.traceId, spanId: server?.spanId })
})

test("a step that waits has a span, with the request that it sends below it", async () => {
  const running = await start()
  await (await fetch(`${running.url}/a/asking`)).text()
  await until(() => running.upstream.requests.length === 3)
  const spans = await spansOf(running, 4)
  const server = spans.find(({ kind }) => kind === 2)
  const step = spans.find(({ name }) => name === "send-request")
  const sent = spans.find(({ attributes }) => attributes["url.full"] === running.upstream.url)
  expect(spans).toHaveLength(4)
  expect(step).toMatchObject({ kind: 1, parentSpanId: server?.spanId, traceId: server?.traceId })
  expect(step?.attributes).toEqual({ "sallyport.step": "send-request" })
  expect(sent).toMatchObject({ kind: 3, name: "GET", parentSpanId: step?.spanId })
  expect(sent?.attributes).toMatchObject({ "http.response.status_code": 200 })
  expect(JSON.stringify(spans)).not.toContain("secret")
  const field = (path: string) =>
    running.upstream.requests.find(({ url }) => url?.startsWith(path))?.headers["traceparent"]
  expect(field("/asked")).toBe(`00-${server?.traceId}-${sent?.spanId}-01`)
  // It is not awaited, so it has no span.
  expect(field("/told")).toBe(`00-${server?.traceId}-${server?.spanId}-01`)
})

describe("the context of the caller", () => {
  test("is continued, with tracestate and baggage", async () => {
    const running = await start()
    const headers = { traceparent: parent("00"), tracestate: "congo=t61rcWkgMzE", baggage: "user=alice" }
    await (await fetch(`${running.url}/a/orders/7`, { headers })).text()
    const spans = await spansOf(running, 2)
    const server = spans.find(({ kind }) => kind === 2)
    expect(server).toMatchObject({
      traceId,
      parentSpanId: callerSpan,
      flags: 0x301,
      traceState: "congo=t61rcWkgMzE",
    })
    const { headers: sent } = running.upstream.requests[0] ?? {}
    expect(sent).toMatchObject({ tracestate: "congo=t61rcWkgMzE", baggage: "user=alice" })
    expect(sent?.["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
  })

  test("is ignored, removed and counted when it is not valid", async () => {
    const running = await start()
    const headers = { traceparent: parent("01").toUpperCase(), tracestate: "a=b", baggage: "no value" }
    await (await fetch(`${running.url}/a/orders/7`, { headers })).text()
    const [span] = await spansOf(running, 2)
    expect(span?.traceId).not.toBe(traceId)
    const { headers: sent } = running.upstream.requests[0] ?? {}
    expect(sent).not.toHaveProperty("tracestate")
    expect(sent).not.toHaveProperty("baggage")
    expect(sent?.["traceparent"]).toContain(span?.traceId)
    const page = running.metrics.render()
    expect(page).toContain('sallyport_trace_fields_invalid_total{field="traceparent"} 1')
    expect(page).toContain('sallyport_trace_fields_invalid_total{field="tracestate"} 0')
    expect(page).toContain('sallyport_trace_fields_invalid_total{field="baggage"} 1')
  })

  test("may have several lines, which are judged and forwarded as one", async () => {
    const running = await start()
    const send = (tracestate: string[], baggage: string[]) =>
      new Promise<void>((resolve, reject) => {
        const headers = { traceparent: parent("00"), tracestate, baggage }
        const sent = request(`${running.url}/a/orders/7`, { headers }, (response) => {
          response.resume().on("end", resolve)
        })
        sent.on("error", reject).end()
      })
    await send(["congo=1", "rojo=2"], ["user=alice", "plan=free"])
    await send(["congo=1", "congo=2"], ["user=alice", "no value"])
    const spans = await spansOf(running, 4)
    const states = spans.filter(({ kind }) => kind === 2).map(({ traceState }) => traceState)
    expect(states).toEqual(["congo=1, rojo=2", undefined])
    const fieldsSent = running.upstream.requests.map(({ rawHeaders }) =>
      rawHeaders.flatMap((name, at) =>
        at % 2 === 0 && /^(?:tracestate|baggage)$/i.test(name) ? [`${name}: ${rawHeaders[at + 1]}`] : [],
      ),
    )
    expect(fieldsSent).toEqual([["tracestate: congo=1, rojo=2", "baggage: user=alice, plan=free"], []])
    const page = running.metrics.render()
    expect(page).toContain('sallyport_trace_fields_invalid_total{field="tracestate"} 1')
    expect(page).toContain('sallyport_trace_fields_invalid_total{field="baggage"} 1')
  })

  test("decides what is sampled if it comes from a trusted network", async () => {
    const running = await start({ rules: "sample 0%", trust: "127.0.0.0/8" })
    for (const flags of ["00", "01"])
      await (await fetch(`${running.url}/a/own`, { headers: { traceparent: parent(flags) } })).text()
    await (await fetch(`${running.url}/a/own`)).text()
    expect(await spansOf(running, 1)).toMatchObject([{ traceId, name: "GET /a/own" }])
  })

  test("does not decide what is sampled if it comes from elsewhere", async () => {
    const running = await start({ rules: "sample 0%" })
    await (await fetch(`${running.url}/a/orders/7`, { headers: { traceparent: parent("01") } })).text()
    await running.gateway.close(1000)
    expect(running.receiver.spans).toEqual([])
    expect(running.upstream.requests[0]?.headers["traceparent"]).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    )
  })
})

describe("rules", () => {
  test("an API has a share of its own", async () => {
    const running = await start({ rules: "sample 0%; sample 100% of b" })
    for (const path of ["/a/own", "/b", "/none"]) await (await fetch(running.url + path)).text()
    expect(await spansOf(running, 1)).toMatchObject([{ name: "GET /b" }])
  })

  test("failed requests are kept, with every attempt", async () => {
    const answer: Answering = (_, response) => response.writeHead(503).end()
    const running = await start({ rules: "sample 0%; always errors", answer })
    for (const path of ["/a/own", "/a/orders/7", "/a/away", "/none"])
      await (await fetch(running.url + path)).text()
    const spans = await spansOf(running, 5)
    const named = spans.map(({ name, status, attributes }) => [
      name,
      status?.message,
      attributes["http.request.resend_count"],
    ])
    expect(named).toEqual([
      ["GET /a/orders/{id}", "503", undefined],
      ["GET", "503", undefined],
      ["GET", "503", 1],
      ["GET /a/away", "bad-gateway", undefined],
      ["GET", "connect-error", undefined],
    ])
    // The decision came after the backend had its requests.
    expect(
      running.upstream.requests.every(({ headers }) => `${headers["traceparent"]}`.endsWith("-00")),
    ).toBe(true)
  })

  test("slow requests are kept", async () => {
    const answer: Answering = (request, response) => {
      setTimeout(() => response.end(), request.url?.endsWith("slow") ? 300 : 0)
    }
    const running = await start({ rules: "sample 0%; always slower 300ms", answer })
    await (await fetch(`${running.url}/a/own`)).text()
    await (await fetch(`${running.url}/a/orders/slow`)).text()
    const spans = await spansOf(running, 2)
    expect(spans.filter(({ attributes }) => attributes["url.path"] === "/a/orders/slow")).toHaveLength(1)
  })

  test("a request that the client leaves is kept as failed", async () => {
    const answer: Answering = (_, response) =>
      response.writeHead(200, { "content-length": 100 }).write("part")
    const running = await start({ rules: "sample 0%; always errors", answer })
    const leaving = new AbortController()
    const response = await fetch(`${running.url}/a/orders/7`, { signal: leaving.signal })
    leaving.abort()
    await response.text().catch(() => undefined)
    await until(() => running.log.length === 1)
    const spans = await spansOf(running, 2)
    expect(spans.map(({ status }) => status?.message)).toEqual(["aborted", "cancelled"])
  })
})

test("a problem names its trace, and so does the log", async () => {
  const running = await start({ rules: "sample 0%" })
  const body = (await (await fetch(`${running.url}/none`)).json()) as { trace_id: string }
  expect(body.trace_id).toMatch(/^[0-9a-f]{32}$/)
  await until(() => running.log.length === 1)
  expect(running.log[0]?.trace?.traceId).toBe(body.trace_id)
})

test("a collector that is away changes no response", async () => {
  const running = await start({ collector: `http://127.0.0.1:${await freePort()}` })
  for (let count = 0; count < 20; count++) expect((await fetch(`${running.url}/a/own`)).status).toBe(200)
  await until(() => running.metrics.render().includes("sallyport_spans_queued 20"))
})

test("a new plan keeps the exporter, and one without tracing sends what waits and forwards the field", async () => {
  const running = await start()
  const { gateway, receiver, upstream, port, url } = running
  await (await fetch(`${url}/a/own`)).text()
  await gateway.apply(planOf(port, "", upstream.url))
  await until(() => receiver.spans.length === 1)
  const headers = { traceparent: "anything", baggage: "no value" }
  await (await fetch(`${url}/a/orders/7`, { headers })).text()
  expect(upstream.requests[0]?.headers).toMatchObject(headers)
  expect(running.log.at(-1)?.trace).toBeUndefined()
})

test.each([
  ["a URL of another scheme", "ftp://collector", "is not a URL with `http:` or `https:`"],
  ["no URL", "collector", "is not a URL"],
])("%s in the environment refuses the plan", async (_, collector, message) => {
  const running = await start()
  const plan = planOf(running.port, 'tracing { otlp "http://collector" }', running.upstream.url)
  const gateway = plan.plan.gateway
  if (gateway === null || gateway.tracing === undefined) throw new Error("no tracing")
  const changed = {
    ...plan,
    plan: { ...plan.plan, gateway: { ...gateway, tracing: { ...gateway.tracing, otlp: collector } } },
  }
  await expect(running.gateway.apply({ ...changed, digest: "sha256:1" })).rejects.toThrow(message)
})
