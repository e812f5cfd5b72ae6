import { describe, expect, it } from "vitest"
import { RequestObserver } from "../../runtime/process/request-observer.ts"
import { addTrafficMetrics } from "../../runtime/process/traffic-metrics.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { addProcessMetrics, Metrics } from "../../runtime/telemetry/metrics.ts"

describe("metrics page", () => {
  it("writes counters, histograms and gauges in the text format", () => {
    const metrics = new Metrics()
    const requests = metrics.counter("requests_total", "Requests.\nAll of them.", ["route", "status"])
    requests.series('GET /a"b\\c', "2xx").add()
    requests.series('GET /a"b\\c', "2xx").add(2)
    metrics.histogram("seconds", "Duration.", ["route"], [0.1, 1]).series("r").observe(0.5)
    metrics.gauge("open", "Open.", [], () => [[[], 3]])
    expect(metrics.render()).toBe(
      [
        "# HELP requests_total Requests.\\nAll of them.",
        "# TYPE requests_total counter",
        'requests_total{route="GET /a\\"b\\\\c",status="2xx"} 3',
        "# HELP seconds Duration.",
        "# TYPE seconds histogram",
        'seconds_bucket{route="r",le="0.1"} 0',
        'seconds_bucket{route="r",le="1"} 1',
        'seconds_bucket{route="r",le="+Inf"} 1',
        'seconds_sum{route="r"} 0.5',
        'seconds_count{route="r"} 1',
        "# HELP open Open.",
        "# TYPE open gauge",
        "open 3",
        "",
      ].join("\n"),
    )
  })

  it("puts label values beyond the bound under `other`", () => {
    const metrics = new Metrics()
    const family = metrics.counter("calls_total", "Calls.", ["who"])
    for (let index = 0; index < 5000; index++) family.series(`caller-${index}`).add()
    const lines = metrics
      .render()
      .split("\n")
      .filter((line) => line.startsWith("calls_total"))
    expect(lines).toHaveLength(2001)
    expect(lines).toContain('calls_total{who="other"} 3000')
  })

  it("refuses a second family of the same name", () => {
    const metrics = new Metrics()
    metrics.counter("a_total", "A.")
    expect(() => metrics.counter("a_total", "A.")).toThrow("declared twice")
  })

  it("calls counters what only grows, also when it is read at the time of the page", () => {
    const metrics = new Metrics()
    let stores = 1
    metrics.observableCounter("events_total", "Events.", ["event"], () => [[["store"], stores]])
    stores = 2
    expect(metrics.render()).toBe(
      '# HELP events_total Events.\n# TYPE events_total counter\nevents_total{event="store"} 2\n',
    )
  })

  it("gives each metric of a process the type that its name says", () => {
    const metrics = new Metrics()
    addProcessMetrics(metrics)
    const stats = { hits: 1, misses: 2, stores: 3, evictions: 4, entries: 5, bytes: 6 }
    const limits = { keys: 1, bytes: 2, evicted: 3 }
    const state = {
      running: 0,
      tunnels: 0,
      cache: stats,
      limits,
      decisionPoints: {},
      backends: {},
      discoveries: {},
    }
    addTrafficMetrics(metrics, { state: () => state } as unknown as Parameters<typeof addTrafficMetrics>[1])
    new RequestObserver(metrics, { requests: undefined })
    const types = new Map(
      [...metrics.render().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
        name as string,
        type,
      ]),
    )
    for (const [name, type] of types)
      expect([name, type === "counter"]).toEqual([name, name.endsWith("_total")])
    expect(types.get("process_cpu_seconds_total")).toBe("counter")
    expect(types.get("sallyport_cache_events_total")).toBe("counter")
    expect(types.get("sallyport_cache_entries")).toBe("gauge")
  })

  it("shows the process", () => {
    const metrics = new Metrics()
    addProcessMetrics(metrics)
    expect(metrics.render()).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(metrics.render()).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m)
  })
})

describe("log", () => {
  it("writes JSON with level and time and hides secrets one and two levels deep", () => {
    const lines: string[] = []
    const log = createLog({ stream: { write: (line) => void lines.push(line) } })
    log.info(
      {
        headers: {
          authorization: "Bearer canary",
          "x-api-key": "canary",
          "ocp-apim-subscription-key": "canary",
        },
        token: "canary",
      },
      "seen",
    )
    expect(lines.join("")).not.toContain("canary")
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      level: "info",
      msg: "seen",
      time: expect.stringMatching(/^\d{4}-/),
    })
  })

  it("leaves out lines under its level", () => {
    const lines: string[] = []
    createLog({ level: "warn", stream: { write: (line) => void lines.push(line) } }).info("quiet")
    expect(lines).toEqual([])
  })
})
