import type { ProgramPart } from "./program.ts"
import type { ReachSearch } from "./reach-search.ts"

/** The task of a frame: finish a node after its part, or process the alternatives, the operands, base and subtraction, or a search. */
export type FrameKind = "node" | "any" | "all" | "but" | "search"

const nothing: Int32Array = new Int32Array(0)
/** Frames kept for reuse: about 6 MB. */
const spareMax = 32_768
/**
 * Frames of deep questions that have ended. Ten thousand new frames per question would take more garbage collection than the question
 * itself.
 */
const spare: Frame[] = []

export function takeFrame(): Frame {
  return spare.pop() ?? new Frame()
}

/** Drops the frames of a stack beyond the first `kept`. */
export function dropFrames(frames: Frame[], kept: number): void {
  for (let at = frames.length - 1; at >= kept && spare.length < spareMax; at--) {
    const frame = frames[at] as Frame
    frame.release()
    spare.push(frame)
  }
  if (frames.length > kept) frames.length = kept
}

/** A reusable place on the machine's stack. All kinds share one shape, so that the machine's code stays monomorphic. */
export class Frame {
  kind: FrameKind = "node"
  part!: ProgramPart
  object = 0
  relation = 0
  /** Hops from the question's object. */
  depth = 0
  /** For nodes: the order of discovery, and the number of tentative results before it. */
  discovery = 0
  mark = 0
  /** Index of the next alternative or operand. */
  index = 0
  /** Worst value so far that does not decide: false, error, miss. */
  flags = 0
  low = 0
  problem = -1
  /** The list of the current hop: ids from `at` to `end`; a single id has no array. `target` is the relation to evaluate on each. */
  at = 0
  end = 0
  target = 0
  #list: Int32Array = nothing
  #begin = 0
  #single = 0
  /** The list is only tested for direct tuples; the undecided ids go to a search. */
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

  /** Takes a list over. It copies a single id, because the array of a single id is a scratch of the question. */
  walk(list: Int32Array, from: number, to: number): void {
    const isSingle = to - from === 1
    this.#single = isSingle ? (list[from] as number) : 0
    this.#list = isSingle ? nothing : list
    this.#begin = from
    this.at = from
    this.end = to
  }

  /** The next id; the list must not be at its end. */
  next(): number {
    const at = this.at++
    return this.#list === nothing ? this.#single : (this.#list[at] as number)
  }

  /** The whole list in a new array. */
  ids(): Int32Array {
    if (this.#list === nothing) return Int32Array.of(this.#single)
    return this.#list.slice(this.#begin, this.end)
  }
}
