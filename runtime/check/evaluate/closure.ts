import { IntList } from "./int-list.ts"
import { NodeTable } from "./node-table.ts"
import type { BackHops } from "./program.ts"
import type { EngineQuestion } from "./question.ts"

/**
 * All nodes that a subject reaches, transitively, within the relations that one relation depends on. It grows level by level, as far as a
 * question needs it, and is kept for the whole request. Level 0 contains the nodes with a tuple of the subject itself. For pure relations
 * it is exact. For others, a node outside it does not hold, and a node inside it may hold.
 */
export class Closure {
  /** Found nodes, with their level as state. */
  readonly #found = new NodeTable()
  readonly #question: EngineQuestion
  readonly #ways: BackHops
  #frontier = new IntList()
  #level = -1
  #missed = false
  /** Approximate number of nodes that the next level will visit. */
  pending: number

  constructor(question: EngineQuestion, target: number) {
    this.#question = question
    this.#ways = question.program.backHops(target)
    this.pending = this.#seedCount()
  }

  /** Level of a node; -1 when it is not found (yet). */
  level(object: number, relation: number): number {
    const at = this.#found.find(object, relation)
    return at < 0 ? -1 : this.#found.state(at)
  }

  /** Growing further cannot find more nodes. */
  get exhausted(): boolean {
    return this.#level >= 0 && this.#frontier.length === 0
  }

  /** All nodes are found: a node that is not in it does not hold. */
  get complete(): boolean {
    return this.exhausted && !this.#missed
  }

  /** No node is found yet. */
  get isEmpty(): boolean {
    return this.#found.size === 0
  }

  /** A list was not in memory. */
  get missed(): boolean {
    return this.#missed
  }

  get reached(): number {
    return this.#level
  }

  /** Releases the table for reuse by other questions. */
  release(): void {
    this.#found.release()
  }

  /** Grows one level and calls back for every new node; yields now and then. */
  *grow(onNode: (object: number, relation: number, level: number) => void): Generator<void> {
    const frontier = this.#frontier
    this.#frontier = new IntList()
    this.#level++
    if (this.#level === 0) yield* this.#seed(onNode)
    else {
      for (let at = 0; at < frontier.length; at += 2) {
        const object = frontier.get(at)
        for (const { slot, relation } of this.#ways.steps[frontier.get(at + 1)] ?? [])
          yield* this.#take(object, slot, relation, onNode)
        if ((at & 2047) === 2046) yield
      }
    }
    this.pending = this.#frontier.length / 2
  }

  *#seed(onNode: (object: number, relation: number, level: number) => void): Generator<void> {
    const { subject, wildcard } = this.#question
    for (const relation of this.#ways.selves) this.#add(subject, relation, onNode)
    for (const seed of this.#ways.seeds) {
      const from = seed.wildcard ? wildcard : subject
      if (from >= 0) yield* this.#take(from, seed.slot, seed.relation, onNode)
    }
  }

  *#take(
    from: number,
    slot: number,
    relation: number,
    onNode: (object: number, relation: number, level: number) => void,
  ): Generator<void> {
    const question = this.#question
    if (!question.openBack(from, slot)) {
      this.#missed = true
      return
    }
    const { list, listStart, listEnd } = question
    // `list` may be the scratch list of a single id, which the next list overwrites.
    if (listEnd - listStart === 1) {
      this.#add(list[listStart] as number, relation, onNode)
      if ((question.steps & 1023) === 0) yield
      return
    }
    for (let at = listStart; at < listEnd; at++) {
      this.#add(list[at] as number, relation, onNode)
      if ((at & 1023) === 1023) yield
    }
  }

  #add(
    object: number,
    relation: number,
    onNode: (object: number, relation: number, level: number) => void,
  ): void {
    this.#question.steps++
    if (this.#found.find(object, relation) >= 0) return
    this.#found.add(object, relation, this.#level, 0)
    if ((this.#ways.steps[relation]?.length ?? 0) > 0) {
      this.#frontier.push(object)
      this.#frontier.push(relation)
    }
    onNode(object, relation, this.#level)
    const same = this.#ways.same[relation]
    if (same !== undefined) for (const other of same) this.#add(object, other, onNode)
  }

  #seedCount(): number {
    const { subject, wildcard } = this.#question
    let count = this.#ways.selves.length
    const counted = new Set<string>()
    for (const seed of this.#ways.seeds) {
      const from = seed.wildcard ? wildcard : subject
      const key = `${from}/${seed.slot}`
      if (from < 0 || counted.has(key)) continue
      counted.add(key)
      if (this.#question.openBack(from, seed.slot)) count += this.#question.listEnd - this.#question.listStart
    }
    return count
  }
}
