import type { ProgramPart } from "./program.ts"
import type { ReachSearch } from "./reach-search.ts"

/** What a frame does: close a node over its part, go through the alternatives, the operands, base and subtract, or a search. */
export type FrameKind = "node" | "any" | "all" | "but" | "search"

const nothing: Int32Array = new Int32Array(0)
/** Frames kept for later: about 6 MB. */
const spareMax = 32_768
/** Frames of deep questions that have ended. Ten thousand new ones for every such question would keep the collector busier than the machine. */
const spare: Frame[] = []

export function takeFrame(): Frame {
  return spare.pop() ?? new Frame()
}

/** Gives up all of a stack's frames but the first so many. */
export function dropFrames(frames: Frame[], kept: number): void {
  for (let at = frames.length - 1; at >= kept && spare.length < spareMax; at--) {
    const frame = frames[at] as Frame
    frame.release()
    spare.push(frame)
  }
  if (frames.length > kept) frames.length = kept
}

/** A place on the machine's stack, reused. One shape for all kinds, so that the machine's code stays monomorphic. */
export class Frame {
  kind: FrameKind = "node"
  part!: ProgramPart
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
  /** The list being walked for a hop: ids from `at` to `end`, a single one without an array; `target` is the relation asked of each. */
  at = 0
  end = 0
  target = 0
  #list: Int32Array = nothing
  #begin = 0
  #single = 0
  /** The list is only tested for direct tuples; what is left goes to a search. */
  testing = false
  /** Condition of the tuple that leads to the current id. */
  edge = 1
  edgeProblem = -1
  search: ReachSearch | undefined
  running: Generator<void, number> | undefined

  open(kind: FrameKind, part: ProgramPart): void {
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
    this.#list = nothing
    this.search = undefined
    this.running = undefined
  }

  /** Takes over a list; a single id is copied, because its array is a scratch of the question. */
  walk(list: Int32Array, from: number, to: number): void {
    const isSingle = to - from === 1
    this.#single = isSingle ? (list[from] as number) : 0
    this.#list = isSingle ? nothing : list
    this.#begin = from
    this.at = from
    this.end = to
  }

  /** The next id of the list, which must not be at its end. */
  next(): number {
    const at = this.at++
    return this.#list === nothing ? this.#single : (this.#list[at] as number)
  }

  /** The whole list as an array of its own. */
  ids(): Int32Array {
    if (this.#list === nothing) return Int32Array.of(this.#single)
    return this.#list.slice(this.#begin, this.end)
  }
}
