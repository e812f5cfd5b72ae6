import { afterEvents } from "#platform"
import { memoryBytesDefault } from "../plan/authz.ts"
import { type QuestionWork, StoreCounts } from "./counts.ts"
import { Evaluation, type EvaluationOptions } from "./evaluate/evaluation.ts"
import { readRequest } from "./evaluate/request.ts"
import { explain } from "./explain.ts"
import type { LoadedModel } from "./loaded-model.ts"
import {
  type CheckAnswer,
  CheckError,
  type CheckRequest,
  type Commit,
  type TupleChange,
  type TupleSource,
} from "./ports.ts"
import type { Freshness } from "./questions.ts"
import { Kept } from "./stores/kept.ts"
import { Memory } from "./stores/memory.ts"
import { Poll } from "./stores/poll.ts"
import {
  countEnd,
  pastDeadline,
  RunQueue,
  type RunSettings,
  unreadable,
  type WorkTarget,
} from "./stores/run-queue.ts"
import { StoreGraph } from "./stores/store-graph.ts"
import type { EngineWork, Progress, View } from "./work.ts"

/** All have defaults suitable for production. */
export interface EngineOptions {
  /** Maximum chain of usersets and `from` before a check is "too complex" (default: 25, as in OpenFGA); `Infinity`: no limit. */
  readonly depthMax?: number | undefined
  /**
   * Maximum work of one check in steps (a visited node, a read list element, 1/64 of a condition). Default: 5,000,000, which is a second or
   * two. More is `authorization_model_resolution_too_complex`. It also bounds the memory of a check.
   */
  readonly stepsMax?: number | undefined
  /** After this many steps, plain reachability is searched from both ends instead of walked (default: 256). */
  readonly walkSteps?: number | undefined
  /** Steps between two readings of the clock (default: 128). */
  readonly stepsPerLook?: number | undefined
  /** Maximum steps of all suspended checks together; beyond it the largest fails with `resource_exhausted` (default: 20,000,000). */
  readonly stepsTogetherMax?: number | undefined
  /** A check that takes longer fails with `deadline_exceeded` (default: 3,000 ms). */
  readonly deadlineMs?: number | undefined
  /** Interval of polls for other processes' changes in milliseconds (default: 500); 0: never. */
  readonly pollMs?: number | undefined
  /** Checks fail with `unavailable` after this many milliseconds without a confirmed contact with the source (default: no maximum). */
  readonly maxStalenessMs?: number | undefined
  /** Maximum number of graphs in memory (default: 1,000); a graph that was not used recently is dropped. */
  readonly storesMax?: number | undefined
  /**
   * Maximum bytes of all graphs together (default: 512 MB). Stores that fit are held whole, others as pages; the least used pages are
   * evicted.
   */
  readonly memoryBytes?: number | undefined
  /** Holds no store whole, however small it is. */
  readonly paged?: boolean | undefined
  /** How long a question waits for a whole load before it is answered from pages (default: 20 ms). */
  readonly coldMs?: number | undefined
  /** Milliseconds of a monotonic clock. */
  readonly now?: (() => number) | undefined
  /** Called when the database lost a commit that this process has read or written; its newest commit is `found`. */
  readonly onHistoryLost?: ((storeId: string, held: Commit, found: Commit) => void) | undefined
}

/** Where the stores' tuples are. Memory is in bytes, at most `memoryBytesMax`. */
export interface EngineState {
  readonly memoryBytes: number
  readonly memoryBytesMax: number
  /** Number of stores in memory whole, and of those held in pages. */
  readonly whole: number
  readonly paged: number
  /** Stores that are being loaded whole; `part` of it was read, from 0 to 1, if that is known. */
  readonly loading: readonly { readonly storeId: string; readonly part: number | undefined }[]
}

/**
 * One store in memory. `tuples` counts those in memory, `bytes` also data that is being loaded. `behind`: revisions that are known to
 * exist and that answers do not contain yet. `staleMs`: since the database last confirmed that nothing newer is missing.
 */
