import { CheckError, type PageKey } from "./ports.ts"
import type { StoreGraph } from "./store-graph.ts"
import type { Progress, Work } from "./work.ts"

/** No turn of the event loop is held longer than about this. */
const sliceMs = 8
/** Changes wait this long at most for evaluations under way. */
const changesWaitMs = 100

export interface RunSettings {
  /** For work that says nothing else. */
  readonly deadlineMs: number
  /** What suspended evaluations hold grows with their steps: this bounds the memory of all together. */
  readonly stepsTogetherMax: number
  readonly now: () => number
  readonly paged: { readonly pagesMax: number } | undefined
}

interface Running {
  readonly work: Work<unknown>
  readonly store: StoreGraph
  readonly deadline: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  /** The graph has changed since the work began: it must start over. */
  outdated: boolean
  pages: number
}

/** Work that did not end in its first turn: each gets one slice per turn of the event loop, in order. */
export class RunQueue {
  readonly #settings: RunSettings
  readonly #waiting: Running[] = []
  readonly #byStore = new Map<StoreGraph, Set<Running>>()
  readonly #flushes = new Map<StoreGraph, ReturnType<typeof setTimeout>>()
  #ticking = false
  #sliceEnd = 0

  constructor(settings: RunSettings) {
    this.#settings = settings
  }

  /** Runs for one slice. The clock is first read after some steps: most questions never ask it. */
  runOnce(work: Pick<Work<unknown>, "run">): Progress {
    this.#sliceEnd = 0
    return work.run(this.#isLate)
  }

  readonly #isLate = (): boolean => {
    const now = this.#settings.now()
    if (this.#sliceEnd === 0) this.#sliceEnd = now + sliceMs
    return now >= this.#sliceEnd
  }

  /** Brings work that was suspended, or lacks pages, to its end in later turns. */
  finish<Answer>(work: Work<Answer>, store: StoreGraph, progress: Progress): Promise<Answer> {
    return new Promise<unknown>((resolve, reject) => {
      const deadline = this.#settings.now() + (work.deadlineMs ?? this.#settings.deadlineMs)
      this.#goOn({ work, store, deadline, resolve, reject, outdated: false, pages: 0 }, progress)
    }) as Promise<Answer>
  }

  /** Are there evaluations that a change of this store would disturb? */
  isBusy(store: StoreGraph): boolean {
    return this.#byStore.has(store)
  }

  /** Applies what the store has queued when its evaluations have ended, or after a short while whether they have or not. */
  flushSoon(store: StoreGraph): void {
    if (this.#flushes.has(store)) return
    this.#flushes.set(
      store,
      setTimeout(() => this.#flush(store), changesWaitMs),
    )
  }

  /** The store's graph is another than before. */
  changed(store: StoreGraph): void {
    for (const running of this.#byStore.get(store) ?? []) running.outdated = true
  }

  #flush(store: StoreGraph): void {
    clearTimeout(this.#flushes.get(store))
    this.#flushes.delete(store)
    store.flush()
  }

  #goOn(running: Running, progress: Progress): void {
    if (progress.kind === "done") running.resolve(running.work.answer(running.store.graph.revision))
    else if (progress.kind === "miss") void this.#load(running, progress.keys)
    else this.#wait(running)
  }

  #wait(running: Running): void {
    const own = this.#byStore.get(running.store) ?? new Set()
    this.#byStore.set(running.store, own.add(running))
    this.#waiting.push(running)
    this.#keepInBounds()
    if (this.#ticking) return
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
    this.#leave(largest)
    largest.reject(new CheckError("resource_exhausted", "too many large questions are under way at once"))
  }

  /** The store no longer has to wait for this one. */
  #leave(running: Running): void {
    const { store } = running
    const own = this.#byStore.get(store)
    own?.delete(running)
    if (own?.size !== 0) return
    this.#byStore.delete(store)
    if (this.#flushes.has(store)) this.#flush(store)
  }

  /** One slice of the evaluation that has waited longest. */
  #tick(): void {
    this.#ticking = false
    const running = this.#waiting.shift()
    if (running === undefined) return
    this.#step(running)
    if (!this.#waiting.includes(running)) this.#leave(running)
    if (this.#waiting.length === 0 || this.#ticking) return
    this.#ticking = true
    setImmediate(() => this.#tick())
  }

  #step(running: Running): void {
    const { work, store } = running
    try {
      if (this.#settings.now() > running.deadline) {
        this.#cut(running)
        return
      }
      if (running.outdated) {
        // Names the graph did not have may have come.
        running.outdated = false
        work.begin(store)
      }
      this.#goOn(running, this.runOnce(work))
    } catch (error) {
      running.reject(error)
    }
  }

  /** What an answer can be given of when there is no more time. */
  #cut({ work, store, outdated, resolve }: Running): void {
    const answer = outdated ? undefined : work.cut?.(store.graph.revision)
    if (answer === undefined) throw new CheckError("deadline_exceeded", "Request Deadline Exceeded")
    resolve(answer)
  }

  async #load(running: Running, keys: readonly PageKey[]): Promise<void> {
    try {
      running.pages += keys.length
      if (running.pages > (this.#settings.paged?.pagesMax ?? 0))
        throw new CheckError(
          "resource_exhausted",
          "the question needs more of the store at once than fits in memory",
        )
      if (this.#settings.now() > running.deadline)
        throw new CheckError("deadline_exceeded", "Request Deadline Exceeded")
      await running.store.loadPages(keys)
      running.outdated = true
      this.#wait(running)
    } catch (error) {
      running.reject(
        error instanceof CheckError
          ? error
          : new CheckError(
              "unavailable",
              "the authorization data can't be read: the database has not answered",
              {
                cause: error,
              },
            ),
      )
    }
  }
}
