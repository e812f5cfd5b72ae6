import type { ListenerState } from "../../http/server/incoming.ts"
import type { Database } from "../../store/database.ts"
import { noticesOf } from "../../store/notices.ts"
import { ApiError } from "../api-error.ts"
import { StoreFeed } from "./store-feed.ts"

/** Also how long a proxy sees an idle stream without a byte. */
const heartbeatMs = 15_000
/** A notice can be lost, and the deletion of a store by another process sends none. */
const pollMs = 1_000
/** Feeds without watchers stay for this many heartbeats, for long polls that come back. */
const idleSweepsMax = 3
/** Commits that stay in memory, for one feed; and characters of JSON, for all of them together. */
const recentCountMax = 1_000
const recentLengthMax = 32 * 1024 * 1024

/** What the process calls on a watch. */
export interface WatchSignals {
  /** Called every 15 seconds. */
  readonly onHeartbeat?: () => void
  /** The listener closes: end now, so that the client continues at another process. */
  readonly onClosing: () => void
}

/** A request that watches a store. */
export interface Watch {
  readonly feed: StoreFeed
  signals: WatchSignals
  /** Call it when the request has ended; more calls have no effect. */
  release(): void
}

interface Held extends Watch {
  readonly listener: ListenerState
}

export interface WatchesOptions {
  readonly database: Database
  readonly limits: () => { readonly watchersMax: number; readonly changesHorizonMs: number }
  /** Called with faults of ours. */
  readonly onFault: (error: unknown) => void
}

/** All watches of a process, and the feeds of their stores: one reader for each store, however many watch it. */
export class Watches {
  readonly #options: WatchesOptions
  readonly #feeds = new Map<string, StoreFeed>()
  readonly #watches = new Set<Held>()
  #stop: (() => void) | undefined
  #polling = false
  #closed = false

  constructor(options: WatchesOptions) {
    this.#options = options
  }

  /** Number of watches. */
  get size(): number {
    return this.#watches.size
  }

  /**
   * Begins a watch.
   * @throws ApiError `unavailable` when there are too many, or the listener closes
   */
  join(storeId: string, listener: ListenerState): Watch {
    const { watchersMax } = this.#options.limits()
    if (this.#closed || listener.closing)
      throw new ApiError("unavailable", "this process is shutting down; watch at another process")
    if (this.#watches.size >= watchersMax)
      throw new ApiError(
        "unavailable",
        `this process has ${watchersMax} watchers, as many as \`watchers\` in \`limits\` of \`authz\` allows; watch at another process, or raise the limit`,
      )
    const feed = this.#feedOf(storeId)
    feed.users++
    const release = () => {
      if (this.#watches.delete(watch)) feed.users--
    }
    const watch: Held = { feed, listener, signals: { onClosing: () => undefined }, release }
    this.#watches.add(watch)
    return watch
  }

  /** Call it when a store was deleted. */
  wake(storeId: string): void {
    const feed = this.#feeds.get(storeId)
    if (feed !== undefined && feed.users > 0) feed.wake()
  }

  /** Ends the watches on listeners that close. */
  endClosing(): void {
    for (const { listener, signals } of [...this.#watches]) if (listener.closing) signals.onClosing()
  }

  /** Ends all watches, and lets none begin. */
  close(): void {
    this.#closed = true
    for (const { signals } of [...this.#watches]) signals.onClosing()
    this.#feeds.clear()
    this.#stop?.()
    this.#stop = undefined
  }

  #feedOf(storeId: string): StoreFeed {
    const known = this.#feeds.get(storeId)
    if (known !== undefined) return known
    const { database, limits, onFault } = this.#options
    const feed = new StoreFeed({
      ...{ database, storeId, onFault },
      bounds: () => ({ countMax: recentCountMax, lengthMax: recentLengthMax / this.#feeds.size }),
      horizonMs: () => limits().changesHorizonMs,
    })
    this.#feeds.set(storeId, feed)
    this.#stop ??= this.#start()
    return feed
  }

  #start(): () => void {
    const stopHearing = noticesOf(this.#options.database).listenToAllStores((storeId) => this.wake(storeId))
    const timers = [
      setInterval(() => void this.#poll(), pollMs),
      setInterval(() => this.#heartbeat(), heartbeatMs),
    ]
    for (const timer of timers) timer.unref()
    return () => {
      stopHearing()
      for (const timer of timers) clearInterval(timer)
    }
  }

  #heartbeat(): void {
    for (const { signals } of [...this.#watches]) signals.onHeartbeat?.()
    for (const [storeId, feed] of this.#feeds) {
      feed.idleSweeps = feed.users > 0 ? 0 : feed.idleSweeps + 1
      if (feed.idleSweeps > idleSweepsMax) this.#feeds.delete(storeId)
    }
    if (this.#feeds.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  /** One feed after the other, so that many stores do not take all connections to the database. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    for (const feed of [...this.#feeds.values()]) {
      if (feed.users === 0 || !feed.isRead || performance.now() - feed.readMs < pollMs) continue
      await feed.refresh().catch(() => undefined)
    }
    this.#polling = false
  }
}