export interface StoreState {
  readonly storeId: string
  readonly form: "whole" | "pages" | "loading"
  readonly loadedPart: number | undefined
  readonly revision: number
  readonly behind: number
  readonly staleMs: number
  readonly tuples: number
  readonly bytes: number
}

/** The plan's limits of the engine. */
export interface EngineBounds {
  readonly depthMax: number
  readonly deadlineMs: number
  readonly memoryBytes: number
}

interface Settings extends RunSettings, EvaluationOptions {
  readonly deadlineMs: number
  readonly pollMs: number
  readonly storesMax: number
  readonly paged: boolean
  readonly coldMs: number
  readonly onHistoryLost: (storeId: string, held: Commit, found: Commit) => void
}

const idleEvaluationsMax = 16
/** Stores whose work is counted apart, as a multiple of `storesMax`; beyond it, those that are not in memory are counted together. */
const countedFactor = 10

/**
 * Answers checks from graphs in memory, one per store. A graph is loaded at the first question and kept up to date. One engine serves all
 * stores and models of a process. Call `close` at the end.
 */
export class Engine {
  /** A new plan may change it. */
  maxStalenessMs: number | undefined
  readonly #source: TupleSource
  readonly #settings: Settings & { depthMax: number; deadlineMs: number }
  readonly #stores = new Map<string, StoreGraph>()
  readonly #counts = new Map<string, StoreCounts>()
  readonly #queue: RunQueue
  readonly #memory: Memory
  readonly #kept: Kept
  readonly #idle: Evaluation[] = []
  readonly #poll: Poll
  #stopListening: (() => void) | undefined
  #closed = false

