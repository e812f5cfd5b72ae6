import { expect, test } from "vitest"
import type { StatusAnswer } from "../../runtime/control/api.ts"
import { Metrics, metricsPage } from "../../runtime/telemetry/metrics.ts"
import { mergedMetrics, mergedStatus } from "../../runtime/workers/sums.ts"

type Engine = StatusAnswer["engine"]

const database: StatusAnswer["database"] = {
  ...{ kind: "postgres", server: null, replicas: [], capabilities: [] },
  connections: { max: 1, size: 1, inUse: 0, waiting: 0 },
}
const store = {
  store: "acme",
  form: "whole",
  revision: 7,
  behind: 0,
  staleMs: 100,
  tuples: 50,
  bytes: 900,
} as const
const engineOf = (...stores: Engine["stores"]): Engine => ({
  ...{ memoryBytes: 1_000, memoryBytesMax: 2_000, whole: 1, paged: 0, loading: [] },
  stores,
})

test("a store of several workers has the sum of their memory, and the state of the worst one", () => {
  const engines = [
    engineOf(store),
    engineOf(
      { ...store, form: "pages", revision: 6, behind: 1, staleMs: 300, tuples: 20, bytes: 400 },
      { ...store, store: "other", bytes: 5_000 },
    ),
  ]
  const workers = engines.map((engine) => ({
    traffic: null,
    database,
    engine,
    warnings: [],
    issuers: [],
    certificates: [],
  }))
  expect(mergedStatus(database, workers).engine.stores).toEqual([
    { ...store, store: "other", bytes: 5_000 },
    { store: "acme", form: "pages", revision: 6, behind: 1, staleMs: 300, tuples: 50, bytes: 1_300 },
  ])
  expect(mergedStatus(database, []).engine.stores).toEqual([])
})

test("traffic of several workers is added, and an issuer is as the worker sees it that knows least", () => {
  const issuer = (name: string, ageMs: number) => ({
    ...{ name, part: "gateway" as const, ready: true, ageMs, reason: null },
    keys: [{ id: "a", algorithms: ["RS256"] }],
  })
  const away = { ...issuer("gone", 0), ready: false, keys: [], ageMs: null, reason: "connection refused" }
  const certificate = (name: string) => ({ name, hosts: ["api.example"], notAfter: "2027-01-02T03:04:05Z" })
  const worker = (issuers: StatusAnswer["issuers"], counts: number[], name: string) => ({
    ...{ database, engine: engineOf(), warnings: [], issuers, certificates: [certificate(name)] },
    traffic: {
      ...{ requests: 1, tunnels: 0, backends: {}, decisionPoints: {}, discoveries: {} },
      ...{ durations: { orders: counts }, bounds: [0.1] },
    },
  })
  const { traffic, issuers, certificates } = mergedStatus(database, [
    worker([issuer("acme", 10), issuer("old", 10), away], [1, 2], "edge.pem"),
    worker([issuer("acme", 10), issuer("old", 99), issuer("gone", 5)], [3, 4], "edge.pem"),
  ])
  expect(traffic).toMatchObject({ requests: 2, durations: { orders: [4, 6] }, bounds: [0.1] })
  expect(issuers).toEqual([issuer("acme", 10), issuer("old", 99), away])
  expect(certificates).toEqual([certificate("edge.pem")])
})

test("metrics of several workers are added, or show the worst one", () => {
  const worker = (calls: number, staleness: number) => {
    const metrics = new Metrics()
    metrics.counter("calls_total", "Calls.", ["store"]).series("acme").add(calls)
    metrics.histogram("took_seconds", "Took.", [], [1]).series().observe(calls)
    metrics.gauge("staleness_seconds", "Staleness.", [], () => [[[], staleness]], "max")
    return metrics.read()
  }
  const page = metricsPage(mergedMetrics([worker(1, 0.5), worker(2, 0.25)]))
  expect(page).toContain('calls_total{store="acme"} 3\n')
  expect(page).toContain('took_seconds_bucket{le="1"} 1\n')
  expect(page).toContain("took_seconds_count 2\n")
  expect(page).toContain("staleness_seconds 0.5\n")
})
