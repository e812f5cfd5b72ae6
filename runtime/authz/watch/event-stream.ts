import { setTimeout as sleep } from "node:timers/promises"
import type { Commit } from "../../check/ports.ts"
import type { Reply } from "../../http/server/incoming.ts"
import { ApiError, apiErrorOf } from "../api-error.ts"
import { type FeedCommit, watchToken } from "./feed-commit.ts"
import type { Follower, StoreFeed } from "./store-feed.ts"
import type { Watch } from "./watches.ts"

/** How long clients wait before they connect again (`retry` of the WHATWG's Server-Sent Events). */
const retryMs = 2_000
/** A client that takes nothing for this many heartbeats is gone. */
const blockedBeatsMax = 4
/** How long the last event of a stream may take. */
const lastEventMs = 10_000
/** How often to look for commits that were younger than the horizon. */
const horizonPollMs = 1_000

/** Older commits, and whether the place is now among those in memory (`StoreFeed.older`). */
export type OlderCommits = Awaited<ReturnType<StoreFeed["older"]>>

/** What a stream needs. */
export interface EventStreamParts {
  readonly watch: Watch
  readonly place: Commit
  /** Only changes of objects of this type; empty: all. */
  readonly type: string
  /** Throws, or rejects with, the reason why the client may not watch any more. */
  readonly admit: () => unknown
  readonly onFault: (error: unknown) => void
}

/**
 * The changes of a store as Server-Sent Events, until the client or the store is gone. It writes only what the socket takes and has only a
 * place in the feed, so a slow client costs no memory; when the feed has left its place behind, the stream ends.
 */
export class EventStream implements Follower {
  readonly #parts: EventStreamParts
  readonly #response: Reply
  #place: Commit
  /** The revision of the last id that the client has. */
  #toldRevision: number
  #isLive = false
  #ended = false
  #blocked = false
  #blockedBeats = 0
  #onDrain: (() => void) | undefined

  /** Begins; the head of the response is written. `first` is read with the place. */
  constructor(parts: EventStreamParts, response: Reply, first: OlderCommits) {
    this.#parts = parts
    this.#response = response
    this.#place = parts.place
    this.#toldRevision = parts.place.revision
    if (response.destroyed) {
      this.#leave()
      return
    }
    response.on("close", () => this.#leave())
    response.on("drain", () => this.#drained())
    parts.watch.signals = {
      onHeartbeat: () => this.#heartbeat(),
      onClosing: () => this.#end(""),
    }
    this.#write(`retry: ${retryMs}\nid: ${this.#token}\n\n`)
    this.#catchUp(first).catch((error: unknown) => this.fail(error))
  }

  advance(): void {
    const { feed } = this.#parts.watch
    while (!this.#ended) {
      const commit = feed.after(this.#place.revision)
      if (commit === "behind") this.fail(tooSlow(this.#token))
      else if (commit === undefined || this.#blocked) return
      else this.#send(commit)
    }
  }

  fail(error: unknown): void {
    const known = apiErrorOf(error)
    if (known === undefined) this.#parts.onFault(error)
    const { code, message } = known ?? { code: "internal_error", message: "Internal Server Error" }
    this.#end(`event: error\ndata: ${JSON.stringify({ code, message })}\n\n`)
  }

  get #token(): string {
    return watchToken(this.#parts.watch.feed.storeId, this.#place)
  }

  /** Sends commits that are not in memory, page by page, and then follows the feed. */
  async #catchUp(first: OlderCommits): Promise<void> {
    const { feed } = this.#parts.watch
    for (let older = first; !older.joined; older = await feed.older(this.#place)) {
      for (const commit of older.commits) {
        this.#send(commit)
        if (this.#blocked) await this.#takes()
        if (this.#ended) return
      }
      if (older.commits.length === 0) await sleep(horizonPollMs, undefined, { ref: false })
      if (this.#ended) return
    }
    if (this.#ended) return
    this.#isLive = true
    feed.follow(this)
    this.advance()
  }

  /** Resolves when the client takes more, or the stream has ended. */
  #takes(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrain = resolve
    })
  }

  #send(commit: FeedCommit): void {
    const event = commit.event(this.#parts.type)
    this.#place = commit
    if (event === undefined) return
    this.#toldRevision = commit.revision
    this.#write(event)
  }

  #write(content: string | Uint8Array): void {
    if (!this.#response.write(content)) this.#blocked = true
  }

  #drained(): void {
    this.#blocked = false
    this.#blockedBeats = 0
    this.#onDrain?.()
    this.#onDrain = undefined
    if (this.#isLive) this.advance()
  }

  /** A comment; with an id where changes of other types have moved the place, so that the client does not go on too far back. */
  #heartbeat(): void {
    if (this.#ended) return
    if (this.#blocked) {
      if (++this.#blockedBeats >= blockedBeatsMax) this.#response.destroy()
      return
    }
    const id = this.#place.revision > this.#toldRevision ? `id: ${this.#token}\n` : ""
    this.#toldRevision = this.#place.revision
    this.#write(`: heartbeat\n${id}\n`)
    this.#readmit().catch((error: unknown) => {
      // While an issuer's keys are unavailable, callers that were admitted stay.
      if (!(error instanceof ApiError) || error.status < 500) this.fail(error)
    })
  }

  async #readmit(): Promise<void> {
    await this.#parts.admit()
  }

  #end(lastEvent: string): void {
    if (this.#ended) return
    this.#stop()
    this.#response.end(lastEvent)
    // Its client may take nothing any more.
    const over = setTimeout(() => this.#response.destroy(), lastEventMs)
    over.unref()
    this.#response.on("close", () => clearTimeout(over))
  }

  #stop(): void {
    this.#ended = true
    this.#parts.watch.feed.unfollow(this)
    this.#onDrain?.()
  }

  #leave(): void {
    this.#stop()
    this.#parts.watch.release()
  }
}

const tooSlow = (token: string) =>
  new ApiError(
    "resource_exhausted",
    `the client reads more slowly than changes are made; connect again with after=${token}`,
  )
