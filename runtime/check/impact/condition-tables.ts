import { allNode, butNode, type DecisionGraph, type NodeCycle, nobody } from "./decision-graph.ts"
import type { Grouped } from "./int-buffer.ts"
import type { UserBatch } from "./user-batch.ts"

/** Conditions that are tried in all ways for one access: 1,024 ways. */
const conditionsMax = 10
/** Nodes that are decided for one access. */
const nodesMax = 256
/** Words of tables that are computed for one access, and for all: a few seconds. What comes later stays undecided. */
const wordsMaxOfAccess = 1_000_000
const wordsMax = 200_000_000

/** The truth of the first five conditions in the 32 ways of a word. */
const patterns = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000].map((each) => each | 0)

/**
 * By node: a bit for each way in which the conditions can be decided. Two of them, because in cycles with exclusions a node has an underestimate and
 * an overestimate; without such cycles both are the same.
 */
type Tables = readonly [ReadonlyMap<number, Int32Array>, ReadonlyMap<number, Int32Array>]

/** The underestimates, by which access is decided, and the overestimates, which are subtracted from them. */
type Side = 0 | 1

/** An access whose conditions are tried. */
interface TriedAccess {
  /** The nodes that conditions decide, in the order of decision. */
  readonly nodes: readonly number[]
  readonly tables: Tables
  /** The same by the number of what decides a condition. */
  readonly conditions: ReadonlyMap<number, Int32Array>
  /** The ways that the values of parameters can bring about. */
  readonly possible: Int32Array
  readonly own: ReadonlyMap<number, readonly number[]>
  readonly word: number
  readonly bit: number
  /** 32-bit words of a table. */
  readonly words: number
}

/** Whether there are values for the conditions with which a user has only the second of two nodes, and only the first. */
export interface TriedDifference {
  readonly gains: boolean
  readonly loses: boolean
}

/**
 * Decides nodes of one user for all ways in which the undecided conditions can be decided, one bit each. Of conditions that only compare parameters
 * with values it is known which ways there are: `hour < 12` is never true without `hour < 13`. Others are tried in every way: so equal is proved, and
 * unequal is not.
 */
export class ConditionTables {
  readonly #graph: DecisionGraph
  readonly #batch: UserBatch
  /** By node: references to the nodes that it reads. */
  readonly #kids: Grouped
  readonly #cycleOf = new Map<number, NodeCycle>()
  /** By numbers of conditions. */
  readonly #possible = new Map<string, Int32Array>()
  /** 1 if under- and overestimates differ. */
  readonly #other: Side
  #words = 0
  /** Words left for the access. */
  #left = 0

  constructor(graph: DecisionGraph, batch: UserBatch, kids: Grouped) {
    this.#graph = graph
    this.#batch = batch
    this.#kids = kids
    this.#other = graph.hasOddCycle ? 1 : 0
    for (const cycle of graph.cycles)
      for (let node = cycle.first; node <= cycle.last; node++) this.#cycleOf.set(node, cycle)
  }

