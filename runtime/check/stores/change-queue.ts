import type { TupleChange } from "../ports.ts"

/** Changes accepted but not applied: whole revisions, without a gap, following those of a graph. */
export class ChangeQueue {
  #changes: TupleChange[] = []
  #last = 0

  /** The newest revision accepted, applied or not. */
  get last(): number {
    return this.#last
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0
  }

  /** Begins behind a graph that stands at this revision. */
  restart(revision: number): void {
    this.#changes = []
    this.#last = revision
  }

  /** Accepts what is new of these. `gap`: something is missing before them, and nothing is accepted. */
  accept(changes: readonly TupleChange[]): "accepted" | "known" | "gap" {
    const fresh = changes.filter((change) => change.revision > this.#last)
    const [first] = fresh
    const last = fresh.at(-1)
    if (first === undefined || last === undefined) return "known"
    if (first.revision !== this.#last + 1) return "gap"
    for (const change of fresh) this.#changes.push(change)
    this.#last = last.revision
    return "accepted"
  }

  /** All of them, to be applied. */
  take(): TupleChange[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }
}
