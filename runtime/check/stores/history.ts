import {
  CheckError,
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
  /** Changes were put into the queue: `take` them, now or in a while. */
  readonly onQueued: () => void
  /** The database does not have `held` any more; it stands at `found`. Nothing of what is held may be answered from, and `begin` comes next. */
  readonly onLost: (held: Commit, found: Commit) => void
  /** The store is not there any more. */
  readonly onGone: () => void
}

/**
 * What is known of a store's history: the commits up to one that are held, and that there are later ones. Whatever the source answers is proved against it: what it reads at, and what its changes follow, must be
 * of one history with what is held. Where it is not, commits were lost.
 */
export class History {
  readonly #options: HistoryOptions
  #queue = new ChangeQueue(firstCommit)
  /** The newest revision known to exist. */
  #floor = 0
  #catchingUp: Promise<void> | undefined
  /** Counts what was given up: what was asked for before is of no use then. */
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

  /** What is held begins with what was read at this commit. */
  begin(at: Commit): void {
    this.#queue = new ChangeQueue(at)
  }

  /** Before something is held: what this process wrote or heard of before it asked must be there, or else it was lost. */
  meetFirst(floor: number, at: Commit): void {
    if (floor <= at.revision) return
    this.#floor = Math.min(this.#floor, at.revision)
    this.#options.onLost({ revision: floor, stamp: "" }, at)
  }

  /** What is held is given up, and with it what is known of own writes. */
  giveUp(): void {
    this.#generation++
    this.#floor = 0
  }

  /** Takes changes of this process's own write; a gap before them is closed from the source. `held`: there is something that they follow. */
  applied(changes: readonly TupleChange[], held: boolean): void {
    const last = changes.at(-1)
    if (last === undefined) return
    const accepted = held ? this.#take(changes) : "known"
    if (accepted === "lost") this.#lose(last)
    if (last.revision > this.#floor) this.#floor = last.revision
    if (accepted === "gap") this.catchUp(this.#floor).catch(() => undefined)
  }

  /** All that is queued, to be applied. */
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

  /** Whether a commit is in the history of what is held; undefined when only the source can say. */
  includes(commit: Commit): boolean | undefined {
    return this.#queue.includes(commit)
  }

  /** @throws CheckError `history_lost` when the store's history does not have this commit (any more); `validation_error` when it is too long ago to tell. */
  async require(commit: Commit): Promise<void> {
    if (this.includes(commit) === true) return
    const { source, storeId } = this.#options
    const { revision } = commit
    const stamp = await source.stampOf(storeId, revision)
    if (stamp === undefined && revision <= this.last.revision)
      throw new CheckError("validation_error", `the store's revision ${revision} is no longer kept`)
    if (stamp !== commit.stamp) throw commitLost(commit)
  }

  /** Asks the source for its newest commit, and meets it. Rejects with the source's error. */
  async refresh(): Promise<void> {
    const before = this.last
    const generation = this.#generation
    const { source, storeId } = this.#options
    const newest = await source.newest(storeId).catch((error: unknown) => this.#failed(error, generation))
    await this.meet(newest, before)
  }

  /** The source stands at `found`, or did a moment ago: what was held `before` it was asked must be in its history. Resolves when everything up to there is queued at least, or what is held is given up. */
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

  /** Resolves when everything up to `revision` is queued at least, or what is held is given up. */
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

  /** Takes the next changes. There are some, or the source does not have what it announced or what this process wrote. */
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
