import {
  type Commit,
  commitLost,
  firstCommit,
  HistoryLost,
  StoreGone,
  type TupleChange,
  type TupleSource,
} from "../ports.ts"
import { type Accepted, ChangeQueue } from "./change-queue.ts"

/** Changes read from the source at a time. */
const changesMax = 2_000

export interface HistoryOptions {
  readonly source: TupleSource
  readonly storeId: string
  /** Changes were queued: call `take`, now or soon. */
  readonly onQueued: () => void
  /** The database no longer contains `held`; its newest commit is `found`. Do not answer from the held data; call `begin` next. */
  readonly onLost: (held: Commit, found: Commit) => void
  /** The store no longer exists. */
  readonly onGone: () => void
}

/**
 * The known history of a store: the commits that are held, and the existence of later ones. Everything that the source returns must belong
 * to the same history as the held data: the commit of a read, and the commit before changes. If it does not, commits were lost.
 */
export class History {
  readonly #options: HistoryOptions
  #queue = new ChangeQueue(firstCommit)
  /** The newest revision known to exist. */
  #floor = 0
  #catchingUp: Promise<void> | undefined
  /** Incremented each time data is given up: results requested before are then useless. */
  #generation = 0

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /** The newest commit that is held or queued. */
  get last(): Commit {
    return this.#queue.last
  }

  get floor(): number {
    return this.#floor
  }

  get hasQueue(): boolean {
    return !this.#queue.isEmpty
  }

  /** Starts with data that was read at this commit. */
  begin(at: Commit): void {
    this.#queue = new ChangeQueue(at)
  }

  /** Checks the first data: if it lacks revisions that this process wrote or heard of before, they were lost. */
  meetFirst(floor: number, at: Commit): void {
    if (floor <= at.revision) return
    this.#floor = Math.min(this.#floor, at.revision)
    this.#options.onLost({ revision: floor, stamp: "" }, at)
  }

  /** Forgets the held data, and with it the knowledge of own writes. */
  giveUp(): void {
    this.#generation++
    this.#floor = 0
  }

  /** Accepts changes of this process's own write; a gap before them is filled from the source. `held`: there is data that they follow. */
  applied(changes: readonly TupleChange[], held: boolean): void {
    const last = changes.at(-1)
    if (last === undefined) return
    const accepted = held ? this.#take(changes) : "known"
    if (accepted === "lost") this.#lose(last)
    if (last.revision > this.#floor) this.#floor = last.revision
    if (accepted === "gap") this.catchUp(this.#floor).catch(() => undefined)
  }

  /** All queued changes, to be applied. */
  take(): TupleChange[] {
    return this.#queue.take()
  }

  #take(changes: readonly TupleChange[]): Accepted {
    const accepted = this.#queue.accept(changes)
    if (accepted !== "accepted") return accepted
    this.#floor = Math.max(this.#floor, this.last.revision)
    this.#options.onQueued()
    return accepted
  }

  /** Whether a commit is in the history of the held data; undefined when only the source knows. */
  includes(commit: Commit): boolean | undefined {
    return this.#queue.includes(commit)
  }

  /**
   * Requires that the store's history contains a commit. `pruned`: the feed no longer reaches back to it. Its stamp is gone then, and its
   * number is all that proves that newer commits include it.
   * @throws CheckError `history_lost` when the history does not contain it (any more)
   */
  async require(commit: Commit): Promise<"kept" | "pruned"> {
    if (this.includes(commit) === true) return "kept"
    const { source, storeId } = this.#options
    const { revision } = commit
    const stamp = await source.stampOf(storeId, revision)
    if (stamp === undefined && revision <= this.last.revision) return "pruned"
    if (stamp !== commit.stamp) throw commitLost(commit)
    return "kept"
  }

  /** Asks the source for its newest commit, and compares it. Rejects with the source's error. */
  async refresh(): Promise<void> {
    const before = this.last
    const generation = this.#generation
    const { source, storeId } = this.#options
    const newest = await source.newest(storeId).catch((error: unknown) => this.#failed(error, generation))
    await this.meet(newest, before)
  }

  /**
   * The source is, or was, at `found`: the commit held `before` the request must be in its history. Resolves when everything up to `found`
   * is at least queued, or the held data was given up.
   */
  async meet(found: Commit, before: Commit): Promise<void> {
    const generation = this.#generation
    if (found.revision < before.revision || this.#contradicts(found)) this.#lose(found)
    else await this.catchUp(found.revision)
    if (this.#generation === generation && this.#contradicts(found)) this.#lose(found)
  }

  #contradicts(found: Commit): boolean {
    return found.revision <= this.last.revision && this.includes(found) === false
  }

  #lose(found: Commit): void {
    const held = this.last
    this.giveUp()
    this.#options.onLost(held, found)
  }

  #failed(error: unknown, generation: number): never {
    if (error instanceof StoreGone && this.#generation === generation) {
      this.giveUp()
      this.#options.onGone()
    }
    throw error
  }

  /** Resolves when everything up to `revision` is at least queued, or the held data was given up. */
  async catchUp(revision: number): Promise<void> {
    if (revision > this.#floor) this.#floor = revision
    const generation = this.#generation
    while (this.#generation === generation && this.last.revision < revision) {
      this.#catchingUp ??= this.#fetch().finally(() => {
        this.#catchingUp = undefined
      })
      await this.#catchingUp
    }
  }

  /** Fetches the next changes. Without changes, the source lacks a revision that it announced or that this process wrote. */
  async #fetch(): Promise<void> {
    const { source, storeId } = this.#options
    const generation = this.#generation
    const before = this.last
    try {
      const changes = await source.changes(storeId, before, changesMax)
      if (this.#generation !== generation) return
      const accepted = this.#take(changes)
      if (accepted === "lost" || this.last.revision === before.revision) throw new HistoryLost()
    } catch (error) {
      if (!(error instanceof HistoryLost)) this.#failed(error, generation)
      if (this.#generation !== generation) return
      const newest = await source.newest(storeId)
      if (this.#generation === generation) this.#lose(newest)
    }
  }
}
