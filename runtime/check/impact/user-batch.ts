import { allNode, anyNode, butNode, type DecisionGraph, type NodeCycle, nobody } from "./decision-graph.ts"
import type { Grouped, IntBuffer } from "./int-buffer.ts"

/** Nodes between two yields. */
const nodesAtOnce = 8_192

/** A row has at most as many words as a number has bits, so that a number can say which of them are not zero. */
const wordsMax = 32

/**
 * Decides all nodes for a batch of users of one type at once: a node has a row of bits, one per user. Nodes that none of the users reaches are
 * not visited.
 *
 * A node has up to four rows. With undecided conditions, one for the users that have it and one for those that have it unless a condition
 * decides otherwise. Where subtractions form cycles, both again as an underestimate and an overestimate (the alternating fixpoint of Van
 * Gelder, as in evaluate/fixpoint.ts); what lies between them is denied.
 */
export class UserBatch {
  /** 32-bit words of a row. */
  readonly words: number
  /** The type of the users of this batch; negative for sets. */
  type = 0
  /** Words that the users of this batch need. */
  used = 0
  /** Position in `values` of the row of users that certainly have a node: `stride * node`; of those that may have it: plus `upper`. */
  readonly stride: number
  readonly upper: number
  readonly values: Int32Array
  /** By row (`rows * node + row`), as bits: words that may be other than zero. Most rows have few. */
  readonly #filled: Int32Array
  /** The bits of the users of the batch, for one row. */
  readonly valid: Int32Array
  steps = 0
  readonly #graph: DecisionGraph
  readonly #rows: number
  /** Whether a row counts undecided tuples. */
  readonly #counts: readonly boolean[]
  /** The row of a subtracted node that a row reads. */
  readonly #opposite: readonly number[]
  readonly #touched: Int32Array
  readonly #readers: Grouped
  readonly #kinds: Int32Array
  readonly #cycleOf = new Map<number, NodeCycle>()

