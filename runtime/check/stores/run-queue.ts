import type { Pins } from "../graph/pages.ts"
import { CheckError, type Commit, type PageKey } from "../ports.ts"
import type { EngineWork, Progress } from "../work.ts"
import { NoRoom } from "./memory.ts"
import type { Snapshot } from "./snapshot.ts"
import type { StoreGraph } from "./store-graph.ts"

/** No turn of the event loop is held longer than about this by a question's first part, which nearly always is all. */
const firstSliceMs = 1
/** The same of what follows: it may be long, and others wait for it in every turn. A turn of its own costs some hundredths of that. */
const sliceMs = 0.25
/** So long after a part that took all its time first parts are no longer than others: who asks one long question after the other would have most of every turn. */
const calmMs = 100
/** Work that has had so much time is long: it waits for the long ones before it, so that they end one after the other and not all of them too late. */
const longMs = 50
/** How many that ended tell how long long ones take. */
const longKnown = 8
/** Node knows no longer timers. */
const timerMsMax = 0x7fff_ffff
/** Changes gather for so long at most. */
const changesWaitMs = 100

export interface RunSettings {
  /** For work that says nothing else. */
  readonly deadlineMs: number
  /** What suspended evaluations hold grows with their steps: this bounds the memory of all together. */
  readonly stepsTogetherMax: number
  readonly now: () => number
}

/** Where work is done: a store, at its present or at one revision of its past. */
export interface WorkTarget {
  readonly store: StoreGraph
  readonly view: Snapshot
  /** The commit asked for; undefined for the present. */
  readonly exactly: Commit | undefined
  /** When the question must be answered, by the engine's clock; undefined where it has not waited for anything yet. */
  readonly deadline?: number | undefined
}

interface Running {
  /** In the order in which they began. */
  readonly number: number
  readonly work: EngineWork<unknown>
  readonly store: StoreGraph
  readonly exactly: Commit | undefined
  readonly deadline: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  view: Snapshot
  pins: Pins | undefined
  /** Time its slices took. */
  ownMs: number
  /** What it began on never was: it must start over. */
  outdated: boolean
  /** Its deadline has passed while it waited for the source: it is refused already, and must not be gone on with. */
  expired: boolean
  /** Set while it waits for the source. */
  timer: ReturnType<typeof setTimeout> | undefined
  /** It has ended, in an answer or not. */
  ended: boolean
}

/** Work that did not end in its first turn: each gets one slice per turn of the event loop, in order. */
export class RunQueue {
  readonly #settings: RunSettings
  readonly #running = new Set<Running>()
  readonly #waiting: Running[] = []
  /** Those that found no room for their pages beside the others', and begin anew when one of those has ended. */
  readonly #starved: Running[] = []
  readonly #flushes = new Map<StoreGraph, ReturnType<typeof setTimeout>>()
  #ticking = false
  #turns = 0
  /** What the last long ones that ended took. */
  readonly #longTook: number[] = []
  #numbers = 0
  #sliceEnd = 0
  #sliceMs = sliceMs
  /** From then on nothing long has been at work for a while. */
  #calmAt = Number.NEGATIVE_INFINITY

  constructor(settings: RunSettings) {
    this.#settings = settings
  }

