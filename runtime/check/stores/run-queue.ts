import { afterEvents } from "#platform"
import { countSteps, type QuestionWork, type StoreCounts } from "../counts.ts"
import type { Pins } from "../graph/pages.ts"
import { CheckError, type Commit, type PageKey } from "../ports.ts"
import type { EngineWork, Progress } from "../work.ts"
import { NoRoom } from "./memory.ts"
import type { Snapshot } from "./snapshot.ts"
import type { StoreGraph } from "./store-graph.ts"

/** Length of a question's first slice, and so of the longest block of the event loop; it is usually the whole question. */
const firstSliceMs = 1
/**
 * Length of later slices. They are shorter, because a long question has many of them and others wait in every turn. The overhead of a turn
 * is a few hundredths of it.
 */
const sliceMs = 0.25
/**
 * For this long after a slice that used all its time, first slices are as short as others. Otherwise a client that sends one long question
 * after the other would take most of every turn.
 */
const calmMs = 100
/**
 * Work that has run for this long counts as long: it waits for the long ones before it, so that they finish one after the other and not all
 * too late.
 */
const longMs = 50
/** Number of ended long questions that give the expected duration of long ones. */
const longKnown = 8
/** Short work in one turn: so many, and no more after so many steps together, which take a few hundredths of a millisecond. */
const worksAtOnce = 8
const stepsAtOnce = 256
/** Maximum delay of Node's timers. */
const timerMsMax = 0x7fff_ffff
/** Maximum time for which changes gather. */
const changesWaitMs = 100

export interface RunSettings {
  /** Default deadline. */
  readonly deadlineMs: number
  /** Suspended evaluations use memory in proportion to their steps, so this limits the memory of all together. */
  readonly stepsTogetherMax: number
  readonly now: () => number
}

/** The place of work: a store, in its present or at one past revision. */
export interface WorkTarget {
  readonly store: StoreGraph
  readonly view: Snapshot
  /** The requested commit; undefined: the present. */
  readonly exactly: Commit | undefined
  /** When the question must be answered, by the engine's clock; undefined when it has not waited for anything yet. */
  readonly deadline?: number | undefined
}

/** Work after its first turn, which did not decide it: with the pins of that turn, and where its caller wants it counted. */
export interface Begun {
  readonly pins: Pins | undefined
  readonly progress: Progress
  readonly counted: QuestionWork | undefined
}

interface Running {
  /** Increases in the order of their start. */
  readonly number: number
  readonly work: EngineWork<unknown>
  readonly store: StoreGraph
  readonly exactly: Commit | undefined
  readonly deadline: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly counted: QuestionWork | undefined
  view: Snapshot
  pins: Pins | undefined
  /** Time used by its slices. */
  ownMs: number
  /** The data that it started on was lost: it must start again. */
  outdated: boolean
  /** Its deadline passed while it waited for the source: it is already refused and must not continue. */
  expired: boolean
  /** Set while it waits for the source. */
  timer: ReturnType<typeof setTimeout> | undefined
  /** It has ended, with or without an answer. */
  ended: boolean
}

/** Work that did not end in its first turn. Each turn of the event loop runs one slice. */
export class RunQueue {
  readonly #settings: RunSettings
  readonly #running = new Set<Running>()
  readonly #waiting: Running[] = []
  /** Work whose pages did not fit next to those of others. It starts again when one of those has ended. */
  readonly #starved: Running[] = []
  readonly #flushes = new Map<StoreGraph, ReturnType<typeof setTimeout>>()
  #ticking = false
  #turns = 0
  /** Durations of the last long questions that ended. */
  readonly #longTook: number[] = []
  #numbers = 0
  #sliceEnd = 0
  #sliceMs = sliceMs
  /** From this time on, no long work has run recently. */
  #calmAt = Number.NEGATIVE_INFINITY

  constructor(settings: RunSettings) {
    this.#settings = settings
  }

  /** Whether work is in progress that did not end in its first turn. */
  get isBusy(): boolean {
    return this.#running.size > 0
  }

  /** Runs for a first slice. The clock is read only after some steps, so most questions never read it. */
  runOnce(work: Pick<EngineWork<unknown>, "run">): Progress {
    // With other work waiting, it is one of several in this turn already.
    return this.#run(work, this.#waiting.length === 0 ? firstSliceMs : sliceMs)
  }

  #run(work: Pick<EngineWork<unknown>, "run">, ms: number): Progress {
    this.#sliceEnd = 0
    this.#sliceMs = ms
    return work.run(this.#isLate)
  }

