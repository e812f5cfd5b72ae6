import type { RouteCounts, StatusAnswer } from "../control/api.ts"
import { addedCounts, addedNumbers } from "../control/route-counts.ts"
import type { TrafficTotals } from "../control/traffic-history.ts"
import type { OwnStatus } from "../process/control-view.ts"
import type { Exemplar, Merging, MetricFamily } from "../telemetry/metrics.ts"

const merges: Readonly<Record<Merging, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

/** The metrics of several processes as those of one. Families and series keep the order in which they first appear. */
export function mergedMetrics(processes: Iterable<readonly MetricFamily[]>): MetricFamily[] {
  const families = new Map<string, Merged>()
  for (const family of [...processes].flat()) {
    const known = families.get(family.name)
    const samples = known?.samples ?? new Map<string, number>()
    const exemplars = known?.exemplars ?? new Map<string, Exemplar>()
    if (known === undefined) families.set(family.name, { family, samples, exemplars })
    for (const [series, exemplar] of family.exemplars ?? [])
      if ((exemplars.get(series)?.atMs ?? 0) <= exemplar.atMs) exemplars.set(series, exemplar)
    const merge = merges[family.merging]
    for (const [series, value] of family.samples) {
      const before = samples.get(series)
      samples.set(series, before === undefined ? value : merge(before, value))
    }
  }
  return [...families.values()].map(({ family, samples, exemplars }) => ({
    ...family,
    samples: [...samples],
    ...(exemplars.size === 0 ? {} : { exemplars: [...exemplars] }),
  }))
}

/** A family of several processes. Of the exemplars of a series, it has the last one. */
interface Merged {
  readonly family: MetricFamily
  readonly samples: Map<string, number>
  readonly exemplars: Map<string, Exemplar>
}

/** The part of a process' metrics that stays true after its end: what it counted. */
export function countedMetrics(families: readonly MetricFamily[]): MetricFamily[] {
  return families.filter(({ kind }) => kind !== "gauge")
}

/** The counts of routes of several workers as those of one process. */
export function mergedCounts(
  workers: readonly (Readonly<Record<string, RouteCounts>> | undefined)[],
): Record<string, RouteCounts> {
  const sums: Record<string, RouteCounts> = {}
  for (const [key, counts] of workers.flatMap((each) => Object.entries(each ?? {})))
    sums[key] = addedCounts(sums[key], counts)
  return sums
}

/** The traffic of several workers as that of one process; undefined: none has a gateway. */
export function mergedTotals(
  workers: readonly (TrafficTotals | null | undefined)[],
): TrafficTotals | undefined {
  const [first, ...others] = workers.flatMap((each) => each ?? [])
  if (first === undefined) return undefined
  return others.reduce((sum, each) => {
    const refusals = { ...sum.refusals }
    for (const [name, count] of Object.entries(each.refusals)) refusals[name] = (refusals[name] ?? 0) + count
    return {
      requests: addedNumbers(sum.requests, each.requests),
      durations: addedNumbers(sum.durations, each.durations),
      refusals,
      running: sum.running + each.running,
    }
  }, first)
}

/** The status of several workers as that of one process. `own`: the database as the parent sees it. */
export function mergedStatus(own: StatusAnswer["database"], workers: readonly OwnStatus[]): OwnStatus {
  const databases = workers.map(({ database }) => database)
  const { replicas, capabilities } = databases[0] ?? own
  return {
    traffic: mergedTraffic(workers.map(({ traffic }) => traffic)),
    database: { ...own, replicas, capabilities, connections: connectionsOf([own, ...databases]) },
    engine: mergedEngine(workers.map(({ engine }) => engine)),
    warnings: [...new Set(workers.flatMap(({ warnings }) => warnings))],
    issuers: mergedIssuers(workers.flatMap(({ issuers }) => issuers)),
    certificates: [
      ...new Map(
        workers.flatMap(({ certificates }) => certificates).map((each) => [each.name, each]),
      ).values(),
    ],
  }
}

type Issuer = StatusAnswer["issuers"][number]

/** Each issuer of a part once: as the worker sees it that has no keys, or the older ones. */
function mergedIssuers(all: readonly Issuer[]): Issuer[] {
  const merged = new Map<string, Issuer>()
  for (const each of all) {
    const key = `${each.part} ${each.name}`
    const known = merged.get(key)
    const isWorse =
      known === undefined || (known.ready && (!each.ready || (each.ageMs ?? 0) > (known.ageMs ?? 0)))
    if (isWorse) merged.set(key, each)
  }
  return [...merged.values()]
}

type Connections = StatusAnswer["database"]["connections"]

function connectionsOf(databases: readonly StatusAnswer["database"][]): Connections {
  const sumOf = (name: keyof Connections) =>
    databases.reduce((sum, { connections }) => sum + connections[name], 0)
  return { max: sumOf("max"), size: sumOf("size"), inUse: sumOf("inUse"), waiting: sumOf("waiting") }
}

