import type { StoreCounts } from "../counts.ts"
import { Graph } from "../graph/graph.ts"
import type { Pins } from "../graph/pages.ts"
import {
  type Commit,
  commitLost,
  firstCommit,
  HistoryLost,
  isSameCommit,
  type PageKey,
  type TupleChange,
  type TupleSource,
} from "../ports.ts"
import { evictPage, isLarge, usePage } from "./graph-pages.ts"
import { History } from "./history.ts"
import { type Kept, newEra } from "./kept.ts"
import type { Memory, Tenant } from "./memory.ts"
import { loadPages, type PageLoad } from "./page-loads.ts"
import { PageReads } from "./page-reads.ts"
import { layPast, notKept } from "./past.ts"
import { Snapshot } from "./snapshot.ts"
import { Views } from "./views.ts"
import { loadWhole } from "./whole-load.ts"

/** With this many revisions in use, changes gather briefly, because every change is remembered for each of them. */
const viewsAtOnce = 8

export interface StoreGraphOptions {
  readonly source: TupleSource
  readonly storeId: string
  readonly paged: boolean
  /** How long a question waits for a whole load before it is answered from pages. */
  readonly coldMs: number
  readonly memory: Memory
  readonly kept: Kept
  readonly counts: StoreCounts
  readonly now: () => number
  /** Lets timers and I/O run. */
  readonly turn: () => Promise<void>
  /** Whether questions are in progress, which wait for turns of the event loop. */
  readonly isBusy: () => boolean
  /** Changes are queued: call `flush` soon. */
  readonly onQueued: () => void
  /** The held data was lost: work in progress must start again. */
  readonly onReplaced: () => void
  /** The database no longer contains `held`; its newest commit is `found`. */
  readonly onLost: (held: Commit, found: Commit) => void
}

const firstRetryMs = 60_000
const longestRetryMs = 3_600_000
/** With this factor more room than before, loading the whole store is tried again at once. */
const roomWorth = 1.25

class DoesNotFit extends Error {}
/** The loaded data belongs to a history that was given up meanwhile. */
class Superseded extends Error {}

/**
 * The graph of one store, kept up to date: loaded, then changed by whole revisions in order, from writes of this process or from the
 * source's feed. The graph is always at exactly one commit; work in progress continues at the commit where it began. After the source has
 * lost commits, no question is answered from the held data, and no write of this process counts as known, until the store is loaded again.
 */
export class StoreGraph implements Tenant {
  /** The store itself is the place (see run-queue.ts) of its present. */
  readonly store = this
  readonly exactly = undefined
  graph: Graph
  /** The present. */
  view: Snapshot
  /** When the source last named its newest commit, and the held data reached it: the time of the request, not of the response. */
  contactMs = Number.NEGATIVE_INFINITY
  ready = false
  /** Was used since the engine last looked for a store to drop. */
  used = false
  usedMs = 0
  readonly counts: StoreCounts
  readonly #history: History
  #starting: Promise<void> | undefined
  #loading: Promise<void> | undefined
  #unfinished: Graph | undefined
  /** The load in progress has taken memory that a question needs, and ends with its next batch. */
  #outgrew = false
  /** The part of the store that the last load has read; undefined when unknown. */
  loadedPart: number | undefined
  #paged: boolean
  readonly #tooLarge: TooLarge
  readonly #views = new Views()
  /** Changes applied while pages are read, because those pages may be older. */
  #recent: TupleChange[] = []
  #reading = 0
  readonly #reads: PageReads
  #era = newEra()
  #coming = 0
  readonly #hints = new Hints(() => this.refresh())
  readonly #options: StoreGraphOptions