  /** Compares two nodes of a user; undefined when that is too much to try. `own`: by node, conditions of the user's tuples. */
  compare(
    old: number,
    next: number,
    own: ReadonlyMap<number, readonly number[]>,
    word: number,
    bit: number,
  ): TriedDifference | undefined {
    if (this.#words >= wordsMax) return undefined
    const roots = [old, next].filter((node) => node !== nobody && this.#isOpen(node, word, bit))
    const access = this.#collect(roots, own, word, bit)
    if (access === undefined) return undefined
    this.#left = Math.min(wordsMaxOfAccess, wordsMax - this.#words)
    const before = this.#left
    this.#decideAll(access)
    this.#words += before - this.#left
    if (this.#left <= 0) return undefined
    let [gains, loses] = [false, false]
    for (let at = 0; at < access.words; at++) {
      const [a, b] = [this.#kidWord(old, access, at, 0), this.#kidWord(next, access, at, 0)]
      const possible = access.possible[at] as number
      if ((b & ~a & possible) !== 0) gains = true
      if ((a & ~b & possible) !== 0) loses = true
    }
    return { gains, loses }
  }

  #decideAll(access: TriedAccess): void {
    const { nodes } = access
    for (let at = 0; at < nodes.length && this.#left > 0; ) {
      const cycle = this.#cycleOf.get(nodes[at] as number)
      let end = at + 1
      while (cycle !== undefined && end < nodes.length && (nodes[end] as number) <= cycle.last) end++
      if (cycle === undefined) this.#decideBoth(nodes[at] as number, access)
      else if (cycle.isOdd) this.#alternate(cycle, access)
      else this.#iterate(nodes.slice(at, end), access)
      at = end
    }
  }

  /** The least fixpoint: all tables of a cycle begin as false. */
  #iterate(nodes: readonly number[], access: TriedAccess): void {
    for (let changed = true; changed && this.#left > 0; ) {
      changed = false
      for (const node of nodes) if (this.#decideBoth(node, access)) changed = true
    }
  }

  /** The well-founded model of a cycle with subtractions, for every way; see UserBatch. */
  #alternate({ order }: NodeCycle, access: TriedAccess): void {
    const [low] = access.tables
    const nodes = order.filter((node) => low.has(node))
    while (this.#left > 0) {
      const before = nodes.map((node) => (low.get(node) as Int32Array).slice())
      this.#least(nodes, 1, access)
      this.#least(nodes, 0, access)
      if (before.every((table, at) => isSame(table, low.get(nodes[at] as number) as Int32Array))) return
    }
  }

  /** The least fixpoint of one side of the relations, with their other side fixed; the parts of their plans have both sides anew. */
  #least(nodes: readonly number[], side: Side, access: TriedAccess): void {
    const { roots } = this.#graph
    for (const node of nodes) access.tables[side].get(node)?.fill(0)
    for (let changed = true; changed && this.#left > 0; ) {
      changed = false
      for (const node of nodes)
        if (roots.array[node] !== 1) this.#decideBoth(node, access)
        else if (this.#decide(node, access, side)) changed = true
    }
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
      if (found.size > nodesMax) return undefined
      for (const condition of own.get(node) ?? []) numbers.add(condition)
      const gate = this.#graph.gates.get(node)
      if (gate !== undefined) numbers.add(gate)
      if (numbers.size > conditionsMax) return undefined
      for (let at = this.#kids.starts[node] as number; at < (this.#kids.starts[node + 1] as number); at++) {
        const kid = (this.#kids.values[at] as number) >> 1
        if (this.#isOpen(kid, word, bit)) found.add(kid)
      }
    }
    const words = 1 << Math.max(0, numbers.size - 5)
    // Collecting takes longer than deciding where there are few ways.
    this.#words += (words + 40) * found.size
    const sorted = [...numbers].sort((a, b) => a - b)
    const tablesOf = () => new Map([...found].map((node) => [node, new Int32Array(words)]))
    const low = tablesOf()
    return {
      nodes: [...found].sort((a, b) => a - b),
      tables: [low, this.#other === 0 ? low : tablesOf()],
      conditions: new Map(sorted.map((number, at) => [number, tableOf(at, words)])),
      possible: this.#possibleWays(sorted, words),
      ...{ own, word, bit, words },
    }
  }

  /** One bit for each way; those of conditions of which nothing is known all are. */
  #possibleWays(numbers: readonly number[], words: number): Int32Array {
    const key = numbers.join()
    const known = this.#possible.get(key)
    if (known !== undefined) return known
    const tables = new Map(numbers.map((number, at) => [number, tableOf(at, words)]))
    const found = new Int32Array(words).fill(-1)
    for (const { numbers: some, ways } of this.#graph.waysOf(numbers))
      for (let at = 0; at < words; at++) {
        let any = 0
        for (const way of ways) {
          let all = -1
          for (const [place, number] of some.entries()) {
            const word = tables.get(number)?.[at] as number
            all &= way[place] === true ? word : ~word
          }
          any |= all
        }
        found[at] = (found[at] as number) & any
      }
    this.#possible.set(key, found)
    return found
  }

  /** The estimate of a node that conditions do not decide. */
  #truth(node: number, word: number, bit: number, side: Side): boolean {
    const { values, stride, words } = this.#batch
    return ((values[stride * node + 2 * side * words + word] as number) & bit) !== 0
  }

  /** Whether conditions decide a node, or one of its estimates. */
  #isOpen(node: number, word: number, bit: number): boolean {
    const { values, stride, words } = this.#batch
    const at = stride * node + word
    const sides = this.#other === 0 ? [0] : [0, 2]
    return sides.some(
      (row) =>
        (((values[at + row * words] as number) ^ (values[at + (row + 1) * words] as number)) & bit) !== 0,
    )
  }

  #decideBoth(node: number, access: TriedAccess): boolean {
    const changed = this.#decide(node, access, 0)
    return (this.#other === 1 && this.#decide(node, access, 1)) || changed
  }

  /** Sets the table of a node from those that it reads. Returns whether it has changed. */
  #decide(node: number, access: TriedAccess, side: Side): boolean {
    const table = access.tables[side].get(node) as Int32Array
    const kids = this.#kidsOf(node)
    this.#left -= access.words * (1 + kids.length)
    let changed = false
    for (let at = 0; at < access.words; at++) {
      const value = this.#wordOf(node, kids, access, at, side)
      if (value === table[at]) continue
      table[at] = value
      changed = true
    }
    return changed
  }

  #wordOf(node: number, kids: readonly number[], access: TriedAccess, at: number, side: Side): number {
    const kind = this.#graph.kinds.array[node]
    const [base = -1, subtract = -1] = kids
    const kidWord = (kid: number) => this.#kidWord(kid, access, at, side)
    if (kind === butNode) {
      const opposite = this.#other === 0 ? 0 : side === 0 ? 1 : 0
      return kidWord(base) & ~this.#kidWord(subtract, access, at, opposite)
    }
    if (kind === allNode) return kids.reduce((all, kid) => all & kidWord(kid), -1)
    const gate = this.#graph.gates.get(node)
    const conditionWord = (number: number) => access.conditions.get(number)?.[at] as number
    const read = kids.reduce((any, kid) => any | kidWord(kid), 0)
    const own = access.own.get(node) ?? []
    return own.reduce(
      (any, number) => any | conditionWord(number),
      gate === undefined ? read : read & conditionWord(gate),
    )
  }

  #kidWord(kid: number, { tables, word, bit }: TriedAccess, at: number, side: Side): number {
    if (kid < 0) return 0
    return tables[side].get(kid)?.[at] ?? (this.#truth(kid, word, bit, side) ? -1 : 0)
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

function isSame(a: Int32Array, b: Int32Array): boolean {
  return a.every((value, at) => value === b[at])
}
