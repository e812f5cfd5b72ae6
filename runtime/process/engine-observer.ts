import {
  type ApiObserver,
  type DecidedItem,
  type EndedRequest,
  type EngineOutcome,
  outcomeOfError,
  type RequestOrigin,
} from "../authz/observed.ts"
import { QuestionWork } from "../check/counts.ts"
import type { Counter, Family, Histogram, Metrics } from "../telemetry/metrics.ts"
import type { RequestTrace } from "../tracing/request-trace.ts"
import { addReads } from "../tracing/tuple-spans.ts"
import type { EngineLog } from "./engine-log.ts"
import type { StoreNames } from "./store-names.ts"

/** Upper bounds in seconds: most checks take some ten microseconds. */
const engineBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Methods with a single check. */
const checkMethods: ReadonlySet<string> = new Set(["Check", "Evaluation", "Require"])
/** Ends of a request that decided nothing, and that no limit ended either. */
const noDecision: ReadonlySet<EngineOutcome> = new Set(["ok", "invalid", "refused", "cancelled"])

/** The series of one method and one store, looked up once: building labels takes longer than counting. */
interface MethodSeries {
  readonly duration: Histogram
  readonly byOutcome: Partial<Record<EngineOutcome, Counter>>
}

/** Writes lines for requests; those for decisions are optional. */
type RequestLines = Pick<EngineLog, "ended"> & Partial<Pick<EngineLog, "decided">>

interface StoreSeries {
  readonly label: string
  readonly methods: Map<string, MethodSeries>
  readonly decisions: Partial<Record<EngineOutcome, Counter>>
}

/** A question of the gateway; the trace of its request gets what the engine reads. */
interface AskedQuestion extends Pick<EndedRequest, "method" | "store" | "question" | "origin"> {
  readonly trace?: RequestTrace | undefined
}

/** Counts the requests to the engine's API, and the questions of the gateway. Labels are names of plans and fixed words. */
export class EngineObserver implements ApiObserver {
  readonly #names: StoreNames
  readonly #requests: Family<Counter>
  readonly #durations: Family<Histogram>
  readonly #decisions: Family<Counter>
  readonly #stores = new Map<string, StoreSeries>()
  readonly #log: RequestLines | undefined

  /** `log` gets every request and decision; undefined: none is logged. */
  constructor(metrics: Metrics, names: StoreNames, log?: RequestLines) {
    this.#names = names
    this.#log = log
    this.#requests = metrics.counter(
      "sallyport_engine_requests_total",
      "Requests to the engine, and questions of the gateway, by method and outcome.",
      ["method", "store", "outcome"],
    )
    this.#durations = metrics.histogram(
      "sallyport_engine_request_duration_seconds",
      "Time from the head of a request to the engine until its response.",
      ["method", "store"],
      engineBounds,
    )
    this.#decisions = metrics.counter(
      "sallyport_engine_decisions_total",
      "Results of checks, also of those in batches.",
      ["store", "decision"],
    )
  }

  ended(request: EndedRequest): void {
    const { method, outcome, durationMs, trace } = request
    const store = this.#storeOf(request.store)
    const series = store.methods.get(method) ?? this.#methodOf(store, method)
    let counter = series.byOutcome[outcome]
    if (counter === undefined) {
      counter = this.#requests.series(method, store.label, outcome)
      series.byOutcome[outcome] = counter
    }
    counter.add()
    if (durationMs !== undefined)
      series.duration.observe(durationMs / 1000, trace?.sampled === true ? trace : undefined)
    if (checkMethods.has(method)) this.#decide(store, outcome)
    this.#log?.ended(request, store.label)
  }

  decided(store: string, items: readonly DecidedItem[], origin?: RequestOrigin): void {
    const series = this.#storeOf(store)
    for (const { outcome } of items) this.#decide(series, outcome)
    this.#log?.decided?.(series.label, items, origin)
  }

  /** Observes a question that the gateway asks in this process. `store` is its declared name, `read` tells the outcome of an answer. */
  asked<Answer extends { readonly revision: number }>(
    { method, store, question, trace, origin }: AskedQuestion,
    ask: (work: QuestionWork) => Answer | Promise<Answer>,
    read: (answer: Answer) => EngineOutcome,
  ): Answer | Promise<Answer> {
    const startedMs = performance.now()
    const work = new QuestionWork()
    const asker = trace?.open
    if (trace?.recording === true) work.reads = []
    const end = (outcome: EngineOutcome, revision?: number) => {
      if (trace !== undefined) addReads(trace, asker, work.reads)
      this.ended({
        ...{ method, store, outcome, durationMs: performance.now() - startedMs, work, question, trace },
        ...{ origin, revision },
      })
    }
    const ended = (answer: Answer): Answer => {
      end(read(answer), answer.revision)
      return answer
    }
    const failed = (error: unknown): never => {
      end(outcomeOfError(error))
      throw error
    }
    let answer: Answer | Promise<Answer>
    try {
      answer = ask(work)
    } catch (error) {
      return failed(error)
    }
    return answer instanceof Promise ? answer.then(ended, failed) : ended(answer)
  }

  #decide({ label, decisions }: StoreSeries, outcome: EngineOutcome): void {
    if (noDecision.has(outcome)) return
    let counter = decisions[outcome]
    if (counter === undefined) {
      counter = this.#decisions.series(label, outcome)
      decisions[outcome] = counter
    }
    counter.add()
  }

  #storeOf(store: string): StoreSeries {
    const label = this.#names.labelOf(store)
    let series = this.#stores.get(label)
    if (series === undefined) {
      series = { label, methods: new Map(), decisions: {} }
      this.#stores.set(label, series)
    }
    return series
  }

  #methodOf({ label, methods }: StoreSeries, method: string): MethodSeries {
    const series = { duration: this.#durations.series(method, label), byOutcome: {} }
    methods.set(method, series)
    return series
  }
}
