import { Graph } from "./graph.ts"
import { type PageKey, type Pages, SourceUnavailable, type TupleChange, type TupleSource } from "./ports.ts"

/** Changes read from the source at a time. */
const changesMax = 2_000
/** Sorting after a load goes on in turns of this length. */
const sliceMs = 8

export interface StoreGraphOptions {
  readonly source: TupleSource
  readonly storeId: string
  readonly paged: boolean
  readonly now: () => number
  /** Lets timers and I/O run before going on. */
  readonly turn: () => Promise<void>
  /** Asks whether evaluations are under way that changes would disturb. */
  readonly isBusy: () => boolean
  /** Something was put into the queue while evaluations are under way. */
  readonly onQueued: () => void
  /** The graph has changed: evaluations under way must start over. */
  readonly onChanged: () => void
}

/**
 * The graph of one store, kept up to date: loaded once, then changed by whole revisions in their order, whether they come from a write of this process or
 * from the source's feed. The graph always stands at exactly one revision.
 */
export class StoreGraph {
  graph: Graph
  /** When the source last confirmed what we have: the time the question was put, not answered. */
  contactMs = Number.NEGATIVE_INFINITY
  ready = false
  /** Was asked since the engine last looked for a store to give up. */
  used = false
  /** Changes accepted but not applied, whole revisions following the graph's. */
  #queue: TupleChange[] = []
  #queued = 0
  /** The newest revision known to exist. */
  #floor = 0
  #catchingUp: Promise<void> | undefined
  #loading: Promise<void> | undefined
  readonly #options: StoreGraphOptions

  constructor(options: StoreGraphOptions) {
    this.#options = options
    this.graph = new Graph({ paged: options.paged })
  }

  /** May a question be answered now, as far as own writes are concerned? */
  get isCurrent(): boolean {
    return this.ready && this.graph.revision >= this.#floor
  }

  get hasQueue(): boolean {
    return this.#queue.length > 0
  }

  /** Resolves when the graph stands; several callers share one load, a failed one may be tried again. */
  async load(): Promise<void> {
    if (this.ready) return
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  async #load(): Promise<void> {
    const { source, storeId, paged, now, turn } = this.#options
    const asked = now()
    const graph = new Graph({ paged })
    if (paged) graph.revision = await source.revision(storeId)
    else {
      graph.startLoad()
      graph.revision = await source.load(storeId, (rows) => {
        for (const row of rows) graph.loadRow(row)
      })
      const sorting = graph.finishLoad()
      for (let until = now() + sliceMs; !sorting.next().done; ) {
        if (now() < until) continue
        await turn()
        until = now() + sliceMs
      }
    }
    this.graph = graph
    this.#queue = []
    this.#queued = graph.revision
    this.contactMs = asked
    this.ready = true
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
    const fresh = changes.filter((change) => change.revision > this.#queued)
    const [first] = fresh
    const last = fresh.at(-1)
    if (first === undefined || last === undefined) return true
    if (first.revision !== this.#queued + 1) return false
    this.#queue.push(...fresh)
    this.#queued = last.revision
    if (last.revision > this.#floor) this.#floor = last.revision
    if (this.#options.isBusy()) this.#options.onQueued()
    else this.flush()
    return true
  }

  /** Applies what is queued. */
  flush(): void {
    if (this.#queue.length === 0) return
    for (const { operation, row } of this.#queue) {
      if (operation === "write") this.graph.write(row)
      else this.graph.delete(row)
    }
    this.#queue = []
    this.graph.revision = this.#queued
    this.#options.onChanged()
  }

  /** Asks the source for its revision and takes what is new. Rejects with the source's error. */
  async refresh(): Promise<number> {
    const { source, storeId, now } = this.#options
    const asked = now()
    const held = this.#queued
    const revision = await source.revision(storeId)
    if (revision < held) await this.#reload(revision)
    else await this.catchUp(revision)
    this.contactMs = Math.max(this.contactMs, asked)
    return revision
  }

  /** The source went back behind what is held: a backup was restored, or a replica took over that had not everything. What is held never was, then. */
  async #reload(revision: number): Promise<void> {
    this.ready = false
    this.#floor = revision
    this.#options.onChanged()
    await this.load()
  }

  /** Resolves when everything up to `revision` is in the queue at least. */
  async catchUp(revision: number): Promise<void> {
    if (revision > this.#floor) this.#floor = revision
    let stuck = 0
    while (this.#queued < revision) {
      const before = this.#queued
      this.#catchingUp ??= this.#fetch().finally(() => {
        this.#catchingUp = undefined
      })
      await this.#catchingUp
      // A source that does not have what it announced: not an endless loop, and no answer either.
      if (this.#queued <= before && ++stuck > 2)
        throw new SourceUnavailable(`revision ${revision} is not to be had`)
    }
  }

  async #fetch(): Promise<void> {
    const { source, storeId } = this.#options
    const before = this.#queued
    const changes = await source.changes(storeId, before, changesMax)
    const contiguous = this.#take(changes)
    // A feed that no longer reaches back this far, or skips: only a new load can tell what the store holds.
    if (!contiguous || this.#queued === before) {
      await this.#reload(this.#floor)
    }
  }

  /** Resolves when all changes known to exist are applied. */
  async caughtUp(): Promise<void> {
    await this.catchUp(this.#floor)
    // Changes wait for evaluations under way, a tenth of a second at most.
    while (!this.isCurrent) {
      await this.load()
      if (this.hasQueue) await this.#options.turn()
      else await this.catchUp(this.#floor)
    }
  }

  /** Forgets the pages of a paged graph when they have become more than `pagesMax` and nobody is using them. */
  trim(pagesMax: number): void {
    const { pages, revision } = this.graph
    if (pages === undefined || this.#options.isBusy()) return
    if (pages.forward.size + pages.reverse.size <= pagesMax) return
    this.graph = new Graph({ paged: true })
    this.graph.revision = revision
  }

  /** Loads pages in one statement and installs them at the revision they were read at. */
  async loadPages(keys: readonly PageKey[]): Promise<void> {
    const { source, storeId, now } = this.#options
    for (;;) {
      const asked = now()
      const pages: Pages = await source.pages(storeId, keys)
      await this.catchUp(pages.revision)
      this.flush()
      // Newer than the pages by an own write meanwhile: they may lack it.
      if (this.graph.revision !== pages.revision) continue
      keys.forEach((key, at) => {
        // Evaluations under way may go on: what they have read stays where it lies, and what they missed they will ask for.
        this.graph.install(key, pages.pages[at] ?? [])
      })
      this.contactMs = Math.max(this.contactMs, asked)
      return
    }
  }
}