  constructor(source: TupleSource, options: EngineOptions = {}) {
    this.#source = source
    this.maxStalenessMs = options.maxStalenessMs
    this.#settings = {
      depthMax: options.depthMax ?? 25,
      // Only a question for missing values may decide a condition without some of its values.
      partialConditions: false,
      stepsMax: options.stepsMax ?? 5_000_000,
      stepsTogetherMax: options.stepsTogetherMax ?? 20_000_000,
      walkSteps: options.walkSteps ?? 256,
      stepsPerLook: options.stepsPerLook ?? 128,
      deadlineMs: options.deadlineMs ?? 3_000,
      pollMs: options.pollMs ?? 500,
      storesMax: options.storesMax ?? 1_000,
      now: options.now ?? (() => performance.now()),
      paged: options.paged ?? false,
      coldMs: options.coldMs ?? 20,
      onHistoryLost: options.onHistoryLost ?? (() => undefined),
    }
    this.#memory = new Memory(options.memoryBytes ?? memoryBytesDefault, this.#settings.now)
    this.#kept = new Kept(this.#memory)
    this.#queue = new RunQueue(this.#settings)
    this.#poll = new Poll(this.#stores, this.#settings)
  }

  /**
   * May the user have the relation on the object? Synchronous (no promise) when the store's graph is in memory and the check is decided
   * within a few milliseconds, which is the usual case. `counted` gets the work on it.
   * @throws CheckError, or rejects with it: an error never allows
   */
  check(
    storeId: string,
    model: LoadedModel,
    request: CheckRequest,
    counted?: QuestionWork,
  ): CheckAnswer | Promise<CheckAnswer> {
    if (request.explain === true || request.ternary === true)
      return this.ask(storeId, explain(model, request, this.#settings), request, counted)
    const store = this.#stores.get(storeId)
    if (store === undefined || !isFresh(store, request))
      return this.#reached(storeId, request, {}, (place) => this.#evaluate(place, model, request, counted))
    store.used = true
    this.#requireContact(store)
    return this.#evaluate(store, model, request, counted)
  }

  /**
   * Answers any other kind of question; synchronous when possible, like a check. `counted` gets the work on it.
   * @throws CheckError, or rejects with it
   */
  ask<Answer>(
    storeId: string,
    work: EngineWork<Answer>,
    freshness: Freshness = {},
    counted?: QuestionWork,
  ): Answer | Promise<Answer> {
    const store = this.#stores.get(storeId)
    if (store === undefined || !isFresh(store, freshness))
      return this.#reached(storeId, freshness, work, (place) => this.#run(place, work, counted))
    store.used = true
    this.#requireContact(store)
    return this.#run(store, work, counted)
  }

  /** Changes the limits of depth, time and memory. A new plan calls it; the limits apply to later questions. */
  bound({ depthMax, deadlineMs, memoryBytes }: EngineBounds): void {
    this.#settings.depthMax = depthMax
    this.#settings.deadlineMs = deadlineMs
    if (this.#memory.limit === memoryBytes) return
    this.#memory.limit = memoryBytes
    for (const store of this.#stores.values()) if (!this.#memory.makeRoom(store)) store.giveWay()
  }

  /** The limits of work on a question: the engine's settings. */
  get bounds(): EvaluationOptions {
    return this.#settings
  }

  /** Bytes of all graphs. */
  get memoryBytes(): number {
    return this.#memory.total
  }

  /** For status: counts the stores. */
  get state(): EngineState {
    const stores = [...this.#stores]
    const ready = stores.filter(([, store]) => store.ready)
    return {
      memoryBytes: this.#memory.total,
      memoryBytesMax: this.#memory.limit,
      whole: ready.filter(([, { graph }]) => graph.pages === undefined).length,
      paged: ready.filter(([, { graph }]) => graph.pages !== undefined).length,
      loading: stores.flatMap(([storeId, { isLoading, loadedPart }]) =>
        isLoading ? [{ storeId, part: loadedPart }] : [],
      ),
    }
  }

  /** The stores in memory, with their current state. */
  get stores(): StoreState[] {
    const now = this.#settings.now()
    return [...this.#stores].map(([storeId, store]) => ({
      storeId,
      form: !store.ready ? "loading" : store.graph.pages === undefined ? "whole" : "pages",
      loadedPart: store.isLoading ? store.loadedPart : undefined,
      revision: store.graph.revision,
      behind: store.behind,
      staleMs: store.ready ? Math.max(0, now - store.contactMs) : 0,
      tuples: store.graph.tuples,
      bytes: store.bytes,
    }))
  }

  /** The work on each store since the process started, also of stores that are no longer in memory. */
  get counts(): ReadonlyMap<string, StoreCounts> {
    return this.#counts
  }

  /** How often a question reused the kept result of an earlier question at the same revision. */
  get keptHits(): number {
    return this.#kept.hits
  }

  /** The store's revision as this process knows it; undefined while its graph is not in memory. */
  revision(storeId: string): number | undefined {
    const store = this.#stores.get(storeId)
    return store?.ready === true ? store.graph.revision : undefined
  }

  /** Applies the changes of a committed write of this process, so that the next check sees them. */
  applied(storeId: string, changes: readonly TupleChange[]): void {
    this.#stores.get(storeId)?.applied(changes)
  }

  /** Forgets the graph of a deleted store. Checks in progress end with what they saw. */
  dropped(storeId: string): void {
    this.#stores.get(storeId)?.forget()
    this.#stores.delete(storeId)
  }

  /**
   * Loads a store's graph before the first question. Resolves when it is whole in memory, or does not fit.
   * @throws CheckError `unavailable`
   */
  async warm(storeId: string): Promise<void> {
    await this.#reach(() => this.#storeOf(storeId).loaded())
  }

  /**
   * Reads what a store in memory lacks, as a question with higher consistency does. A store that is not in memory is read at its first question.
   * @throws CheckError `unavailable`
   */
  async catchUp(storeId: string): Promise<void> {
    const store = this.#stores.get(storeId)
    if (store !== undefined) await this.#reach(() => store.refresh())
  }

  /** Stops polling the source. Checks in progress still end. */
  close(): void {
    this.#closed = true
    this.#poll.close()
    this.#stopListening?.()
  }

  #run<Answer>(
    place: WorkTarget,
    work: EngineWork<Answer>,
    counted: QuestionWork | undefined,
  ): Answer | Promise<Answer> {
    const { view } = place
    const { pages } = view.graph
    const pins = pages?.newPins()
    let kept = false
    try {
      pages?.record(pins)
      work.begin(view)
      const progress = this.#queue.runOnce(work)
      if (progress.kind === "done") return work.answer(view.at)
      kept = true
      return this.#queue.finish(work, place, { pins, progress, counted }).finally(() => work.release())
    } finally {
      pages?.record(undefined)
      if (!kept) {
        countEnd(place.store.counts, work.steps, pins, counted)
        if (pins !== undefined) pages?.unpin(pins)
        work.release()
      }
    }
  }

  /**
   * The same for a check. It creates no work object until the check turns out to take longer, because this path runs a million times a
   * second.
   */
  #evaluate(
    place: WorkTarget,
    model: LoadedModel,
    request: CheckRequest,
    counted: QuestionWork | undefined,
  ): CheckAnswer | Promise<CheckAnswer> {
    const { view } = place
    const evaluation = this.#idle.pop() ?? new Evaluation()
    const { pages } = view.graph
    const pins = pages?.newPins()
    let kept = false
    let begun = false
    try {
      pages?.record(pins)
      evaluation.begin(readRequest(view, model, request), this.#settings)
      begun = true
      const progress = this.#queue.runOnce(evaluation)
      if (progress.kind === "done") return evaluation.answer(view.at)
      kept = true
      const work = new CheckWork(evaluation, model, request, this.#settings)
      return this.#queue
        .finish(work, place, { pins, progress, counted })
        .finally(() => this.#release(evaluation))
    } finally {
      pages?.record(undefined)
      if (!kept) {
        // Evaluations are reused: if the request does not fit the model, this one still has the steps of an earlier request.
        countEnd(place.store.counts, begun ? evaluation.question.steps : 0, pins, counted)
        if (pins !== undefined) pages?.unpin(pins)
        this.#release(evaluation)
      }
    }
  }

  #release(evaluation: Evaluation): void {
    evaluation.release()
    if (this.#idle.length < idleEvaluationsMax) this.#idle.push(evaluation)
  }

  /** Asks when the store is loaded and as fresh as requested. Loading continues for later questions when this one reaches its deadline. */
  #reached<Answer>(
    storeId: string,
    freshness: Freshness,
    work: Pick<EngineWork<Answer>, "deadlineMs">,
    ask: (place: WorkTarget) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const deadline = this.#queue.deadlineOf(work)
      let late = false
      const timer = this.#queue.expireAt(deadline, () => {
        late = true
        reject(pastDeadline())
      })
      this.#whenReached(storeId, freshness, (place) => {
        clearTimeout(timer)
        if (late) throw pastDeadline()
        return ask({ ...place, deadline })
      })
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }

  async #whenReached<Answer>(
    storeId: string,
    freshness: Freshness,
    ask: (place: WorkTarget) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const store = this.#storeOf(storeId)
    await this.#reach(() => store.load())
    const { consistency, exactly, atLeast } = freshness
    if (exactly !== undefined) return this.#askPast(store, exactly, ask)
    if (consistency === "higher-consistency" || (atLeast !== undefined && store.includes(atLeast) !== true)) {
      await this.#reach(() => store.refresh())
      if (atLeast !== undefined) await this.#reach(() => store.require(atLeast))
    }
    if (!store.isCurrent) await this.#reach(() => store.caughtUp())
    store.used = true
    this.#requireContact(store)
    return ask({ store, view: store.view, exactly })
  }

  async #askPast<Answer>(
    store: StoreGraph,
    exactly: Commit,
    ask: (place: WorkTarget) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const view = await this.#reach(() => store.at(exactly))
    try {
      store.used = true
      this.#requireContact(store)
      return await ask({ store, view, exactly })
    } finally {
      store.leave(view)
    }
  }

  #storeOf(storeId: string): StoreGraph {
    const known = this.#stores.get(storeId)
    if (known !== undefined) return known
    const made: StoreGraph = new StoreGraph({
      source: this.#source,
      storeId,
      paged: this.#settings.paged,
      coldMs: this.#settings.coldMs,
      memory: this.#memory,
      kept: this.#kept,
      counts: this.#countsOf(storeId),
      now: this.#settings.now,
      turn: () => new Promise((resolve) => afterEvents(resolve)),
      isBusy: () => this.#queue.isBusy,
      onQueued: () => this.#queue.flushSoon(made),
      onReplaced: () => this.#queue.replaced(made),
      onLost: (held, found) => this.#settings.onHistoryLost(storeId, held, found),
    })
    if (this.#stores.size >= this.#settings.storesMax) this.#makeRoom()
    this.#stores.set(storeId, made)
    this.#poll.soon()
    this.#listen()
    return made
  }

  /** The same object when the store was in memory before, so that its numbers only grow. */
  #countsOf(storeId: string): StoreCounts {
    const known = this.#counts.get(storeId)
    if (known !== undefined) return known
    if (this.#counts.size >= countedFactor * this.#settings.storesMax) this.#foldCounts()
    const made = new StoreCounts()
    this.#counts.set(storeId, made)
    return made
  }

  /** Adds the counts of stores that are not in memory to those of the store `""`. */
  #foldCounts(): void {
    const folded = this.#counts.get("") ?? new StoreCounts()
    for (const [storeId, counts] of this.#counts) {
      if (storeId === "" || this.#stores.has(storeId)) continue
      for (const name of Object.keys(counts) as (keyof StoreCounts)[]) folded[name] += counts[name]
      this.#counts.delete(storeId)
    }
    this.#counts.set("", folded)
  }

  /** Drops a graph: the first in the queue that was not used since it was last at the front. */
  #makeRoom(): void {
    for (const [storeId, store] of this.#stores) {
      this.#stores.delete(storeId)
      if (!store.used) {
        store.forget()
        return
      }
      store.used = false
      this.#stores.set(storeId, store)
    }
  }

  /** Fails closed when the source has not replied for too long. */
  #requireContact(store: StoreGraph): void {
    const bound = this.maxStalenessMs
    if (bound === undefined || this.#settings.now() - store.contactMs <= bound) return
    throw new CheckError(
      "unavailable",
      "the authorization data may be out of date: the database does not respond",
    )
  }

  async #reach<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      throw error instanceof CheckError ? error : unreadable(error)
    }
  }

  /** Listens to other processes' notices of writes. */
  #listen(): void {
    if (this.#closed) return
    this.#stopListening ??= this.#source.listen?.((storeId) => this.#stores.get(storeId)?.hint())
  }
}

/** Whether the graph in memory may answer as it is. */
function isFresh(store: StoreGraph, { consistency, atLeast, exactly }: Freshness): boolean {
  return (
    store.isCurrent &&
    consistency !== "higher-consistency" &&
    (atLeast === undefined || store.includes(atLeast) === true) &&
    exactly === undefined
  )
}

/** A check that takes longer than its first slice. */
class CheckWork implements EngineWork<CheckAnswer> {
  readonly #evaluation: Evaluation
  readonly #model: LoadedModel
  readonly #request: CheckRequest
  readonly #limits: EvaluationOptions

  constructor(evaluation: Evaluation, model: LoadedModel, request: CheckRequest, limits: EvaluationOptions) {
    this.#evaluation = evaluation
    this.#model = model
    this.#request = request
    this.#limits = limits
  }

  get steps(): number {
    return this.#evaluation.question.steps
  }

  begin(view: View): void {
    this.#evaluation.begin(readRequest(view, this.#model, this.#request), this.#limits)
  }

  run(isLate: () => boolean): Progress {
    return this.#evaluation.run(isLate)
  }

  answer(at: Commit): CheckAnswer {
    return this.#evaluation.answer(at)
  }

  release(): void {
    this.#evaluation.release()
  }
}
