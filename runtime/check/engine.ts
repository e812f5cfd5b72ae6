import { memoryBytesDefault } from "../plan/authz.ts"
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
import { pastDeadline, RunQueue, type RunSettings, unreadable, type WorkTarget } from "./stores/run-queue.ts"
import { StoreGraph } from "./stores/store-graph.ts"
import type { EngineWork, Progress, View } from "./work.ts"

/** All have defaults fit for production. */
export interface EngineOptions {
  /** Usersets and `from` in a row before a check is "too complex": 25 as in OpenFGA, `Infinity` for no limit. */
  readonly depthMax?: number | undefined
  /** Work of one check in steps (a node visited, a list element read, a 64th of a condition): 5,000,000, a second or
   * two; more is `authorization_model_resolution_too_complex`, and so is memory bounded. */
  readonly stepsMax?: number | undefined
  /** After so many steps, plain reachability is no longer walked but searched from both ends: 256. */
  readonly walkSteps?: number | undefined
  /** Steps between two looks at the clock: 128. */
  readonly stepsPerLook?: number | undefined
  /** Steps that checks under way over several turns may have taken together; beyond, the largest fails with `resource_exhausted`: 20,000,000. */
  readonly stepsTogetherMax?: number | undefined
  /** A check that is not decided after this time fails with `deadline_exceeded`: 3,000. */
  readonly deadlineMs?: number | undefined
  /** How often the source is asked for other processes' changes: 500; 0 is never. */
  readonly pollMs?: number | undefined
  /** Longest time without a confirmed contact with the source before checks fail with `unavailable`: no bound. */
  readonly maxStalenessMs?: number | undefined
  /** Graphs kept in memory; one that was not used for long gives way: 1,000. */
  readonly storesMax?: number | undefined
  /** Bytes of all graphs together: 512 MB. Stores that fit are held whole, the others as pages, those least used giving way. */
  readonly memoryBytes?: number | undefined
  /** Holds no store whole, however small. */
  readonly paged?: boolean | undefined
  /** So long a question waits for a store to be loaded whole before it is answered from pages: 20. */
  readonly coldMs?: number | undefined
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined
  /** Told when the database does not have a commit any more that this process has read or written; it stands at `found`. */
  readonly onHistoryLost?: ((storeId: string, held: Commit, found: Commit) => void) | undefined
}

/** What a plan says of the engine. */
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

/**
 * Answers checks over graphs held in memory, one per store, loaded at the first question and kept up to date. One engine serves all
 * stores and models of a process. `close` it at the end.
 */
