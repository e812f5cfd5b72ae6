import type { DifferenceCandidates } from "./candidates.ts"
import { componentsOf } from "./components.ts"
import type { DecisionGraph } from "./decision-graph.ts"
import { IntBuffer } from "./int-buffer.ts"

/** Steps between two yields. */
const stepsAtOnce = 4_096

/** Where differences come from, and how far they go: along the readers of candidates. */
export class CauseReach {
  readonly #candidates: DifferenceCandidates
  readonly #decisions: DecisionGraph
  readonly #pairOf: Int32Array
  readonly #starts = new IntBuffer()
  /** Readers of candidates, each times 2. */
  readonly #readers = new IntBuffer()
  /** By node: how many named users it has at most. */
  #users = new Float64Array(0)
  /** By candidate: how many differences its own may lead to. */
  #nodes = new Float64Array(0)
  /** By candidate: the last walk that met it. */
  readonly #walked: Int32Array
  #walks = 0

  constructor(
    { candidates, decisions }: { candidates: DifferenceCandidates; decisions: DecisionGraph },
    pairOf: Int32Array,
  ) {
    this.#candidates = candidates
    this.#decisions = decisions
    this.#pairOf = pairOf
    this.#walked = new Int32Array(candidates.count)
  }

  get bytes(): number {
    const arrays = 8 * (this.#users.length + this.#nodes.length) + 4 * this.#walked.length
    return arrays + this.#starts.bytes + this.#readers.bytes
  }

  /** Yields now and then. */
  *estimate(): Generator<void> {
    yield* this.#estimateUsers()
    const { count } = this.#candidates
    this.#starts.push(0)
    for (let candidate = 0; candidate < count; candidate++) {
      if (candidate % stepsAtOnce === 0) yield
      const readers = this.#candidates.readersOf(candidate)
      for (let at = 0; at < readers.length; at++) this.#readers.push(2 * (readers.array[at] as number))
      this.#starts.push(this.#readers.length)
    }
    this.#nodes = new Float64Array(count)
    let components = 0
    for (const members of componentsOf(count, this.#starts.array, this.#readers.array)) {
      if (members === undefined || ++components % stepsAtOnce === 0) yield
      if (members !== undefined) this.#estimateNodes(members)
    }
  }

  /** Counts ways instead of users: a user who has a node in two ways counts twice, up to the number of all. */
  *#estimateUsers(): Generator<void> {
    const { count, readers, users } = this.#decisions
    const most = users.count + 1
    const found = new Float64Array(count)
    for (const reference of users.nodes.values) found[reference >> 1] = (found[reference >> 1] as number) + 1
    for (const { nodes } of users.everyone.values())
      for (let at = 0; at < nodes.length; at++) found[(nodes.array[at] as number) >> 1] = most
    for (let node = 0; node < count; node++) {
      if (node % stepsAtOnce === 0) yield
      const own = Math.min(most, found[node] as number)
      found[node] = own
      for (let at = readers.starts[node] as number; at < (readers.starts[node + 1] as number); at++) {
        const reader = (readers.values[at] as number) >> 1
        if (reader > node) found[reader] = (found[reader] as number) + own
      }
    }
    this.#users = found
  }

  #estimateNodes(members: readonly number[]): void {
    let sum = 0
    for (const member of members) {
      if ((this.#pairOf[member] as number) >= 0) sum++
      const end = this.#starts.array[member + 1] as number
      for (let at = this.#starts.array[member] as number; at < end; at++)
        sum += this.#nodes[(this.#readers.array[at] as number) >> 1] as number
    }
    // Readers within the component have no estimate yet.
    for (const member of members) this.#nodes[member] = Math.min(sum, this.#candidates.count)
  }

  /** The number of named users of a node, at most; less where operators form a cycle. */
  usersOf(node: number): number {
    return this.#users[node] as number
  }

  /** The number of differences to which some candidates lead, at most. */
  nodesOf(seeds: Int32Array): number {
    let sum = 0
    for (const seed of seeds) sum += this.#nodes[seed] as number
    return Math.min(sum, this.#candidates.count)
  }

  /** All candidates to which some lead, with themselves. */
  *walk(seeds: readonly number[]): Generator<void, IntBuffer> {
    const walk = ++this.#walks
    const found = new IntBuffer()
    const meet = (candidate: number) => {
      if (this.#walked[candidate] === walk) return
      this.#walked[candidate] = walk
      found.push(candidate)
    }
    for (const seed of seeds) meet(seed)
    for (let next = 0; next < found.length; next++) {
      if (next % stepsAtOnce === 0) yield
      const candidate = found.array[next] as number
      const end = this.#starts.array[candidate + 1] as number
      for (let at = this.#starts.array[candidate] as number; at < end; at++)
        meet((this.#readers.array[at] as number) >> 1)
    }
    return found
  }
}
