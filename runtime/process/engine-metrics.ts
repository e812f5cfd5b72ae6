import type { StoreCounts } from "../check/counts.ts"
import type { Engine, StoreState } from "../check/engine.ts"
import type { Merging, Metrics } from "../telemetry/metrics.ts"
import { otherStores, type StoreNames } from "./store-names.ts"

type MeasuredEngine = Pick<Engine, "state" | "stores" | "counts" | "keptHits">

/** Memory and state of the stores of this process, and the engine's work on them, read for each scrape. */
export function addEngineMetrics(metrics: Metrics, engine: MeasuredEngine, names: StoreNames): void {
  addStoreGauges(metrics, engine, names)
  addWorkCounters(metrics, engine, names)
  metrics.gauge(
    "sallyport_engine_memory_bytes",
    "Memory of the tuples of all stores, and of kept results.",
    [],
    () => [[[], engine.state.memoryBytes]],
  )
  metrics.gauge("sallyport_engine_memory_limit_bytes", "The most it may be: `memory` in `authz`.", [], () => [
    [[], engine.state.memoryBytesMax],
  ])
  metrics.observableCounter(
    "sallyport_engine_results_reused_total",
    "Questions that reused the result of an earlier one at the same revision.",
    [],
    () => [[[], engine.keptHits]],
  )
}

function addStoreGauges(metrics: Metrics, engine: MeasuredEngine, names: StoreNames): void {
  const gauge = (
    name: string,
    help: string,
    merging: Merging,
    value: (store: StoreState) => number,
    combined: (a: number, b: number) => number = Math.max,
  ) => {
    const read = () =>
      byLabel(
        engine.stores.map((store) => [names.labelOf(store.storeId), value(store)]),
        combined,
      )
    metrics.gauge(`sallyport_engine_${name}`, help, ["store"], read, merging)
  }
  gauge("store_bytes", "Memory of a store, also while it is being loaded.", "sum", ({ bytes }) => bytes, sum)
  const tuples = "Tuples of a store in memory; of a store in pages those in lists of their objects."
  gauge("tuples", tuples, "max", (store) => store.tuples, sum)
  const behind = "Revisions that are known to exist and that answers do not contain yet."
  gauge("revisions_behind", behind, "max", (store) => store.behind)
  const stale = "Time since the database last confirmed that no newer revision is missing."
  gauge("staleness_seconds", stale, "max", ({ staleMs }) => staleMs / 1000)
  const revision = "Revision of a declared store in memory."
  const readRevisions = () =>
    engine.stores.flatMap((store) => {
      const label = names.labelOf(store.storeId)
      return label === otherStores ? [] : [[[label], store.revision] as const]
    })
  metrics.gauge("sallyport_engine_revision", revision, ["store"], readRevisions, "min")
  const forms = "Stores in memory whole or in pages, and those that are being loaded."
  const readForms = () => {
    const { stores } = engine
    return (["whole", "pages", "loading"] as const).map(
      (form) => [[form], stores.filter((store) => store.form === form).length] as const,
    )
  }
  metrics.gauge("sallyport_engine_stores", forms, ["state"], readForms, "max")
}

function addWorkCounters(metrics: Metrics, engine: MeasuredEngine, names: StoreNames): void {
  const counter = (name: string, help: string, value: (counts: StoreCounts) => number) => {
    const read = () =>
      byLabel(
        [...engine.counts].map(([storeId, counts]) => [labelOf(names, storeId), value(counts)]),
        sum,
      )
    metrics.observableCounter(`sallyport_engine_${name}_total`, help, ["store"], read)
  }
  counter("questions", "Questions that the engine worked on.", ({ questions }) => questions)
  const steps = "Work on questions: visited nodes, read list entries, and 64 for a condition."
  counter("steps", steps, (counts) => counts.steps)
  const suspended = "Questions that took more than one turn: long ones, and those that waited for pages."
  counter("questions_suspended", suspended, (counts) => counts.suspended)
  const used = "Pages that questions used, of stores that are not whole in memory."
  counter("pages_used", used, ({ pagesUsed }) => pagesUsed)
  counter("pages_read", "Pages that questions had to read from the database.", ({ pagesRead }) => pagesRead)
  metrics.observableCounter(
    "sallyport_engine_condition_failures_total",
    "Conditions without a result: a value was missing, or they failed.",
    ["store", "reason"],
    () => {
      const counts = [...engine.counts]
      const of = (reason: string, value: (counts: StoreCounts) => number) =>
        byLabel(
          counts.map(([storeId, each]) => [labelOf(names, storeId), value(each)]),
          sum,
        ).map(([[store = ""], number]) => [[store, reason], number] as const)
      return [
        ...of("missing", ({ conditionsMissing }) => conditionsMissing),
        ...of("error", ({ conditionsFailed }) => conditionsFailed),
      ]
    },
  )
}

/** The store `""` has the counts of many that are not declared. */
const labelOf = (names: StoreNames, storeId: string) => names.labelOf(storeId) || otherStores

const sum = (a: number, b: number) => a + b

function byLabel(
  values: readonly (readonly [label: string, value: number])[],
  combined: (a: number, b: number) => number,
): (readonly [labels: readonly string[], value: number])[] {
  const found = new Map<string, number>()
  for (const [label, value] of values) {
    const known = found.get(label)
    found.set(label, known === undefined ? value : combined(known, value))
  }
  return [...found].map(([label, value]) => [[label], value] as const)
}
