import type { Commit } from "../../check/ports.ts"
import type { OlderCommits } from "./event-stream.ts"
import type { FeedCommit } from "./feed-commit.ts"
import type { Follower, StoreFeed } from "./store-feed.ts"
import type { Watch } from "./watches.ts"

/** How often to look for commits that were younger than the horizon. */
const horizonPollMs = 1_000

/** What a long poll waits for. */
export interface LongPollTerms {
  readonly place: Commit
  /** Only changes of objects of this type; empty: all. */
  readonly type: string
  readonly waitMs: number
  /** Changes of one response, rounded up to whole commits. */
  readonly changesMax: number
}

/** Changes as JSON, and the place after them. */
export interface PolledChanges {
  readonly changes: readonly string[]
  readonly place: Commit
}

/**
 * Waits until there are changes after a place, or the time is over, or the client is gone, or the listener closes. `first` is read with the
 * place; `onGone` calls back when the client is gone.
 */
export async function pollChanges(
  watch: Watch,
  terms: LongPollTerms,
  first: OlderCommits,
  onGone: (callback: () => void) => void,
): Promise<PolledChanges> {
  const found = new FoundChanges(terms)
  const endMs = performance.now() + terms.waitMs
  const leaving = { left: false, wake: () => {} }
  const leave = () => {
    leaving.left = true
    leaving.wake()
  }
  watch.signals = { onClosing: leave }
  onGone(leave)
  for (let older = first; ; older = await watch.feed.older(found.place)) {
    for (const commit of older.commits) if (!found.isFull) found.take(commit)
    if (older.joined) found.takeRecent(watch.feed)
    const leftMs = endMs - performance.now()
    if (found.changes.length > 0 || leftMs <= 0 || leaving.left) return found
    if (older.joined) await newCommits(watch.feed, leftMs, leaving)
    else if (older.commits.length === 0) await newCommits(undefined, Math.min(leftMs, horizonPollMs), leaving)
  }
}

class FoundChanges implements PolledChanges {
  readonly changes: string[] = []
  place: Commit
  readonly #terms: LongPollTerms

  constructor(terms: LongPollTerms) {
    this.#terms = terms
    this.place = terms.place
  }

  get isFull(): boolean {
    return this.changes.length >= this.#terms.changesMax
  }

  take(commit: FeedCommit): void {
    for (const change of commit.changes(this.#terms.type)) this.changes.push(change)
    this.place = { revision: commit.revision, stamp: commit.stamp }
  }

  takeRecent(feed: StoreFeed): void {
    while (!this.isFull) {
      const commit = feed.after(this.place.revision)
      if (commit === undefined || commit === "behind") return
      this.take(commit)
    }
  }
}

/** Resolves with the next commits of the feed, at the latest after `ms`. Rejects when the feed ends. */
async function newCommits(
  feed: StoreFeed | undefined,
  ms: number,
  leaving: { wake: () => void },
): Promise<void> {
  let follower: Follower | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      follower = { advance: resolve, fail: reject }
      timer = setTimeout(resolve, ms)
      leaving.wake = resolve
      feed?.follow(follower)
    })
  } finally {
    clearTimeout(timer)
    if (follower !== undefined) feed?.unfollow(follower)
  }
}
