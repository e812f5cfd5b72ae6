import { type Commit, isSameCommit } from "../../check/ports.ts"
import { decodeToken, encodeToken } from "../../store/continuation.ts"
import type { LoggedCommit } from "../../store/read-commits.ts"
import { invalidToken } from "../fields.ts"
import { changeBody } from "../tuple-keys.ts"

const tokenKind = "watch-1"

/** A place in a store's history as a token: directly after that commit. Opaque to clients. */
export function watchToken(storeId: string, { revision, stamp }: Commit): string {
  return encodeToken(tokenKind, [storeId, String(revision), stamp])
}

/** @throws ApiError `invalid_continuation_token` when it is not a token of this store's watch */
export function placeOf(storeId: string, token: string): Commit {
  const [ofStore, revision = "", stamp = ""] = decodeToken(tokenKind, token, 3) ?? []
  if (ofStore !== storeId || !/^\d{1,15}$/.test(revision) || !/^[\w-]{0,12}$/.test(stamp))
    throw invalidToken()
  return { revision: Number(revision), stamp }
}

/** A commit in the form in which watchers get it. Each form is made once for all watchers. */
export class FeedCommit implements Commit {
  readonly revision: number
  readonly stamp: string
  /** Length of the changes as JSON. */
  readonly length: number
  readonly #storeId: string
  /** Changes as JSON by the type of their object; under the empty name all of them. */
  readonly #changes = new Map<string, string[]>()
  readonly #events = new Map<string, Buffer>()

  constructor(storeId: string, { revision, stamp, changes }: LoggedCommit) {
    this.#storeId = storeId
    this.revision = revision
    this.stamp = stamp
    const all = changes.map((change) => JSON.stringify(changeBody(change)))
    this.#changes.set("", all)
    changes.forEach(({ key }, at) => {
      const type = key.object.slice(0, key.object.indexOf(":"))
      const ofType = this.#changes.get(type)
      if (ofType === undefined) this.#changes.set(type, [all[at] as string])
      else ofType.push(all[at] as string)
    })
    this.length = all.reduce((sum, { length }) => sum + length, 0)
  }

  /** Changes of objects of this type as JSON; the empty type: all. */
  changes(type: string): readonly string[] {
    return this.#changes.get(type) ?? []
  }

  /** The commit as a Server-Sent Event; undefined without changes of this type. */
  event(type: string): Buffer | undefined {
    const changes = this.#changes.get(type)
    if (changes === undefined) return undefined
    let event = this.#events.get(type)
    if (event === undefined) {
      const id = watchToken(this.#storeId, this)
      event = Buffer.from(`id: ${id}\nevent: change\ndata: {"changes":[${changes.join(",")}]}\n\n`)
      this.#events.set(type, event)
    }
    return event
  }
}

/** The newest commits of a feed, bounded by their number and the length of their changes. They follow each other without a gap. */
export class RecentCommits {
  /** The commit before the oldest one here. */
  #floor: Commit
  #commits: FeedCommit[] = []
  #length = 0

  constructor(head: Commit) {
    this.#floor = head
  }

  get head(): Commit {
    return this.#commits.at(-1) ?? this.#floor
  }

  /** Adds commits that follow the head, and removes the oldest beyond the bounds; the added ones stay in any case. */
  add(commits: readonly FeedCommit[], { countMax, lengthMax }: RecentBounds): void {
    this.#commits.push(...commits)
    for (const { length } of commits) this.#length += length
    let removed = 0
    const removable = this.#commits.length - commits.length
    while (removed < removable) {
      if (this.#commits.length - removed <= countMax && this.#length <= lengthMax) break
      this.#length -= (this.#commits[removed] as FeedCommit).length
      removed++
    }
    const last = this.#commits[removed - 1]
    if (last === undefined) return
    this.#floor = { revision: last.revision, stamp: last.stamp }
    this.#commits.splice(0, removed)
  }

  /**
   * Whether the commits after a place are here. `older`: some are not, and the place cannot be compared. `newer`: the place is after the
   * head. `lost`: the history has another commit in this place.
   */
  covers(place: Commit): "covered" | "older" | "newer" | "lost" {
    if (place.revision < this.#floor.revision) return "older"
    if (place.revision > this.head.revision) return "newer"
    const met = this.#commits[this.#indexAfter(place.revision) - 1] ?? this.#floor
    return isSameCommit(met, place) ? "covered" : "lost"
  }

  /** The first commit after a revision. */
  after(revision: number): FeedCommit | undefined {
    return this.#commits[this.#indexAfter(revision)]
  }

  /** Whether commits after a revision were removed. */
  isBehind(revision: number): boolean {
    return revision < this.#floor.revision
  }

  /** Most watchers are at the head, so this searches from the end. */
  #indexAfter(revision: number): number {
    let index = this.#commits.length
    while (index > 0 && (this.#commits[index - 1] as FeedCommit).revision > revision) index--
    return index
  }
}

/** How many commits, and how many characters of changes as JSON, stay in memory. */
export interface RecentBounds {
  readonly countMax: number
  readonly lengthMax: number
}
