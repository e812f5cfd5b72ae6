import { type Commit, commitLost, SourceUnavailable, StoreGone } from "../../check/ports.ts"
import type { Database } from "../../store/database.ts"
import { type CommitsRead, readCommits } from "../../store/read-commits.ts"
import { createTupleSource } from "../../store/tuple-source.ts"
import { ApiError, apiErrorOf, storeNotFound } from "../api-error.ts"
import { FeedCommit, type RecentBounds, RecentCommits, watchToken } from "./feed-commit.ts"

/** Changes that one statement reads, rounded up to whole commits. */
const changesMax = 1_000

/** A watcher that has joined a feed. */
export interface Follower {
  /** There are new commits. */
  advance(): void
  /** The feed has ended. */
  fail(error: unknown): void
}

export interface StoreFeedOptions {
  readonly database: Database
  readonly storeId: string
  readonly bounds: () => RecentBounds
  /** Commits younger than this are left out, in milliseconds. */
  readonly horizonMs: () => number
  /** Called with faults of ours. */
  readonly onFault: (error: unknown) => void
}

/**
 * The feed of one store for all of its watchers. It reads each new commit once, and keeps the newest ones. A watcher has only a place in
 * it, so that a slow one costs no memory.
 */
export class StoreFeed {
  readonly #options: StoreFeedOptions
  readonly #followers = new Set<Follower>()
  #recent: RecentCommits | undefined
  #reading: Promise<void> | undefined
  #wanted = false
  /** Reads of older commits that are under way, by their place. */
  readonly #older = new Map<string, Promise<readonly FeedCommit[]>>()
  /** When the last read began, by `performance.now()`. */
  readMs = Number.NEGATIVE_INFINITY
  /** Requests that use the feed, whether they have joined or not. */
  users = 0
  /** Sweeps in a row that found no user. */
  idleSweeps = 0

  constructor(options: StoreFeedOptions) {
    this.#options = options
  }

  get storeId(): string {
    return this.#options.storeId
  }

  /** The newest commit that was read. Requires a `refresh` before. */
  get head(): Commit {
    return this.#known.head
  }

  get #known(): RecentCommits {
    if (this.#recent === undefined) throw new Error("the feed was not read yet")
    return this.#recent
  }

  get isRead(): boolean {
    return this.#recent !== undefined
  }

  /** Reads what is new, in a statement that begins after this call. Rejects when the database is unavailable or the store is gone. */
  async refresh(): Promise<void> {
    // The read under way may have begun before the commit that the caller asks for.
    await this.#reading?.catch(() => undefined)
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      if (this.#wanted && this.#followers.size > 0) this.wake()
    })
    await this.#reading
  }

  /** Something may be new: reads it now, or after the read under way. */
  wake(): void {
    this.#wanted = true
    if (this.#reading !== undefined) return
    this.refresh().catch((error: unknown) => {
      // When the database is unavailable, the next poll tries again. Other known failures have gone to the watchers.
      if (apiErrorOf(error) === undefined) this.#options.onFault(error)
    })
  }

  /**
   * The commits after a place that are not in memory, and whether the place has reached those that are. Watchers at the same place share
   * one statement.
   * @throws CheckError `history_lost` · ApiError `changes_pruned`, `store_id_not_found` · SourceUnavailable
   */
  async older(place: Commit): Promise<{ readonly commits: readonly FeedCommit[]; readonly joined: boolean }> {
    if (this.#recent === undefined) await this.refresh()
    const covered = this.#known.covers(place)
    if (covered === "covered") return { commits: [], joined: true }
    if (covered === "lost") throw commitLost(place)
    const key = `${place.revision} ${place.stamp}`
    let reading = this.#older.get(key)
    if (reading === undefined) {
      reading = this.#commitsAfter(place).finally(() => this.#older.delete(key))
      this.#older.set(key, reading)
    }
    const commits = await reading
    // At the newest commit of the database, which the feed has yet to reach. Before older ones, they are younger than the horizon.
    return { commits, joined: commits.length === 0 && covered === "newer" }
  }

  /** The first commit after a revision; `behind` when it is no longer in memory. */
  after(revision: number): FeedCommit | "behind" | undefined {
    if (this.#recent === undefined || this.#recent.isBehind(revision)) return "behind"
    return this.#recent.after(revision)
  }

  follow(follower: Follower): void {
    this.#followers.add(follower)
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower)
  }

  /** Ends all watchers of the feed. */
  fail(error: unknown): void {
    for (const follower of [...this.#followers]) follower.fail(error)
  }

  async #read(): Promise<void> {
    this.readMs = performance.now()
    this.#wanted = false
    const { database, storeId } = this.#options
    try {
      if (this.#recent === undefined) {
        this.#recent = new RecentCommits(await createTupleSource(database).newest(storeId))
        return
      }
      await this.#follow(this.#recent)
    } catch (error) {
      const failure = error instanceof StoreGone ? storeNotFound() : error
      if (failure instanceof SourceUnavailable) throw failure
      // After a lost history, a deletion or a fault of ours, the next watcher starts anew.
      this.#recent = undefined
      this.fail(failure)
      throw failure
    }
  }

  async #follow(recent: RecentCommits): Promise<void> {
    for (;;) {
      const commits = await this.#commitsAfter(recent.head)
      if (commits.length === 0) return
      const changes = commits.reduce((sum, commit) => sum + commit.changes("").length, 0)
      recent.add(commits, this.#options.bounds())
      for (const follower of [...this.#followers]) follower.advance()
      // What was committed meanwhile has sent its own notice.
      if (changes < changesMax) return
    }
  }

  async #commitsAfter(place: Commit): Promise<readonly FeedCommit[]> {
    const { database, storeId, horizonMs } = this.#options
    const wanted = { max: changesMax, horizonMs: horizonMs() }
    const read = await readCommits(database, storeId, place, wanted).catch((error: unknown) => {
      throw error instanceof StoreGone ? storeNotFound() : error
    })
    if (read.state === "lost") throw commitLost(place)
    if (read.state === "pruned") throw pruned(storeId, read)
    return read.commits.map((commit) => new FeedCommit(storeId, commit))
  }
}

function pruned(storeId: string, { before, newest }: CommitsRead & { readonly state: "pruned" }): ApiError {
  return new ApiError(
    "changes_pruned",
    `the changes of this store from before ${before.toISOString()} were pruned; read its tuples as they are now (POST /stores/${storeId}/read), then continue with after=${watchToken(storeId, newest)}`,
  )
}
