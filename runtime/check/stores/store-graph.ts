import { Graph } from "../graph/graph.ts"
import type { Pins } from "../graph/pages.ts"
import { CheckError, type PageKey, SourceUnavailable, type TupleChange, type TupleSource } from "../ports.ts"
import { ChangeQueue } from "./change-queue.ts"
import { evictPage, isLarge, usePage } from "./graph-pages.ts"
import { Hints } from "./hints.ts"
import { type Kept, newEra } from "./kept.ts"
import type { Memory, Tenant } from "./memory.ts"
import { loadPages } from "./page-loads.ts"
import { layPast } from "./past.ts"
import { Snapshot } from "./snapshot.ts"
import { TooLarge } from "./too-large.ts"
import { Views } from "./views.ts"
import { loadWhole } from "./whole-load.ts"

/** Changes read from the source at a time. */
const changesMax = 2_000
/** With so many revisions under work changes gather a little, because each is remembered for each of them. */
const viewsAtOnce = 8

export interface StoreGraphOptions {
  readonly source: TupleSource
  readonly storeId: string
  /** Never to be loaded whole. */
  readonly paged: boolean
  /** So long a question waits for a whole load before it is answered from pages. */
  readonly coldMs: number
  readonly memory: Memory
  readonly kept: Kept
  readonly now: () => number
  /** Lets timers and I/O run before going on. */
  readonly turn: () => Promise<void>
  /** Changes gather: `flush` is to be called in a while. */
  readonly onQueued: () => void
  /** What is held never was: work under way must start over. */
  readonly onReplaced: () => void
}

class DoesNotFit extends Error {}

/**
 * The graph of one store, kept up to date: loaded, then changed by whole revisions in their order, whether they come from a write of this process or
 * from the source's feed. The graph always stands at exactly one revision; work under way goes on at the one it began at.
 */
export class StoreGraph implements Tenant {
  /** A store is the place (see run-queue.ts) of its present. */
  readonly store = this
  readonly exactly = undefined
  graph: Graph
  /** The present. */
  view: Snapshot
  /** When the source last confirmed what we have: the time the question was put, not answered. */
  contactMs = Number.NEGATIVE_INFINITY
  ready = false
  /** Was asked since the engine last looked for a store to give up. */
  used = false
  usedMs = 0
  readonly #queue = new ChangeQueue()
  /** The newest revision known to exist. */
  #floor = 0
  #catchingUp: Promise<void> | undefined
  #starting: Promise<void> | undefined
  #loading: Promise<void> | undefined
  /** What is being loaded. */
  #unfinished: Graph | undefined
  #paged: boolean
  readonly #tooLarge: TooLarge
  readonly #views = new Views()
  /** Changes applied while pages are being read, because those may be older. */
  #recent: TupleChange[] = []
  #reading = 0
  #era = newEra()
  /** Bytes of pages on their way. */
  #coming = 0
  readonly #hints = new Hints(() => this.refresh())
  readonly #options: StoreGraphOptions

  constructor(options: StoreGraphOptions) {
    this.#options = options
    this.#paged = options.paged
    this.#tooLarge = new TooLarge(options.memory, this)
    this.graph = new Graph({ paged: true })
    this.view = this.#viewAt(this.graph, 0)
  }

  /** May a question be answered now, as far as own writes are concerned? */
  get isCurrent(): boolean {
    return this.ready && this.graph.revision >= this.#floor
  }

  get hasQueue(): boolean {
    return !this.#queue.isEmpty
  }

  /** Resolves when questions can be answered; several callers share one load, a failed one may be tried again. */
  async load(): Promise<void> {
    if (this.ready) return
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    await this.#starting
  }

  /** Resolves when the whole store is in memory, or it is clear that it will not be. */
  async loaded(): Promise<void> {
    await this.load()
    await this.#loading
  }