/** Each worker has its own copy of the tuples, so memory is a sum; a store is loaded when the last worker has loaded it. */
function mergedEngine(workers: readonly StatusAnswer["engine"][]): StatusAnswer["engine"] {
  const sumOf = (read: (engine: StatusAnswer["engine"]) => number) =>
    workers.reduce((sum, engine) => sum + read(engine), 0)
  const loading = new Map<string, number | null>()
  for (const { store, part } of workers.flatMap((engine) => engine.loading)) {
    const known = loading.get(store)
    loading.set(store, known === undefined || part === null ? part : known && Math.min(known, part))
  }
  return {
    memoryBytes: sumOf(({ memoryBytes }) => memoryBytes),
    memoryBytesMax: sumOf(({ memoryBytesMax }) => memoryBytesMax),
    whole: Math.max(0, ...workers.map(({ whole }) => whole)),
    paged: Math.max(0, ...workers.map(({ paged }) => paged)),
    loading: [...loading].map(([store, part]) => ({ store, part })),
    stores: mergedStores(workers.flatMap((engine) => engine.stores)),
  }
}

type StoreStatus = StatusAnswer["engine"]["stores"][number]

/** Least held first. */
const forms: readonly StoreStatus["form"][] = ["loading", "pages", "whole"]

/** Each store once: memory is a sum, everything else that of the worker that is worst off. */
function mergedStores(all: readonly StoreStatus[]): StoreStatus[] {
  const merged = new Map<string, StoreStatus>()
  for (const each of all) {
    const known = merged.get(each.store) ?? { ...each, bytes: 0 }
    merged.set(each.store, {
      store: each.store,
      form: worstOf(forms, known.form, each.form),
      revision: Math.min(known.revision, each.revision),
      behind: Math.max(known.behind, each.behind),
      staleMs: Math.max(known.staleMs, each.staleMs),
      tuples: Math.max(known.tuples, each.tuples),
      bytes: known.bytes + each.bytes,
    })
  }
  return [...merged.values()].sort((one, other) => other.bytes - one.bytes)
}

/** The first of two states in an order that begins with the worst. */
function worstOf<State>(order: readonly State[], one: State, other: State): State {
  return order.find((state) => state === one || state === other) ?? one
}

type Traffic = NonNullable<StatusAnswer["traffic"]>
type Target = Traffic["decisionPoints"][string]

/** The traffic of several processes as that of one; null: none of them has a gateway. */
function mergedTraffic(processes: Iterable<StatusAnswer["traffic"]>): StatusAnswer["traffic"] {
  let sum: Traffic | null = null
  for (const traffic of processes) {
    if (traffic === null) continue
    sum = sum === null ? traffic : both(sum, traffic)
  }
  return sum
}

function both(a: Traffic, b: Traffic): Traffic {
  return {
    requests: a.requests + b.requests,
    tunnels: a.tunnels + b.tunnels,
    backends: entriesOf(a.backends, b.backends, sameTargets),
    decisionPoints: entriesOf(a.decisionPoints, b.decisionPoints, sameTarget),
    discoveries: entriesOf(a.discoveries, b.discoveries, (ours, theirs) =>
      ours.reason !== null || theirs.reason === null ? ours : theirs,
    ),
    durations: entriesOf(a.durations, b.durations, addedNumbers),
    bounds: a.bounds,
  }
}

/** Targets of the plan are equal and in the same order; those that were found can differ for a moment. */
function sameTargets(ours: readonly Target[], theirs: readonly Target[]): Target[] {
  const others = theirs.filter(({ origin }) => ours.every((target) => target.origin !== origin))
  const merged = ours.map((target, index) =>
    sameTarget(
      target,
      theirs[index]?.origin === target.origin
        ? theirs[index]
        : theirs.find(({ origin }) => origin === target.origin),
    ),
  )
  return [...merged, ...others]
}

function entriesOf<Value>(
  a: Readonly<Record<string, Value>>,
  b: Readonly<Record<string, Value>>,
  merge: (ours: Value, theirs: Value) => Value,
): Record<string, Value> {
  const merged = Object.entries(a).map(([name, ours]) => {
    const theirs = Object.hasOwn(b, name) ? b[name] : undefined
    return [name, theirs === undefined ? ours : merge(ours, theirs)] as const
  })
  return { ...b, ...Object.fromEntries(merged) }
}

/** Worst first. */
const healths: readonly Target["health"][] = ["down", "unknown", "up"]
const breakers: readonly Target["breaker"][] = ["open", "half-open", "closed", "none"]

/** The worst state that one of two processes sees: a problem of one worker is not hidden by the others. */
function sameTarget(a: Target, b: Target | undefined): Target {
  if (b === undefined || a.origin !== b.origin) return a
  return {
    origin: a.origin,
    health: worstOf(healths, a.health, b.health),
    breaker: worstOf(breakers, a.breaker, b.breaker),
    outstanding: a.outstanding + b.outstanding,
  }
}
