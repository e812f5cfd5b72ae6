import { allNode, butNode, type DecisionGraph, type NodeCycle } from "./decision-graph.ts"
import type { Grouped } from "./int-buffer.ts"
import type { UserBatch } from "./user-batch.ts"

/** Conditions that are tried in all ways for one access: 1,024 ways. */
const conditionsMax = 10
/** Nodes that are decided for one access. */
const nodesMax = 256
/** Words of tables for all accesses: a few seconds. What comes later stays undecided. */
const wordsMax = 200_000_000

/** The truth of the first five conditions in the 32 ways of a word. */
const patterns = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000].map((each) => each | 0)

/** An access whose conditions are tried. */
interface TriedAccess {
  /** The nodes that conditions decide, in the order of decision. */
  readonly nodes: readonly number[]
  /** By node: a bit for each way in which the conditions can be decided. */
  readonly tables: ReadonlyMap<number, Int32Array>
  /** The same by the number of what decides a condition. */
  readonly conditions: ReadonlyMap<number, Int32Array>
  readonly own: ReadonlyMap<number, readonly number[]>
  readonly word: number
  readonly bit: number
  /** 32-bit words of a table. */
  readonly words: number
}

/**
 * Decides nodes of one user for all ways in which the undecided conditions can be decided, one bit each. Conditions of which one implies the
 * other are tried as if they did not: so equal is proved, and unequal is not.
 */
export class ConditionTables {
  readonly #graph: DecisionGraph
  readonly #batch: UserBatch
  /** By node: references to the nodes that it reads. */
  readonly #kids: Grouped
  readonly #cycleOf = new Map<number, NodeCycle>()
  #words = 0

  constructor(graph: DecisionGraph, batch: UserBatch, kids: Grouped) {
    this.#graph = graph
    this.#batch = batch
    this.#kids = kids
    for (const cycle of graph.cycles)
      for (let node = cycle.first; node <= cycle.last; node++) this.#cycleOf.set(node, cycle)
  }

  /** Whether a user has two undecided nodes in the same ways; false also when that is too much to try. `own`: by node, conditions of the user's tuples. */
  areEqual(
    a: number,
    b: number,
    own: ReadonlyMap<number, readonly number[]>,
    word: number,
    bit: number,
  ): boolean {
    const access = this.#collect([a, b], own, word, bit)
    if (access === undefined) return false
    const { nodes, tables } = access
    for (let at = 0; at < nodes.length; ) {
      const cycle = this.#cycleOf.get(nodes[at] as number)
      let end = at + 1
      while (cycle !== undefined && end < nodes.length && (nodes[end] as number) <= cycle.last) end++
      // The least fixpoint: all tables of a cycle begin as false.
      for (let changed = true; changed; ) {
        changed = false
        for (let each = at; each < end; each++)
          if (this.#decide(nodes[each] as number, access) && cycle !== undefined) changed = true
      }
      at = end
    }
    const other = tables.get(b)
    return tables.get(a)?.every((value, at) => value === other?.[at]) === true
  }

  #collect(
    roots: readonly number[],
    own: ReadonlyMap<number, readonly number[]>,
    word: number,
    bit: number,
  ): TriedAccess | undefined {
    const found = new Set(roots)
    const numbers = new Set<number>()
    for (const node of found) {
      if (found.size > nodesMax || this.#cycleOf.get(node)?.isOdd === true) return undefined
      for (const condition of own.get(node) ?? []) numbers.add(condition)
      const gate = this.#graph.gates.get(node)
      if (gate !== undefined) numbers.add(gate)
      if (numbers.size > conditionsMax) return undefined
      for (let at = this.#kids.starts[node] as number; at < (this.#kids.starts[node + 1] as number); at++) {
        const kid = (this.#kids.values[at] as number) >> 1
        if (this.#truth(kid, word, bit) === undefined) found.add(kid)
      }
    }
    const words = 1 << Math.max(0, numbers.size - 5)
    this.#words += words * found.size
    if (this.#words > wordsMax) return undefined
    return {
      nodes: [...found].sort((a, b) => a - b),
      tables: new Map([...found].map((node) => [node, new Int32Array(words)])),
      conditions: new Map([...numbers].map((number, at) => [number, tableOf(at, words)])),
      ...{ own, word, bit, words },
    }
  }

  /** Whether the user has a node; undefined: conditions decide. */
  #truth(node: number, word: number, bit: number): boolean | undefined {
    const { values, stride, upper } = this.#batch
    if (((values[stride * node + word] as number) & bit) !== 0) return true
    return ((values[stride * node + upper + word] as number) & bit) === 0 ? false : undefined
  }

  /** Sets the table of a node from those that it reads. Returns whether it has changed. */
  #decide(node: number, access: TriedAccess): boolean {
    const table = access.tables.get(node) as Int32Array
    const kids = this.#kidsOf(node)
    let changed = false
    for (let at = 0; at < access.words; at++) {
      const value = this.#wordOf(node, kids, access, at)
      if (value === table[at]) continue
      table[at] = value
      changed = true
    }
    return changed
  }

  #wordOf(node: number, kids: readonly number[], access: TriedAccess, at: number): number {
    const kind = this.#graph.kinds.array[node]
    const [base = -1, subtract = -1] = kids
    if (kind === butNode) return this.#kidWord(base, access, at) & ~this.#kidWord(subtract, access, at)
    if (kind === allNode) return kids.reduce((all, kid) => all & this.#kidWord(kid, access, at), -1)
    const gate = this.#graph.gates.get(node)
    const conditionWord = (number: number) => access.conditions.get(number)?.[at] as number
    const read = kids.reduce((any, kid) => any | this.#kidWord(kid, access, at), 0)
    const own = access.own.get(node) ?? []
    return own.reduce(
      (any, number) => any | conditionWord(number),
      gate === undefined ? read : read & conditionWord(gate),
    )
  }

  #kidWord(kid: number, { tables, word, bit }: TriedAccess, at: number): number {
    if (kid < 0) return 0
    return tables.get(kid)?.[at] ?? (this.#truth(kid, word, bit) === true ? -1 : 0)
  }

  /** The nodes that a node reads: operands in their order, -1 for one that nobody has. */
  #kidsOf(node: number): number[] {
    const { kinds, reads, readsStart } = this.#graph
    if (kinds.array[node] === allNode || kinds.array[node] === butNode)
      return [...reads.array.subarray(readsStart.array[node], readsStart.array[node + 1])].map(
        (kid) => kid >> 1,
      )
    return [...this.#kids.values.subarray(this.#kids.starts[node], this.#kids.starts[node + 1])].map(
      (kid) => kid >> 1,
    )
  }
}

/** The truth of a condition in all ways: half of them. */
function tableOf(condition: number, words: number): Int32Array {
  const pattern = patterns[condition]
  if (pattern !== undefined) return new Int32Array(words).fill(pattern)
  return Int32Array.from({ length: words }, (_, word) => (((word >> (condition - 5)) & 1) === 1 ? -1 : 0))
}
