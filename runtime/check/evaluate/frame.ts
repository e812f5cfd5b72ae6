import type { Part } from "./program.ts"
import type { ReachSearch } from "./reach-search.ts"

/** What a frame does: close a node over its part, go through the alternatives, the operands, base and subtract, or a search. */
export type FrameKind = "node" | "any" | "all" | "but" | "search"

/** A place on the machine's stack, reused. One shape for all kinds, so that the machine's code stays monomorphic. */
export class Frame {
  kind: FrameKind = "node"
  part!: Part
  object = 0
  relation = 0
  /** Hops from the question's object. */
  depth = 0
  /** Of nodes: order of discovery, and how many tentative results there were before. */
  discovery = 0
  mark = 0
  /** Which alternative or operand is next. */
  index = 0
  /** Worst value so far that does not decide: false, error, miss. */
  flags = 0
  low = 0
  problem = -1
  /** The list being walked for a hop: ids from `at` to `end`; `target` is the relation asked of each. */
  list: Int32Array
  at = 0
  end = 0
  begin = 0
  target = 0
  /** The list is only tested for direct tuples; what is left goes to a search. */
  testing = false
  /** Condition of the tuple that leads to the current id. */
  edge = 1
  edgeProblem = -1
  search: ReachSearch | undefined
  running: Generator<void, number> | undefined
  readonly #single = new Int32Array(1)

  constructor() {
    this.list = this.#single
  }

  open(kind: FrameKind, part: Part): void {
    this.kind = kind
    this.part = part
    this.index = 0
    this.flags = 0
    this.low = 0x7fff_ffff
    this.problem = -1
    this.at = 0
    this.end = 0
    this.edge = 1
    this.edgeProblem = -1
    this.testing = false
    this.search = undefined
    this.running = undefined
  }

  release(): void {
    this.list = this.#single
    this.search = undefined
    this.running = undefined
  }

  /** Takes over a list; one of a single id is copied, because its array is a scratch of the question. */
  walk(list: Int32Array, from: number, to: number): void {
    if (to - from === 1) {
      this.#single[0] = list[from] as number
      this.list = this.#single
      this.begin = 0
      this.at = 0
      this.end = 1
      return
    }
    this.list = list
    this.begin = from
    this.at = from
    this.end = to
  }
}