  /** Runs for a first slice. The clock is first read after some steps: most questions never ask it. */
  runOnce(work: Pick<EngineWork<unknown>, "run">): Progress {
    // With others at work it is one of several already, perhaps of several in this very turn.
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

  /** Brings work that was suspended, or lacks pages, to its end in later turns. `pins` are those of its first. */
  finish<Answer>(
    work: EngineWork<Answer>,
    { store, view, exactly, deadline: given }: WorkTarget,
    pins: Pins | undefined,
    progress: Progress,
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
        view,
        pins,
        ownMs: 0,
        outdated: false,
        expired: false,
        timer: undefined,
        ended: false,
      }
      store.hold(view)
      this.#running.add(running)
      this.#goOn(running, progress)
    }) as Promise<Answer>
  }

  /** When a question asked now must be answered. */
  deadlineOf({ deadlineMs = this.#settings.deadlineMs }: Pick<EngineWork<unknown>, "deadlineMs">): number {
    return this.#settings.now() + deadlineMs
  }

  /** Calls when a deadline has passed. */
  expireAt(deadline: number, expire: () => void): ReturnType<typeof setTimeout> {
    const left = deadline - this.#settings.now()
    return setTimeout(expire, Math.min(Math.max(left, 0), timerMsMax))
  }

  /** Applies what the store has queued in a short while. */
  flushSoon(store: StoreGraph): void {
    if (this.#flushes.has(store)) return
    const flush = () => {
      this.#flushes.delete(store)
      store.flush()
    }
    this.#flushes.set(store, setTimeout(flush, changesWaitMs))
  }

  /** What the store's graph showed never was. */
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

  /** The answer is read before the snapshot is left, because it may be made of names that go with it. */
  #end(running: Running, settle: () => void): void {
    if (running.ended) return
    try {
      settle()
    } catch (error) {
      running.reject(error)
    }
    running.ended = true
    clearTimeout(running.timer)
    this.#running.delete(running)
    running.store.leave(running.view)
    if (running.pins !== undefined) running.view.graph.pages?.unpin(running.pins)
    running.store.settle()
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

  /** Those before it will take until after its deadline, even if they are as short as the shortest of late: it hears so now. */
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
    setImmediate(() => this.#tick())
  }

  /** The largest gives way, so that many small ones are not refused for its sake. */
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

  /** One slice of the work whose turn it is. */
  #tick(): void {
    this.#ticking = false
    const [running] = this.#waiting.splice(this.#next(), 1)
    if (running !== undefined) this.#step(running)
    this.#tickSoon()
  }

  /** Every other slice goes to the oldest, because with equal shares many that are long would all miss their deadlines; the others go round among those that are not long, or else half of them among all. */
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

  #step(running: Running): void {
    const { work, view } = running
    try {
      if (this.#settings.now() > running.deadline) this.#cut(running)
      else if (running.outdated) void this.#again(running)
      else {
        const from = this.#settings.now()
        view.graph.pages?.record(running.pins)
        const progress = this.#run(work, sliceMs)
        view.graph.pages?.record(undefined)
        running.ownMs += this.#settings.now() - from
        this.#goOn(running, progress)
      }
    } catch (error) {
      view.graph.pages?.record(undefined)
      this.#fail(running, error)
    }
  }

  /** What an answer can be given of when there is no more time. */
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
      // Another graph by now, perhaps a whole one: it is asked first.
      if (pins !== undefined && store.graph === view.graph) await store.loadPages(keys, pins)
      await this.#again(running)
    } catch (error) {
      if (error instanceof NoRoom && this.#makesWay(running)) return
      this.#fail(running, error instanceof CheckError ? error : unreadable(error))
    }
  }

  /** It waits for the source: when its deadline passes meanwhile it is refused, and what it holds goes when the source has answered. */
  #watch(running: Running): void {
    running.timer ??= this.expireAt(running.deadline, () => {
      running.expired = true
      running.reject(pastDeadline())
    })
  }

  /** Lets go of its pages so that others can end, if there are others. */
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

  /** Begins anew, on the present or on the past as it looks now. */
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
      work.begin(view)
      this.#wait(running)
    } catch (error) {
      this.#fail(running, error instanceof CheckError ? error : unreadable(error))
    }
  }
}

/** No answer in time. */
export function pastDeadline(): CheckError {
  return new CheckError("deadline_exceeded", "Request Deadline Exceeded")
}

function tooMany(): CheckError {
  return new CheckError("resource_exhausted", "too many large questions are running at the same time")
}

/** A source that does not answer, as clients are told of it. */
export function unreadable(cause: unknown): CheckError {
  const message = "the authorization data can't be read: the database has not answered"
  return new CheckError("unavailable", message, { cause })
}