  async #start(): Promise<void> {
    if (this.#paged) return this.#startPaged()
    const loading = this.#loadWhole()
    // A load that goes on after questions are answered from pages is tried again when it fails, by the next poll.
    loading.catch(() => undefined)
    let timer: ReturnType<typeof setTimeout> | undefined
    const cold = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.coldMs)
    })
    await Promise.race([loading, cold])
    clearTimeout(timer)
    if (!this.ready) await this.#startPaged()
  }

  /** Answers from pages, from now on or until the store is loaded. */
  async #startPaged(): Promise<void> {
    const asked = this.#options.now()
    const revision = await this.#options.source.revision(this.#options.storeId)
    if (!this.ready) this.#adopt(new Graph({ paged: true, revision }), asked)
  }

  /** Loads the store beside what is answered from meanwhile; one that does not fit is left to pages. */
  #loadWhole(): Promise<void> {
    const { source, storeId, now, turn, memory } = this.#options
    const asked = now()
    this.#loading ??= loadWhole({
      source,
      storeId,
      now,
      turn,
      onRead: (graph) => {
        this.#unfinished = graph
        this.#report()
        if (!memory.makeRoom(this)) throw new DoesNotFit()
      },
      known: () => (this.ready ? this.#queue.last : 0),
      onLoaded: (graph) => this.#adopt(graph, asked),
    })
      .catch((error) => {
        this.#unfinished = undefined
        this.#report()
        if (!(error instanceof DoesNotFit)) throw error
        this.#outgrown()
        return this.ready ? undefined : this.#startPaged()
      })
      .finally(() => {
        this.#loading = undefined
      })
    return this.#loading
  }

  #adopt(graph: Graph, asked: number): void {
    if (graph === this.#unfinished) this.#unfinished = undefined
    this.graph = graph
    this.view = this.#viewAt(graph, graph.revision)
    this.#queue.restart(graph.revision)
    this.contactMs = Math.max(this.contactMs, asked)
    this.usedMs = this.#options.now()
    this.ready = true
    this.#report()
  }

  /** Takes changes of this process's own write. A gap before them is closed from the source. */
  applied(changes: readonly TupleChange[]): void {
    const last = changes.at(-1)
    if (last === undefined) return
    if (last.revision > this.#floor) this.#floor = last.revision
    if (!this.ready) return
    if (!this.#take(changes)) this.catchUp(this.#floor).catch(() => undefined)
  }

  /** Puts changes that follow what is there into the queue; false when something is missing before them. */
  #take(changes: readonly TupleChange[]): boolean {
    const accepted = this.#queue.accept(changes)
    if (accepted !== "accepted") return accepted === "known"
    this.#floor = Math.max(this.#floor, this.#queue.last)
    if (this.#views.size >= viewsAtOnce) this.#options.onQueued()
    else this.flush()
    return true
  }

  /** Applies what is queued. Who is at work on the graph as it was goes on seeing it so. */
  flush(): void {
    if (this.#queue.isEmpty) return
    const { graph } = this
    const changes = this.#queue.take()
    this.#views.apply(graph, changes)
    if (this.#reading > 0) for (const change of changes) this.#recent.push(change)
    graph.revision = this.#queue.last
    this.#changed()
    if (!this.#options.memory.makeRoom(this)) this.giveWay()
  }

  /** The graph is another than before. */
  #changed(): void {
    const { graph } = this
    this.#views.retire(graph)
    this.view = this.#viewAt(graph, graph.revision)
    this.#report()
  }

  /** It has outgrown the memory: from now on pages. */
  giveWay(): boolean {
    if (!this.ready || this.graph.pages !== undefined) return false
    this.#outgrown()
    this.flush()
    this.#adopt(new Graph({ paged: true, revision: this.graph.revision }), this.contactMs)
    return true
  }

  #viewAt(graph: Graph, revision: number): Snapshot {
    return new Snapshot(graph, revision, this.#options.kept.at(this.#era, revision))
  }

  #outgrown(): void {
    this.#paged = true
    this.#tooLarge.found(this.#options.now())
  }

  #report(): void {
    const own = this.ready ? this.graph.bytes : 0
    const beside = this.#coming + this.#views.bytes
    this.#options.memory.report(this, own + beside + (this.#unfinished?.bytes ?? 0))
  }

  evict(): boolean {
    const evicted = evictPage(this.graph)
    if (evicted) this.#report()
    void this.graph.sweep(this.#options.turn)
    return evicted
  }

  forget(): void {
    this.ready = false
    // What comes next may be another history.
    this.#era = newEra()
    this.graph = new Graph({ paged: true })
    this.#report()
  }

  /** Somebody works on a snapshot: until it is left, it does not change. */
  hold(view: Snapshot): void {
    this.#views.hold(view)
  }

  leave(view: Snapshot): void {
    const { bytes } = view
    this.#views.leave(view)
    if (bytes > 0) this.#report()
  }

  /** Work has ended: what it held may go. */
  settle(): void {
    if (this.graph.pages === undefined) return
    this.#report()
    this.#options.memory.makeRoom(this)
  }

  /** Asks the source for its revision and takes what is new. Rejects with the source's error. */
  async refresh(): Promise<number> {
    const { source, storeId, now } = this.#options
    const asked = now()
    const held = this.#queue.last
    const revision = await source.revision(storeId)
    if (revision < held) await this.#reload(revision)
    else await this.catchUp(revision)
    this.contactMs = Math.max(this.contactMs, asked)
    if (this.#paged && this.#tooLarge.mayFit(now())) this.#paged = this.#options.paged
    // One that failed while questions are answered from pages, or did not fit.
    if (this.graph.pages !== undefined && !this.#paged && this.ready) this.#loadWhole().catch(() => undefined)
    return revision
  }

  /** Another process may have written. */
  hint(): void {
    if (this.ready) this.#hints.heard()
  }

  /** The source went back behind what is held: a backup was restored, or a replica took over that had not everything. What is held never was, then. */
  async #reload(revision: number): Promise<void> {
    this.forget()
    this.#floor = revision
    this.#options.onReplaced()
    await this.load()
  }

  /** Resolves when everything up to `revision` is in the queue at least. */
  async catchUp(revision: number): Promise<void> {
    if (revision > this.#floor) this.#floor = revision
    let stuck = 0
    while (this.#queue.last < revision) {
      const before = this.#queue.last
      this.#catchingUp ??= this.#fetch().finally(() => {
        this.#catchingUp = undefined
      })
      await this.#catchingUp
      // A source that does not have what it announced: not an endless loop, and no answer either.
      if (this.#queue.last <= before && ++stuck > 2)
        throw new SourceUnavailable(`revision ${revision} is not to be had`)
    }
  }

  async #fetch(): Promise<void> {
    const { source, storeId } = this.#options
    const before = this.#queue.last
    const changes = await source.changes(storeId, before, changesMax)
    const contiguous = this.#take(changes)
    // A feed that no longer reaches back this far, or skips: only a new load can tell what the store holds.
    if (!contiguous || this.#queue.last === before) await this.#reload(this.#floor)
  }

  /** Resolves when all changes known to exist are applied. */
  async caughtUp(): Promise<void> {
    await this.catchUp(this.#floor)
    // Changes gather for a tenth of a second at most.
    while (!this.isCurrent) {
      await this.load()
      if (this.hasQueue) await this.#options.turn()
      else await this.catchUp(this.#floor)
    }
  }

  /**
   * The store at one revision, held: `leave` it. @throws CheckError when the revision is not to be had.
   */
  async at(revision: number): Promise<Snapshot> {
    const { source, storeId, turn, memory } = this.#options
    if (revision > this.graph.revision && revision > (await this.refresh()))
      throw new CheckError("validation_error", `the store has no revision ${revision}`)
    await this.caughtUp()
    const view = revision === this.graph.revision ? this.view : this.#viewAt(this.graph, revision)
    this.hold(view)
    if (view === this.view) return view
    try {
      const fits = () => {
        this.#report()
        return memory.makeRoom(this, true)
      }
      await layPast(view, { source, storeId, turn, fits })
    } catch (error) {
      this.leave(view)
      throw error
    }
    return view
  }

  /**
   * Loads pages and installs them, pinned. They may be older than the graph is by then: what has changed is added.
   * @throws CheckError `resource_exhausted` when they do not fit beside what else is in use.
   */
  async loadPages(wanted: readonly PageKey[], pins: Pins): Promise<void> {
    const { now, memory } = this.#options
    const { graph } = this
    const keys = wanted.filter((key) => !usePage(graph, key, pins))
    if (graph.pages === undefined || keys.length === 0) return
    const asked = now()
    // What is large comes with the whole store, when that is being loaded.
    if (this.#loading !== undefined && keys.every((key) => isLarge(graph, key))) await this.#loading
    if (this.graph !== graph) return
    this.#reading++
    try {
      await loadPages({ ...this.#options, ...this.#pageLoad(graph), pins, memoryBytes: memory.limit }, keys)
      this.contactMs = Math.max(this.contactMs, asked)
    } finally {
      if (--this.#reading === 0) this.#recent = []
    }
  }

  /** How pages come into the graph. */
  #pageLoad(graph: Graph) {
    let own = 0
    return {
      graph,
      isCurrent: () => this.graph === graph && this.ready,
      reach: async (revision: number) => {
        await this.catchUp(revision)
        this.flush()
      },
      recent: () => this.#recent,
      onChanged: () => this.#changed(),
      fits: (coming: number) => {
        this.#coming += coming - own
        own = coming
        this.#report()
        return this.#options.memory.makeRoom(this, true)
      },
    }
  }
}