export class Engine {
  /** May be changed by a new plan. */
  maxStalenessMs: number | undefined
  readonly #source: TupleSource
  readonly #settings: Settings & { depthMax: number; deadlineMs: number }
  readonly #stores = new Map<string, StoreGraph>()
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
      // Only what says which values are missing decides without some.
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
   * May the user have the relation on the object? Answers at once (no promise) when the store's graph is in memory and the question is
   * decided within a few milliseconds, which is nearly always.
   * @throws CheckError, or rejects with it: never is an error an allow.
   */
  check(storeId: string, model: LoadedModel, request: CheckRequest): CheckAnswer | Promise<CheckAnswer> {
    if (request.explain === true || request.ternary === true)
      return this.ask(storeId, explain(model, request, this.#settings), request)
    const store = this.#stores.get(storeId)
    if (store === undefined || !isFresh(store, request))
      return this.#reached(storeId, request, {}, (place) => this.#evaluate(place, model, request))
    store.used = true
    this.#requireContact(store)
    return this.#evaluate(store, model, request)
  }

  /**
   * Answers a question of any other kind, at once where it can, like a check.
   * @throws CheckError, or rejects with it.
   */
  ask<Answer>(
    storeId: string,
    work: EngineWork<Answer>,
    freshness: Freshness = {},
  ): Answer | Promise<Answer> {
    const store = this.#stores.get(storeId)
    if (store === undefined || !isFresh(store, freshness))
      return this.#reached(storeId, freshness, work, (place) => this.#run(place, work))
    store.used = true
    this.#requireContact(store)
    return this.#run(store, work)
  }

  /** How deep a check may go, how long a question may take and how much memory there is: a new plan may change them, for questions asked from then on. */
  bound({ depthMax, deadlineMs, memoryBytes }: EngineBounds): void {
    this.#settings.depthMax = depthMax
    this.#settings.deadlineMs = deadlineMs
    if (this.#memory.limit === memoryBytes) return
    this.#memory.limit = memoryBytes
    for (const store of this.#stores.values()) if (!this.#memory.makeRoom(store)) store.giveWay()
  }

  /** What work on a question is bounded by: the engine's settings. */
  get bounds(): EvaluationOptions {
    return this.#settings
  }

  /** Bytes all graphs take. */
  get memoryBytes(): number {
    return this.#memory.total
  }

  /** How often something was answered from what was kept of an earlier question at the same revision. */
  get keptHits(): number {
    return this.#kept.hits
  }

  /** The store's revision as far as this process knows; undefined while its graph is not in memory. */
  revision(storeId: string): number | undefined {
    const store = this.#stores.get(storeId)
    return store?.ready === true ? store.graph.revision : undefined
  }

  /** Takes the changes of a write this process has committed: the next check sees them. */
  applied(storeId: string, changes: readonly TupleChange[]): void {
    this.#stores.get(storeId)?.applied(changes)
  }

  /** A store was deleted: forgets its graph. Checks under way end with what they saw. */
  dropped(storeId: string): void {
    this.#stores.get(storeId)?.forget()
    this.#stores.delete(storeId)
  }

  /** Loads a store's graph ahead of the first question. @throws CheckError `unavailable`. */
  async warm(storeId: string): Promise<void> {
    await this.#reach(() => this.#storeOf(storeId).loaded())
  }

  /** Stops asking the source. Checks under way still end. */
  close(): void {
    this.#closed = true
    this.#poll.close()
    this.#stopListening?.()
  }

  #run<Answer>(place: WorkTarget, work: EngineWork<Answer>): Answer | Promise<Answer> {
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
      return this.#queue.finish(work, place, pins, progress).finally(() => work.release())
    } finally {
      pages?.record(undefined)
      if (!kept) {
        if (pins !== undefined) pages?.unpin(pins)
        work.release()
      }
    }
  }

  /** The same for a check, whose work is not made before it is clear that it takes longer: a check is asked a million times a second. */
  #evaluate(
    place: WorkTarget,
    model: LoadedModel,
    request: CheckRequest,
  ): CheckAnswer | Promise<CheckAnswer> {
    const { view } = place
    const evaluation = this.#idle.pop() ?? new Evaluation()
    const { pages } = view.graph
    const pins = pages?.newPins()
    let kept = false
    try {
      pages?.record(pins)
      evaluation.begin(readRequest(view, model, request), this.#settings)
      const progress = this.#queue.runOnce(evaluation)
      if (progress.kind === "done") return evaluation.answer(view.at)
      kept = true
      const work = new CheckWork(evaluation, model, request, this.#settings)
      return this.#queue.finish(work, place, pins, progress).finally(() => this.#release(evaluation))
    } finally {
      pages?.record(undefined)
      if (!kept) {
        if (pins !== undefined) pages?.unpin(pins)
        this.#release(evaluation)
      }
    }
  }

  #release(evaluation: Evaluation): void {
    evaluation.release()
    if (this.#idle.length < idleEvaluationsMax) this.#idle.push(evaluation)
  }

  /** Asks where the store is loaded and as fresh as was wanted. That goes on for the next when it takes longer than the question may. */
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
      now: this.#settings.now,
      turn: () => new Promise((resolve) => setImmediate(resolve)),
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

  /** Gives up a graph: the first in line that was not used since it last stood in front. */
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

  /** Fails closed when the source has been silent for too long. */
  #requireContact(store: StoreGraph): void {
    const bound = this.maxStalenessMs
    if (bound === undefined || this.#settings.now() - store.contactMs <= bound) return
    throw new CheckError(
      "unavailable",
      "the authorization data may be out of date: the database has not answered",
    )
  }

  async #reach<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      throw error instanceof CheckError ? error : unreadable(error)
    }
  }

  /** Other processes say when they have written. */
  #listen(): void {
    if (this.#closed) return
    this.#stopListening ??= this.#source.listen?.((storeId) => this.#stores.get(storeId)?.hint())
  }
}

/** May the graph in memory answer as it is? */
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