  constructor(graph: DecisionGraph, bytesMax: number) {
    this.#graph = graph
    this.#readers = graph.readers
    this.#kinds = graph.kinds.array
    this.#rows = graph.hasOddCycle ? 4 : graph.hasUndecided ? 2 : 1
    this.#counts = [false, true, false, true]
    this.#opposite = [[0], [1, 0], [], [3, 2, 1, 0]][this.#rows - 1] as number[]
    const fitting = Math.floor(bytesMax / (4 * this.#rows * Math.max(1, graph.count)))
    this.words = Math.max(1, Math.min(wordsMax, fitting))
    this.stride = this.#rows * this.words
    this.upper = this.#rows === 1 ? 0 : this.words
    this.values = new Int32Array(this.stride * graph.count)
    this.#filled = new Int32Array(this.#rows * graph.count)
    this.valid = new Int32Array(this.words)
    this.#touched = new Int32Array((graph.count + 31) >> 5)
    for (const cycle of graph.cycles)
      for (let node = cycle.first; node <= cycle.last; node++) this.#cycleOf.set(node, cycle)
  }

  /** Maximum number of users. */
  get usersMax(): number {
    return 32 * this.words
  }

  get bytes(): number {
    return 4 * (this.values.length + this.#filled.length + this.#touched.length)
  }

  /** The words, as bits, in which a row of the node may be other than zero. */
  filledWords(node: number): number {
    if (node === nobody) return 0
    const first = this.#rows * node
    return (this.#filled[first] as number) | (this.#rows === 1 ? 0 : (this.#filled[first + 1] as number))
  }

  isTouched(node: number): boolean {
    return node !== nobody && ((this.#touched[node >> 5] as number) & (1 << (node & 31))) !== 0
  }

  /** Decides all nodes for users, given as positions in the graph's users; -1 is one whom no tuple names. Yields now and then. */
  *decide(type: number, users: readonly number[]): Generator<void> {
    this.#clear()
    this.type = type
    this.used = (users.length + 31) >> 5
    this.valid.fill(0)
    users.forEach((_, at) => {
      this.valid[at >> 5] = (this.valid[at >> 5] as number) | (1 << (at & 31))
    })
    const { nodes } = this.#graph.users
    users.forEach((user, at) => {
      if (user < 0) return
      for (let place = nodes.starts[user] as number; place < (nodes.starts[user + 1] as number); place++)
        this.#name(nodes.values[place] as number, at)
    })
    const everyone = this.#graph.users.everyone.get(type)?.nodes
    if (everyone !== undefined) this.#nameAll(everyone)
    yield* this.#walk()
  }

  #name(reference: number, at: number): void {
    const bit = 1 << (at & 31)
    const node = reference >> 1
    this.steps++
    for (let row = 0; row < this.#rows; row++) {
      if ((reference & 1) === 1 && this.#counts[row] !== true) continue
      const place = this.stride * node + row * this.words + (at >> 5)
      this.values[place] = (this.values[place] as number) | bit
      this.#fill(node, row, 1 << (at >> 5))
    }
    this.#touch(node)
  }

  #fill(node: number, row: number, words: number): void {
    const at = this.#rows * node + row
    this.#filled[at] = (this.#filled[at] as number) | words
  }

  /** The words in use, as bits. */
  get #allWords(): number {
    return this.used === wordsMax ? -1 : (1 << this.used) - 1
  }

  #nameAll(everyone: IntBuffer): void {
    for (let at = 0; at < everyone.length; at++) {
      const reference = everyone.array[at] as number
      for (let row = 0; row < this.#rows; row++) {
        if ((reference & 1) === 1 && this.#counts[row] !== true) continue
        const place = this.stride * (reference >> 1) + row * this.words
        for (let word = 0; word < this.used; word++)
          this.values[place + word] = (this.values[place + word] as number) | (this.valid[word] as number)
        this.#fill(reference >> 1, row, this.#allWords)
      }
      this.#touch(reference >> 1)
    }
  }

  #touch(node: number): void {
    this.#touched[node >> 5] = (this.#touched[node >> 5] as number) | (1 << (node & 31))
  }

  #clear(): void {
    const touched = this.#touched
    for (let at = 0; at < touched.length; at++) {
      const bits = touched[at] as number
      if (bits === 0) continue
      for (let left = bits; left !== 0; left &= left - 1)
        this.#clearNode(32 * at + 31 - Math.clz32(left & -left))
      touched[at] = 0
    }
  }

  #clearNode(node: number): void {
    for (let row = 0; row < this.#rows; row++) {
      const place = this.stride * node + row * this.words
      const at = this.#rows * node + row
      for (let left = this.#filled[at] as number; left !== 0; left &= left - 1)
        this.values[place + 31 - Math.clz32(left & -left)] = 0
      this.#filled[at] = 0
    }
  }

  /** Visits the touched nodes in the order of decision; a decided node touches those that read it, which come later. */
  *#walk(): Generator<void> {
    const touched = this.#touched
    const kinds = this.#kinds
    let visited = 0
    let from = 0
    for (let at = 0; at < touched.length; at++) {
      for (;;) {
        const left =
          (touched[at] as number) & (from <= 32 * at ? -1 : from >= 32 * at + 32 ? 0 : -1 << (from & 31))
        if (left === 0) break
        const node = 32 * at + 31 - Math.clz32(left & -left)
        from = node + 1
        if (++visited % nodesAtOnce === 0) yield
        const cycle = this.#cycleOf.size === 0 ? undefined : this.#cycleOf.get(node)
        if (cycle !== undefined) {
          yield* this.#decideCycle(cycle)
          from = cycle.last + 1
          continue
        }
        if (kinds[node] !== anyNode) this.#combine(node)
        this.#pass(node, node)
      }
    }
  }

  /** Adds the row of a node to the unions that read it, and touches the other nodes that read it. Readers up to `last` are left out. */
  #pass(node: number, last: number): void {
    const { starts, values: references } = this.#readers
    const kinds = this.#kinds
    const touched = this.#touched
    const end = starts[node + 1] as number
    for (let at = starts[node] as number; at < end; at++) {
      const reference = references[at] as number
      const reader = reference >> 1
      if (reader <= last) continue
      touched[reader >> 5] = (touched[reader >> 5] as number) | (1 << (reader & 31))
      if (kinds[reader] === anyNode) this.#unite(node, reader, (reference & 1) === 1)
    }
    this.steps += end - (starts[node] as number)
  }

  /** Adds the rows of a node to those of another one. */
  #unite(node: number, reader: number, isUndecided: boolean): void {
    const { values, words, stride } = this
    const filled = this.#filled
    const rows = this.#rows
    for (let row = 0; row < rows; row++) {
      if (isUndecided && this.#counts[row] !== true) continue
      const from = stride * node + row * words
      const to = stride * reader + row * words
      const present = filled[rows * node + row] as number
      for (let left = present; left !== 0; left &= left - 1) {
        const word = 31 - Math.clz32(left & -left)
        values[to + word] = (values[to + word] as number) | (values[from + word] as number)
      }
      filled[rows * reader + row] = (filled[rows * reader + row] as number) | present
    }
  }

