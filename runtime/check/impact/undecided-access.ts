import { anyNode, type DecisionGraph, nobody } from "./decision-graph.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import type { UserBatch } from "./user-batch.ts"

/** Nodes that are visited for one access; what needs more stays undecided. */
const nodesMax = 256

/**
 * Finds undecided accesses that are equal in both models although conditions decide both. A union is decided by what it leads to without
 * further conditions: tuples of the user with an undecided condition, undecided hops, and intersections and exclusions. If these are the same in
 * both models, the access is the same whatever the conditions say.
 */
export class UndecidedAccess {
  readonly #graph: DecisionGraph
  readonly #batch: UserBatch
  /** By node: references to the nodes that it reads. */
  readonly #kids: Grouped
  #user = -2
  /** By node: undecided tuples of the user. */
  #own = new Map<number, number[]>()

  constructor(graph: DecisionGraph, batch: UserBatch) {
    this.#graph = graph
    this.#batch = batch
    const [nodes, kids] = [new IntBuffer(), new IntBuffer()]
    const { starts, values } = graph.readers
    for (let kid = 0; kid < graph.count; kid++)
      for (let at = starts[kid] as number; at < (starts[kid + 1] as number); at++) {
        nodes.push((values[at] as number) >> 1)
        kids.push(2 * kid + ((values[at] as number) & 1))
      }
    this.#kids = new Grouped(nodes, kids, graph.count)
  }

  /** Whether a user of the batch (its position in the graph's users, or -1; and its bit of a word) has both nodes under the same conditions. */
  isEqual(old: number, next: number, user: number, word: number, bit: number): boolean {
    if (old === nobody || next === nobody) return false
    this.#setUser(user)
    const [a, b] = [this.#support(old, word, bit), this.#support(next, word, bit)]
    return a !== undefined && b !== undefined && a.size === b.size && [...a].every((each) => b.has(each))
  }

  #setUser(user: number): void {
    // Everybody of one type follows everybody of another.
    if (user >= 0 && user === this.#user) return
    const { named, namedAtoms, everyone, everyoneAtoms } = this.#graph
    this.#user = user
    this.#own = new Map()
    const add = (reference: number, atom: number) => {
      if ((reference & 1) === 1)
        this.#own.set(reference >> 1, [...(this.#own.get(reference >> 1) ?? []), atom])
    }
    if (user >= 0)
      for (let at = named.starts[user] as number; at < (named.starts[user + 1] as number); at++)
        add(named.values[at] as number, namedAtoms.values[at] as number)
    const { type } = this.#batch
    const [all, atoms] = [everyone.get(type), everyoneAtoms.get(type)]
    for (let at = 0; at < (all?.length ?? 0); at++)
      // Negative: the wildcard's tuple, and not that of the user.
      add(all?.array[at] as number, -(atoms?.array[at] as number))
  }

  /** What decides a node for the user; undefined when it is too much. */
  #support(root: number, word: number, bit: number): Set<string> | undefined {
    const { kinds } = this.#graph
    const { values, stride, upper } = this.#batch
    const found = new Set<string>()
    const visited = new Set([root])
    for (const node of visited) {
      if (visited.size > nodesMax) return undefined
      if (kinds.array[node] !== anyNode) {
        found.add(`node ${node}`)
        continue
      }
      for (const atom of this.#own.get(node) ?? []) found.add(`tuple ${atom}`)
      for (let at = this.#kids.starts[node] as number; at < (this.#kids.starts[node + 1] as number); at++) {
        const reference = this.#kids.values[at] as number
        const kid = reference >> 1
        if (((values[stride * kid + upper + word] as number) & bit) === 0) continue
        if ((reference & 1) === 1) found.add(`hop ${node} ${kid}`)
        else visited.add(kid)
      }
    }
    return found
  }
}
