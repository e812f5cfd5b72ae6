import { expect, test } from "vitest"
import { RequestObserver } from "../../runtime/process/request-observer.ts"
import { addTrafficMetrics } from "../../runtime/process/traffic-metrics.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { startGateway, startUpstream } from "../gateway/harness.ts"
import type { StepDraft } from "../gateway/plan-builder.ts"
import { until } from "../support/until.ts"

const refusal: StepDraft = {
  kind: "check-header",
  name: "x-pass",
  values: [],
  ignoreCase: false,
  status: 403,
}

test("the access log names who answered and where it stands; metrics count it by kind, with targets beside", async () => {
  const upstream = await startUpstream()
  const lines: Record<string, unknown>[] = []
  const log = createLog({ level: "debug", stream: { write: (line) => void lines.push(JSON.parse(line)) } })
  const metrics = new Metrics()
  const observer = new RequestObserver(metrics, { requests: log, traces: log })
  const running = await startGateway(
    {
      backends: { b: upstream.url },
      routes: [
        {
          path: "/a",
          backend: "b",
          inbound: [
            refusal,
            { kind: "trace", source: "s", severity: "information", message: "seen", metadata: [] },
            {
              ...{ kind: "send-request", mode: "new", url: upstream.url, headers: [], media: null },
              ...{ timeoutSeconds: 5, variable: "asked", ignoreError: false, wait: true },
            },
            { kind: "cache-get", key: "k", variable: "v", default: "none" },
            { kind: "cache-set", key: "k", value: "1", seconds: 60 },
            { kind: "metric", name: "orders", value: 2, labels: [{ name: "who", value: "ann" }] },
          ],
        },
      ],
      origins: { "routes.GET /a.inbound.0": "gateway.conf:7" },
    },
    { observer },
  )
  addTrafficMetrics(metrics, running.gateway)
  const get = (headers: Record<string, string>) =>
    fetch(`${running.url}/a`, { headers }).then((it) => it.text())
  await get({})
  await get({ "x-pass": "1" })
  await until(() => lines.filter((line) => "status" in line).length === 2)
  const [refused, passed] = lines.filter((line) => "status" in line)
  expect(refused).toMatchObject({
    ...{ status: 403, answered_by: { step: "check-header", place: "gateway.conf:7" } },
  })
  expect(passed).toMatchObject({ status: 200, backend: "b" })
  expect(passed).not.toHaveProperty("answered_by")
  expect(lines.find(({ source }) => source === "s")).toMatchObject({ msg: "seen", level: "info" })
  const page = metrics.render()
  expect(page).toMatch(/^sallyport_step_answers_total\{api="\w+",step="check-header"\} 1$/m)
  expect(page).toMatch(/^sallyport_step_wait_seconds_count\{step="send-request"\} 1$/m)
  expect(page).not.toContain('sallyport_step_wait_seconds_count{step="check-header"}')
  expect(page).toContain('author_orders_total{who="ann"} 2')
  expect(page).toContain(`sallyport_target_up{backend="b",target="${upstream.url}"} 1`)
  expect(page).toContain(`sallyport_target_breaker{backend="b",target="${upstream.url}"} 0`)
  expect(page).toContain("sallyport_tunnels_open 0")
  expect(page).toContain("sallyport_cache_entries 1")
  expect(page).toContain('sallyport_cache_events_total{event="miss"} 1')
  expect(page).toContain('sallyport_cache_events_total{event="store"} 1')
  await running.close()
  await upstream.close()
})

test("the access log names backends and hosts that a request decided", async () => {
  const upstream = await startUpstream()
  const lines: Record<string, unknown>[] = []
  const log = createLog({ level: "info", stream: { write: (line) => void lines.push(JSON.parse(line)) } })
  const word = (text: string) => ({ expression: { lang: "cel", text, type: "string" } }) as const
  const url = { text: [`${upstream.url}/`, word('request.query("shard")')] }
  const running = await startGateway(
    {
      backends: { b: upstream.url },
      routes: [
        { path: "/own", backend: "b", inbound: [] },
        {
          path: "/decided",
          backend: "b",
          inbound: [
            { kind: "set-backend", target: { url, raw: false } },
            { kind: "set-host", host: { text: [word('request.query("shard")'), ".shards.example"] } },
          ],
        },
        { path: "/refused", backend: "b", inbound: [{ kind: "set-host", host: "h.example" }, refusal] },
      ],
    },
    { observer: new RequestObserver(new Metrics(), { requests: log }) },
  )
  for (const path of ["/own", "/decided?shard=s7", "/refused"])
    await fetch(running.url + path).then((it) => it.text())
  await until(() => lines.length === 3)
  expect(lines[0]).toMatchObject({ backend: "b", target: upstream.url })
  expect(lines[0]).not.toHaveProperty("upstream_host")
  expect(lines[1]).toMatchObject({
    ...{ backend: upstream.url, target: upstream.url, upstream_host: "s7.shards.example" },
  })
  expect(lines[2]).toMatchObject({ status: 403 })
  expect(lines[2]).not.toHaveProperty("upstream_host")
  expect(upstream.requests.map(({ url: path, headers }) => [path, headers.host])).toEqual([
    ["/own", new URL(upstream.url).host],
    ["/s7/decided?shard=s7", "s7.shards.example"],
  ])
  await running.close()
  await upstream.close()
})

test("what authors count is bounded, in names and in series, and has labels of its own", () => {
  const metrics = new Metrics()
  const observer = new RequestObserver(metrics, { requests: undefined })
  for (let at = 0; at < 1_500; at += 1) observer.counted("many", { who: `caller-${at}` }, 1)
  observer.counted("many", { other_label: "x" }, 5)
  for (let at = 0; at < 300; at += 1) observer.counted(`name_${at}`, {}, 1)
  const lines = metrics.render().split("\n")
  expect(lines.filter((line) => line.startsWith("author_many_total{"))).toHaveLength(1_001)
  expect(lines).toContain('author_many_total{who="other"} 505')
  expect(lines.filter((line) => /^author_name_\d+_total /.test(line))).toHaveLength(199)
  expect(lines).toContain("author_other_total 101")
})