  constructor(options: StoreGraphOptions) {
    this.#options = options
    this.counts = options.counts
    this.#history = new History({
      ...options,
      onQueued: () => (this.#views.size >= viewsAtOnce ? options.onQueued() : this.flush()),
      onLost: (held, found) => this.#lost(held, found),
      onGone: () => this.#giveUp(),
    })
    this.#reads = new PageReads((keys, revisionMin) =>
      options.source.pages(options.storeId, keys, { revisionMin }),
    )
    this.#paged = options.paged
    this.#tooLarge = new TooLarge(options.memory, this)
    this.graph = new Graph({ paged: true })
    this.view = this.#viewAt(this.graph, firstCommit)
  }

  /** Whether all own writes are applied, so that a question may be answered now. */
  get isCurrent(): boolean {
    return this.ready && this.graph.revision >= this.#history.floor
  }

  get hasQueue(): boolean {
    return this.#history.hasQueue
  }

  /** Revisions that are known to exist and that answers do not contain yet. */
  get behind(): number {
    return this.ready ? Math.max(0, this.#history.floor - this.graph.revision) : 0
  }

  /** Bytes in use, also of data that is being loaded. */
  get bytes(): number {
    return this.#options.memory.of(this)
  }

  /** Resolves when questions can be answered. Concurrent callers share one load; a failed load may be tried again. */
  async load(): Promise<void> {
    if (this.ready) return
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    await this.#starting
  }

  /** Resolves when the whole store is in memory, or when it is clear that it will not be. */
  async loaded(): Promise<void> {
    await this.load()
    // A load that failed while questions are answered from pages is tried again.
    if (this.graph.pages !== undefined && !this.#paged) await this.#loadWhole()
  }

  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  async #start(): Promise<void> {
    if (this.#paged) return this.#startPaged()
    const loading = this.#loadWhole()
    // The next poll retries a load that fails while questions are already answered from pages.
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
    const { floor } = this.#history
    const at = await this.#options.source.newest(this.#options.storeId)
    if (this.ready) return
    this.#history.meetFirst(floor, at)
    this.#adopt(new Graph({ paged: true, at }), asked)
  }

  /** Loads the whole store while questions are answered from pages; a store that does not fit stays in pages. */
  #loadWhole(): Promise<void> {
    const { source, storeId, now, turn, isBusy, memory } = this.#options
    if (this.#loading !== undefined) return this.#loading
    const asked = now()
    const era = this.#era
    const { floor } = this.#history
    this.loadedPart = undefined
    this.#outgrew = false
    const loading = loadWhole({
      source,
      storeId,
      now,
      turn,
      isBusy,
      onGrown: (graph, part) => {
        if (this.#era !== era) throw new Superseded()
        this.loadedPart = part
        this.#countUnfinished(this.#outgrew ? undefined : graph)
        if (!this.#outgrew && !graph.isNearlyFull && memory.makeRoom(this)) return
        // At once, because a question that needs memory now would be refused.
        this.#countUnfinished(undefined)
        throw new DoesNotFit()
      },
      known: () => (this.ready ? this.#history.last.revision : 0),
      onLoaded: (graph) => {
        if (this.#era !== era) throw new Superseded()
        if (this.#outgrew) throw new DoesNotFit()
        if (!this.ready) this.#history.meetFirst(floor, graph.at)
        this.#adopt(graph, asked)
      },
    })
      .catch((error) => {
        if (this.#era === era) this.#countUnfinished(undefined)
        if (error instanceof Superseded) return undefined
        if (error instanceof DoesNotFit) this.#outgrown()
        // When later changes belong to another history than the loaded data, the current data is loaded next.
        else if (!(error instanceof HistoryLost)) throw error
        return this.ready ? undefined : this.#startPaged()
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined
      })
    this.#loading = loading
    return loading
  }

  #countUnfinished(graph: Graph | undefined): void {
    this.#unfinished = graph
    this.#report()
  }

  #adopt(graph: Graph, asked: number): void {
    if (graph === this.#unfinished) this.#unfinished = undefined
    this.graph = graph
    this.view = this.#viewAt(graph, graph.at)
    this.#history.begin(graph.at)
    this.contactMs = Math.max(this.contactMs, asked)
    this.usedMs = this.#options.now()
    this.ready = true
    this.#report()
  }

  /** Accepts changes of this process's own write. */
  applied(changes: readonly TupleChange[]): void {
    this.#history.applied(changes, this.ready)
  }

  /** Applies the queued changes. Work in progress on the previous state continues to see it. */
  flush(): void {
    if (!this.hasQueue) return
    const { graph } = this
    const changes = this.#history.take()
    this.#views.apply(graph, changes)
    if (this.#reading > 0) for (const change of changes) this.#recent.push(change)
    graph.at = this.#history.last
    this.#changed()
    if (graph.isNearlyFull || !this.#options.memory.makeRoom(this)) this.giveWay()
  }

  /** The graph has been replaced. */
  #changed(): void {
    const { graph } = this
    this.#views.retire(graph)
    this.view = this.#viewAt(graph, graph.at)
    this.#report()
  }

  /** The graph does not fit in memory any more: use pages from now on. */
  giveWay(): boolean {
    if (!this.ready || this.graph.pages !== undefined) return false
    this.#outgrown()
    this.flush()
    this.#adopt(new Graph({ paged: true, at: this.graph.at }), this.contactMs)
    return true
  }

  #viewAt(graph: Graph, at: Commit): Snapshot {
    return new Snapshot(graph, at, this.#options.kept.at(this.#era, at), this.counts)
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
    // Later data may belong to another history.
    this.#era = newEra()
    this.#loading = undefined
    this.#unfinished = undefined
    this.graph = new Graph({ paged: true })
    this.#report()
  }

  /** A question uses a snapshot: until it is released, its content does not change. */
  hold(view: Snapshot): void {
    this.#views.hold(view)
  }

  leave(view: Snapshot): void {
    const { bytes } = view
    this.#views.leave(view)
    if (bytes > 0) this.#report()
  }

  /** Work has ended: frees memory that only it used. */
  settle(): void {
    if (this.graph.pages === undefined) return
    this.#report()
    this.#options.memory.makeRoom(this)
  }

  /**
   * Asks the source for its newest commit, proves that the held commit is in its history, and reads new changes. Rejects with the source's
   * error.
   */
  async refresh(): Promise<void> {
    const asked = this.#options.now()
    await this.#history.refresh()
    await this.load()
    this.contactMs = Math.max(this.contactMs, asked)
    if (this.#paged && this.#tooLarge.mayFit(this.#options.now())) this.#paged = this.#options.paged
    // Retries a whole load that failed while questions are answered from pages, or that did not fit.
    if (this.graph.pages !== undefined && !this.#paged && this.ready) this.#loadWhole().catch(() => undefined)
  }

  /** Another process may have written. */
  hint(): void {
    if (this.ready) this.#hints.heard()
  }

  /** A backup was restored, or a standby without the newest commits took over. During a first load there is no held data to give up. */
  #lost(held: Commit, found: Commit): void {
    if (this.ready) {
      this.#giveUp()
      this.load().catch(() => undefined)
    }
    this.#options.onLost(held, found)
  }

  #giveUp(): void {
    this.forget()
    this.#options.onReplaced()
  }

  /** Whether a commit is in the history of the held data; undefined when only the source knows. */
  includes(commit: Commit): boolean | undefined {
    return this.ready ? this.#history.includes(commit) : undefined
  }

  /**
   * Requires that the store's history contains a commit, see `History.require`.
   * @throws CheckError `history_lost` when it does not (any more)
   */
  async require(commit: Commit): Promise<void> {
    await this.#history.require(commit)
  }

  /** Resolves when all changes known to exist are applied. */
  async caughtUp(): Promise<void> {
    await this.#history.catchUp(this.#history.floor)
    // Changes gather for at most a tenth of a second.
    while (!this.isCurrent) {
      await this.load()
      if (this.hasQueue) await this.#options.turn()
      else await this.#history.catchUp(this.#history.floor)
    }
  }

  /**
   * The store at one commit, held until it is released.
   * @throws CheckError when the commit is not available
   */
  async at(commit: Commit): Promise<Snapshot> {
    const { source, storeId, turn, memory } = this.#options
    if (commit.revision > this.graph.revision) await this.refresh()
    await this.caughtUp()
    if ((await this.#history.require(commit)) === "pruned") throw notKept(commit)
    const view = isSameCommit(commit, this.graph.at) ? this.view : this.#viewAt(this.graph, commit)
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
      throw error instanceof HistoryLost ? commitLost(commit) : error
    }
    return view
  }

  /**
   * Loads pages and installs them, pinned. They may be older than the graph by then, so changes since are added.
   * @throws CheckError `resource_exhausted` when they do not fit next to others in use
   */
  async loadPages(wanted: readonly PageKey[], pins: Pins): Promise<number> {
    const { graph } = this
    const keys = wanted.filter((key) => !usePage(graph, key, pins))
    if (graph.pages === undefined || keys.length === 0) return 0
    // While the whole store is loading, wait for it instead of loading large lists.
    if (this.#loading !== undefined && keys.every((key) => isLarge(graph, key))) await this.#loading
    if (this.graph !== graph) return 0
    this.#reading++
    try {
      // This is no contact: the rows may come from a replica, which does not know the newest commit.
      return await loadPages(this.#pageLoad(graph, pins), keys)
    } finally {
      if (--this.#reading === 0) this.#recent = []
    }
  }

  /** One literal: spreading the options took a fifteenth of the time of a question. */
  #pageLoad(graph: Graph, pins: Pins): PageLoad {
    const { source, storeId, now, turn, memory } = this.#options
    let own = 0
    return {
      source,
      storeId,
      now,
      turn,
      graph,
      pins,
      memoryBytes: memory.limit,
      read: (keys: readonly PageKey[], revisionMin: number) => this.#reads.read(keys, revisionMin),
      isCurrent: () => this.graph === graph && this.ready,
      newest: () => this.#history.last,
      reach: async (at: Commit, before: Commit) => {
        if (this.graph === graph) await this.#history.meet(at, before)
        await this.load()
        this.flush()
      },
      recent: () => this.#recent,
      onChanged: () => this.#changed(),
      fits: (coming: number) => {
        this.#coming += coming - own
        own = coming
        this.#report()
        if (memory.makeRoom(this, true)) return true
        if (this.#unfinished === undefined) return false
        // A question goes before the load beside it.
        this.#outgrew = true
        this.#countUnfinished(undefined)
        return memory.makeRoom(this, true)
      },
    }
  }
}

/** Follows hints about possible changes. Hints that arrive meanwhile are combined into one. */
class Hints {
  readonly #follow: () => Promise<unknown>
  #heard = 0

  /** Ignores rejections of `follow`: a hint is never required. */
  constructor(follow: () => Promise<unknown>) {
    this.#follow = follow
  }

  heard(): void {
    this.#heard++
    if (this.#heard === 1) void this.#followAll()
  }

  async #followAll(): Promise<void> {
    while (this.#heard > 0) {
      const heard = this.#heard
      await this.#follow().catch(() => undefined)
      this.#heard = this.#heard > heard ? 1 : 0
    }
  }
}

/** Decides when to load a store whole again that did not fit in memory. Each attempt reads as much as there is room for. */
class TooLarge {
  readonly #memory: Memory
  readonly #tenant: Tenant
  #waitMs = firstRetryMs / 2
  #again = Number.POSITIVE_INFINITY
  #room = Number.POSITIVE_INFINITY

  constructor(memory: Memory, tenant: Tenant) {
    this.#memory = memory
    this.#tenant = tenant
  }

  /** Records that it did not fit. */
  found(now: number): void {
    this.#room = this.#memory.roomFor(this.#tenant)
    this.#waitMs = Math.min(2 * this.#waitMs, longestRetryMs)
    this.#again = now + this.#waitMs
  }

  /** Whether another attempt is worthwhile: other stores are gone, the limit was raised, or the store may have shrunk. */
  mayFit(now: number): boolean {
    return now >= this.#again || this.#memory.roomFor(this.#tenant) > roomWorth * this.#room
  }
}