  readonly #isLate = (): boolean => {
    const now = this.#settings.now()
    if (this.#sliceEnd === 0) this.#sliceEnd = now + (now < this.#calmAt ? sliceMs : this.#sliceMs)
    if (now < this.#sliceEnd) return false
    this.#calmAt = now + calmMs
    return true
  }

  /** Brings work that was suspended, or lacks pages, to its end in later turns. */
  finish<Answer>(
    work: EngineWork<Answer>,
    { store, view, exactly, deadline: given }: WorkTarget,
    { pins, progress, counted }: Begun,
  ): Promise<Answer> {
    return new Promise<unknown>((resolve, reject) => {
      const deadline = given ?? this.deadlineOf(work)
      const running: Running = {
        number: ++this.#numbers,
        work,
        store,
        exactly,
        deadline,
        resolve,
        reject,
        counted,
        view,
        pins,
        ownMs: 0,
        outdated: false,
        expired: false,
        timer: undefined,
        ended: false,
      }
      store.hold(view)
      store.counts.suspended++
      this.#running.add(running)
      this.#goOn(running, progress)
    }) as Promise<Answer>
  }

  /** The deadline of a question that starts now. */
  deadlineOf({ deadlineMs = this.#settings.deadlineMs }: Pick<EngineWork<unknown>, "deadlineMs">): number {
    return this.#settings.now() + deadlineMs
  }

  /** Calls `expire` when a deadline has passed. */
  expireAt(deadline: number, expire: () => void): ReturnType<typeof setTimeout> {
    const left = deadline - this.#settings.now()
    return setTimeout(expire, Math.min(Math.max(left, 0), timerMsMax))
  }

  /** Applies the store's queued changes shortly. */
  flushSoon(store: StoreGraph): void {
    if (this.#flushes.has(store)) return
    const flush = () => {
      this.#flushes.delete(store)
      store.flush()
    }
    this.#flushes.set(store, setTimeout(flush, changesWaitMs))
  }

  /** Restarts the work on a store whose held data was lost. */
  replaced(store: StoreGraph): void {
    for (const running of this.#running) if (running.store === store) running.outdated = true
  }

  #goOn(running: Running, progress: Progress): void {
    if (progress.kind === "done") {
      if (running.ownMs >= longMs) this.#longTook.push(running.ownMs)
      if (this.#longTook.length > longKnown) this.#longTook.shift()
      this.#end(running, () => running.resolve(running.work.answer(running.view.at)))
    } else if (progress.kind === "miss") void this.#load(running, progress.keys)
    else this.#wait(running)
  }

  /** Reads the answer before it leaves the snapshot, because the answer may use names that the snapshot keeps. */
  #end(running: Running, settle: () => void): void {
    if (running.ended) return
    const { store, counted, pins, view } = running
    countEnd(store.counts, running.work.steps, pins, counted)
    try {
      settle()
    } catch (error) {
      running.reject(error)
    }
    running.ended = true
    clearTimeout(running.timer)
    this.#running.delete(running)
    store.leave(view)
    if (pins !== undefined) view.graph.pages?.unpin(pins)
    store.settle()
    const next = this.#starved.shift()
    if (next !== undefined) void this.#again(next)
  }

  #wait(running: Running): void {
    clearTimeout(running.timer)
    running.timer = undefined
    this.#waiting.push(running)
    this.#keepInBounds()
    this.#refuseHopeless(running)
    this.#tickSoon()
  }

  /**
   * Refuses work early when the work before it will last beyond its deadline, even if each takes only as long as the shortest recent one.
   */
  #refuseHopeless(running: Running): void {
    if (running.ownMs < longMs || this.#longTook.length === 0 || running.ended) return
    const least = Math.min(...this.#longTook)
    let before = 0
    let left = Math.max(0, least - running.ownMs)
    for (const { number, ownMs } of this.#waiting) {
      if (ownMs < longMs || number >= running.number) continue
      before++
      left += Math.max(0, least - ownMs)
    }
    if (before === 0 || this.#settings.now() + left <= running.deadline) return
    this.#waiting.splice(this.#waiting.indexOf(running), 1)
    this.#fail(running, tooMany())
  }

  #tickSoon(): void {
    if (this.#ticking || this.#waiting.length === 0) return
    this.#ticking = true
    afterEvents(() => this.#tick())
  }

  /** Fails the largest work, so that many small ones are not refused because of it. */
  #keepInBounds(): void {
    let together = 0
    let largest: Running | undefined
    for (const running of this.#waiting) {
      const { steps } = running.work
      together += steps
      if (largest === undefined || steps > largest.work.steps) largest = running
    }
    if (together <= this.#settings.stepsTogetherMax || largest === undefined) return
    this.#waiting.splice(this.#waiting.indexOf(largest), 1)
    this.#fail(largest, tooMany())
  }

  #fail(running: Running, error: unknown): void {
    this.#end(running, () => running.reject(error))
  }

  /** Runs one slice of the next work, and further work as long as it is short: a turn takes longer while a store is being loaded. */
  #tick(): void {
    this.#ticking = false
    let steps = 0
    for (let works = 0; works < worksAtOnce && steps < stepsAtOnce; works++) {
      const [running] = this.#waiting.splice(this.#next(), 1)
      if (running === undefined) break
      steps += this.#step(running)
    }
    this.#tickSoon()
  }

  /**
   * Every other slice goes to the oldest work, because with equal shares many long ones would all miss their deadlines. The other slices
   * rotate among work that is not long. Without such work, half of them rotate among all.
   */
  #next(): number {
    this.#turns = (this.#turns + 1) % 4
    if (this.#turns % 2 === 0) return this.#oldest()
    const short = this.#waiting.findIndex(({ ownMs }) => ownMs < longMs)
    if (short >= 0) return short
    return this.#turns === 1 ? 0 : this.#oldest()
  }

  #oldest(): number {
    const waiting = this.#waiting
    let oldest = 0
    for (let at = 1; at < waiting.length; at++)
      if ((waiting[at]?.number ?? 0) < (waiting[oldest]?.number ?? 0)) oldest = at
    return oldest
  }

  /** Returns the steps of the work; Infinity when its slice was not enough for it. */
  #step(running: Running): number {
    const { work, view } = running
    let steps = 0
    try {
      if (this.#settings.now() > running.deadline) this.#cut(running)
      else if (running.outdated) void this.#again(running)
      else {
        const from = this.#settings.now()
        view.graph.pages?.record(running.pins)
        const progress = this.#run(work, sliceMs)
        view.graph.pages?.record(undefined)
        running.ownMs += this.#settings.now() - from
        steps = progress.kind === "suspended" ? Number.POSITIVE_INFINITY : work.steps
        this.#goOn(running, progress)
      }
    } catch (error) {
      view.graph.pages?.record(undefined)
      this.#fail(running, error)
    }
    return steps
  }

  /** Ends work at its deadline with a partial answer, if possible. */
  #cut(running: Running): void {
    const { work, view, outdated, resolve } = running
    const answer = outdated ? undefined : work.cut?.(view.at)
    if (answer === undefined) throw pastDeadline()
    this.#end(running, () => resolve(answer))
  }

  async #load(running: Running, keys: readonly PageKey[]): Promise<void> {
    const { store, view, pins, deadline } = running
    try {
      if (this.#settings.now() > deadline) throw pastDeadline()
      this.#watch(running)
      // The graph has been replaced, perhaps by a whole one: run on it first.
      if (pins !== undefined && store.graph === view.graph) {
        countReads(running, keys.length)
        const started = this.#settings.now()
        const rows = await store.loadPages(keys, pins)
        running.counted?.reads?.push({ started, ended: this.#settings.now(), pages: keys.length, rows })
      }
      await this.#again(running)
    } catch (error) {
      if (error instanceof NoRoom && this.#makesWay(running)) return
      this.#fail(running, error instanceof CheckError ? error : unreadable(error))
    }
  }

  /**
   * Watches the deadline of work that waits for the source. At the deadline the work is refused; its resources are freed when the source
   * has answered.
   */
  #watch(running: Running): void {
    running.timer ??= this.expireAt(running.deadline, () => {
      running.expired = true
      running.reject(pastDeadline())
    })
  }

  /** Releases its pages so that others can end, if there are others. */
  #makesWay(running: Running): boolean {
    const { pages } = running.view.graph
    const isAtWork = (other: Running) =>
      other !== running && !this.#starved.includes(other) && (other.pins?.pages.length ?? 0) > 0
    if (running.pins === undefined || ![...this.#running].some(isAtWork)) return false
    pages?.unpin(running.pins)
    running.pins = pages?.newPins()
    this.#starved.push(running)
    return true
  }

  /** Starts again, on the present or on the same past revision as the graph is now. */
  async #again(running: Running): Promise<void> {
    const { store, exactly, work } = running
    try {
      this.#watch(running)
      await store.load()
      const view = exactly === undefined ? store.view : await store.at(exactly)
      if (exactly === undefined) store.hold(view)
      store.leave(running.view)
      if (view.graph !== running.view.graph) {
        if (running.pins !== undefined) running.view.graph.pages?.unpin(running.pins)
        running.pins = view.graph.pages?.newPins()
      }
      running.view = view
      running.outdated = false
      if (running.expired) throw pastDeadline()
      countSteps(work.steps, store.counts, running.counted)
      work.begin(view)
      this.#wait(running)
    } catch (error) {
      this.#fail(running, error instanceof CheckError ? error : unreadable(error))
    }
  }
}

/** Counts a question that has ended. */
export function countEnd(
  counts: StoreCounts,
  steps: number,
  pins: Pins | undefined,
  counted: QuestionWork | undefined,
): void {
  counts.questions++
  if (pins !== undefined) {
    counts.pagesUsed += pins.pages.length
    if (counted !== undefined) counted.pagesUsed += pins.pages.length
  }
  countSteps(steps, counts, counted)
}

function countReads({ store, counted }: Running, pages: number): void {
  store.counts.pagesRead += pages
  if (counted !== undefined) counted.pagesRead += pages
}

/** The error after the deadline. */
export function pastDeadline(): CheckError {
  return new CheckError("deadline_exceeded", "Request Deadline Exceeded")
}

function tooMany(): CheckError {
  return new CheckError("resource_exhausted", "too many large questions are running at the same time")
}

/** The error for clients when the source is unavailable. */
export function unreadable(cause: unknown): CheckError {
  const message = "the authorization data cannot be read: the database does not respond"
  return new CheckError("unavailable", message, { cause })
}
