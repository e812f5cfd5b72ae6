import { type Commit, isSameCommit, type TupleChange } from "../ports.ts"

/** Number of commits with remembered stamps: more than happen while the source answers one request. */
const stampsMax = 10_000

/** The result of offering changes. `lost`: they follow another history than the one held. */
export type Accepted = "accepted" | "known" | "gap" | "lost"

/** Changes that are accepted but not applied: whole revisions without a gap, following those of a graph. It knows their commits. */
export class ChangeQueue {
  #changes: TupleChange[] = []
  #last: Commit
  /** Stamps by revision, in order: of `last` and of earlier commits that were seen here. */
  readonly #stamps = new Map<number, string>()

  /** Starts after a graph at this commit. */
  constructor(at: Commit) {
    this.#last = at
    this.#stamps.set(at.revision, at.stamp)
  }

  /** The newest accepted commit, applied or not. */
  get last(): Commit {
    return this.#last
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0
  }

  /** Whether a commit is in the history up to `last`; undefined when that is not remembered. */
  includes({ revision, stamp }: Commit): boolean | undefined {
    if (revision > this.#last.revision) return false
    const known = this.#stamps.get(revision)
    return known === undefined ? undefined : known === stamp
  }

  /** Accepts the new ones of these changes. `gap`: earlier changes are missing, and nothing is accepted. */
  accept(changes: readonly TupleChange[]): Accepted {
    const [first] = changes
    const end = changes.at(-1)
    if (first === undefined || end === undefined) return "known"
    const previous = { revision: first.revision - 1, stamp: first.previous }
    if (this.includes(previous) === false && previous.revision <= this.#last.revision) return "lost"
    if (end.revision <= this.#last.revision) return this.includes(end) === false ? "lost" : "known"
    if (previous.revision > this.#last.revision) return "gap"
    // The changes overlap the held ones: a commit that both contain must be the same.
    const met = changes.find(({ revision }) => revision === this.#last.revision)
    if (met !== undefined && !isSameCommit(met, this.#last)) return "lost"
    for (const change of changes) if (change.revision > this.#last.revision) this.#changes.push(change)
    for (const { revision, stamp } of changes) this.#stamps.set(revision, stamp)
    this.#last = { revision: end.revision, stamp: end.stamp }
    for (const revision of this.#stamps.keys()) {
      if (this.#stamps.size <= stampsMax) break
      this.#stamps.delete(revision)
    }
    return "accepted"
  }

  /** All changes, to be applied. */
  take(): TupleChange[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }
}