  /** Sets the rows of an intersection or an exclusion from those of its operands. */
  #combine(node: number): void {
    if (this.#kinds[node] === butNode) for (let row = 0; row < this.#rows; row++) this.#subtractRow(node, row)
    else for (let row = 0; row < this.#rows; row++) this.#combineRow(node, row)
  }

  /** The same for an exclusion outside of cycles, of which both operands are nodes. */
  #subtractRow(node: number, row: number): void {
    const { reads, readsStart } = this.#graph
    const { values, words, stride } = this
    const filled = this.#filled
    const start = readsStart.array[node] as number
    const to = stride * node + row * words
    const base = stride * ((reads.array[start] as number) >> 1) + row * words
    const other = (this.#opposite[row] as number) * words
    const subtract = stride * ((reads.array[start + 1] as number) >> 1) + other
    let present = 0
    for (
      let left = filled[this.#rows * ((reads.array[start] as number) >> 1) + row] as number;
      left !== 0;
      left &= left - 1
    ) {
      const word = 31 - Math.clz32(left & -left)
      const value = (values[base + word] as number) & ~(values[subtract + word] as number)
      if (value === 0) continue
      values[to + word] = value
      present |= 1 << word
    }
    filled[this.#rows * node + row] = present
  }

  /** Returns whether the row has changed. */
  #combineRow(node: number, row: number): boolean {
    const { reads, readsStart, kinds } = this.#graph
    const { values, words, used, stride } = this
    const start = readsStart.array[node] as number
    const end = readsStart.array[node + 1] as number
    const to = stride * node + row * words
    const kind = kinds.array[node]
    let changed = false
    this.#fill(node, row, this.#allWords)
    for (let word = 0; word < used; word++) {
      let value: number
      if (kind === butNode) {
        value = this.#word(reads.array[start] as number, row, word)
        value &= ~this.#word(reads.array[start + 1] as number, this.#opposite[row] as number, word)
      } else if (kind === allNode) {
        value = -1
        for (let at = start; at < end; at++) value &= this.#word(reads.array[at] as number, row, word)
      } else {
        value = values[to + word] as number
        for (let at = start; at < end; at++) value |= this.#word(reads.array[at] as number, row, word)
      }
      if (value === values[to + word]) continue
      values[to + word] = value
      changed = true
    }
    return changed
  }

  #word(reference: number, row: number, word: number): number {
    if (reference < 0 || ((reference & 1) === 1 && this.#counts[row] !== true)) return 0
    return this.values[this.stride * (reference >> 1) + row * this.words + word] as number
  }

  *#decideCycle(cycle: NodeCycle): Generator<void> {
    for (let node = cycle.first; node <= cycle.last; node++) this.#touch(node)
    if (cycle.isOdd) yield* this.#alternate(cycle)
    else yield* this.#iterate(cycle, [0, 1, 2, 3].slice(0, this.#rows))
    for (let node = cycle.first; node <= cycle.last; node++) this.#pass(node, cycle.last)
  }

  /** The least fixpoint of a cycle without subtractions. */
  *#iterate({ order }: NodeCycle, rows: readonly number[]): Generator<void> {
    for (let changed = true; changed; ) {
      changed = false
      for (const node of order) for (const row of rows) if (this.#combineRow(node, row)) changed = true
      this.steps += order.length
      yield
    }
  }

  /** The well-founded model of a cycle with subtractions: underestimates in rows 0 and 1, overestimates in rows 2 and 3. */
  *#alternate(cycle: NodeCycle): Generator<void> {
    const { first, last } = cycle
    const start = this.stride * first
    const given = this.values.slice(start, this.stride * (last + 1))
    this.#reset(cycle, given, [0, 1], "nothing")
    for (;;) {
      const before = this.#copyOf(cycle, [0, 1])
      yield* this.#least(cycle, given, [2, 3])
      yield* this.#least(cycle, given, [0, 1])
      const now = this.#copyOf(cycle, [0, 1])
      if (now.every((value, at) => value === before[at])) return
    }
  }

  /**
   * The least fixpoint of the given rows of the relations, with the other rows of the relations fixed. The parts of their plans are not fixed:
   * what is subtracted twice is positive again.
   */
  *#least(cycle: NodeCycle, given: Int32Array, rows: readonly number[]): Generator<void> {
    this.#reset(cycle, given, rows, "given")
    const { roots } = this.#graph
    const all = [0, 1, 2, 3]
    for (let changed = true; changed; ) {
      changed = false
      for (const node of cycle.order) {
        const isRoot = roots.array[node] === 1
        for (const row of isRoot ? rows : all) {
          if (!isRoot) this.#restore(cycle, given, node, row)
          if (this.#combineRow(node, row) && isRoot) changed = true
        }
      }
      this.steps += cycle.order.length
      yield
    }
  }

  #reset(cycle: NodeCycle, given: Int32Array, rows: readonly number[], to: "given" | "nothing"): void {
    for (let node = cycle.first; node <= cycle.last; node++)
      for (const row of rows)
        if (to === "given") this.#restore(cycle, given, node, row)
        else {
          const place = this.stride * node + row * this.words
          this.values.fill(0, place, place + this.words)
        }
  }

  /** Sets a row of a union to what comes from outside of the cycle, that of another node to nothing. */
  #restore({ first }: NodeCycle, given: Int32Array, node: number, row: number): void {
    this.#fill(node, row, this.#allWords)
    const from = this.stride * (node - first) + row * this.words
    const to = this.stride * node + row * this.words
    for (let word = 0; word < this.used; word++) this.values[to + word] = given[from + word] as number
  }

  #copyOf({ first, last }: NodeCycle, rows: readonly number[]): number[] {
    const found: number[] = []
    for (let node = first; node <= last; node++)
      for (const row of rows)
        for (let word = 0; word < this.used; word++)
          found.push(this.values[this.stride * node + row * this.words + word] as number)
    return found
  }
}
