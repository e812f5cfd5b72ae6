import { NodeTable } from "./node-table.ts"
import { isFalse } from "./question.ts"

/** States of a node in addition to the final truth values: being evaluated, false for now, or forgotten again. */
export const memoOpen = 4
export const memoTentative = 5
const memoForgotten = 6
/** The machine gave up while this node was open, so a node that needs it gives up too. */
export const memoFlagged = 7

/**
 * The machine's results for the nodes of one question. A node that is met while it is open reads as false. A false result that depends on
 * such a reading is tentative until that open node is closed.
 */
export class NodeMemo {
  readonly #nodes = new NodeTable()
  /** Tentative nodes in order of closing, as triples: object, relation, the discovery number that they depend on. */
  readonly #tentative: number[] = []
  /** Belongs to the state that `read` returned last: the problem of an error, or the discovery number of an open or tentative node. */
  extra = 0

  clear(): void {
    if (this.#nodes.size > 0) this.#nodes.clear()
    if (this.#tentative.length > 0) this.#tentative.length = 0
  }

  /** A truth value, `memoOpen`, `memoTentative`, or -1 for a node that must be evaluated. */
  read(object: number, relation: number): number {
    const at = this.#nodes.find(object, relation)
    if (at < 0) return -1
    const state = this.#nodes.state(at)
    this.extra = this.#nodes.extra(at)
    return state === memoForgotten ? -1 : state
  }

  /** Opens a node; returns the mark for closing it. */
  open(object: number, relation: number, discovery: number): number {
    this.#write(object, relation, memoOpen, discovery)
    return this.#tentative.length
  }

  /** Closes a node as true, an error or a miss. Drops the tentative results above it, which assumed that it is false. */
  decide(object: number, relation: number, value: number, problem: number, mark: number): void {
    this.#forget(mark)
    this.#write(object, relation, value, problem)
  }

  /** Closes a node as false that depends on the open node `low`. From now on `low` replaces its own discovery number. */
  suspect(object: number, relation: number, discovery: number, low: number): void {
    this.#write(object, relation, memoTentative, discovery)
    this.#tentative.push(object, relation, low)
  }

  /**
   * Closes a node as false that depends on no open node. The tentative nodes above it become final too, unless one of them depends on a
   * node further below by a branch that did not count. Then they are forgotten, which costs time but is never wrong.
   */
  deny(object: number, relation: number, discovery: number, mark: number): void {
    const tentative = this.#tentative
    let settled = true
    for (let at = mark + 2; at < tentative.length && settled; at += 3)
      settled = (tentative[at] as number) >= discovery
    if (settled) this.#close(mark, isFalse)
    else this.#forget(mark)
    this.#write(object, relation, isFalse, 0)
  }

  /** Records a node that a search found false; existing entries of the walk stay. */
  remember(object: number, relation: number): void {
    if (this.read(object, relation) === -1) this.#write(object, relation, isFalse, 0)
  }

  /** Marks the open nodes (pairs in `nodes`) when the machine has given up. */
  abandon(nodes: readonly number[]): void {
    this.#forget(0)
    for (let at = 0; at < nodes.length; at += 2)
      this.#write(nodes[at] as number, nodes[at + 1] as number, memoFlagged, 0)
  }

  #forget(mark: number): void {
    this.#close(mark, memoForgotten)
  }

  #close(mark: number, state: number): void {
    const tentative = this.#tentative
    while (tentative.length > mark) {
      tentative.pop()
      const relation = tentative.pop() as number
      const object = tentative.pop() as number
      this.#write(object, relation, state, 0)
    }
  }

  #write(object: number, relation: number, state: number, extra: number): void {
    const at = this.#nodes.find(object, relation)
    if (at >= 0) this.#nodes.set(at, state, extra)
    else this.#nodes.add(object, relation, state, extra)
  }
}
