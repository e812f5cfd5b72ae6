import type { AccessChange } from "../access-change.ts"
import { ConditionTables } from "./condition-tables.ts"
import { anyNode, type DecisionGraph, nobody } from "./decision-graph.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import type { UserBatch } from "./user-batch.ts"

/** What can become of an access that conditions decide. */
type UndecidedChange = Extract<AccessChange, "may-gain" | "may-lose" | "undecided"> | "unchanged"

/** Nodes that are visited for one access; what needs more stays undecided. */
const nodesMax = 256

/**
 * Finds what an undecided access is in truth, because conditions may decide both models alike, or only to the user's advantage. First by what a union
 * leads to without further conditions: tuples of the user with an undecided condition, gates, and intersections and exclusions. If these are the same
 * in both models, the access is the same whatever the conditions say. Then, where few conditions decide, by all ways in which they can be decided.
 */
export class UndecidedAccess {
  readonly #graph: DecisionGraph
  readonly #batch: UserBatch
  /** By node: references to the nodes that it reads. */
  readonly #kids: Grouped
  readonly #tables: ConditionTables
  #user = -2
  /** By node: what decides the undecided tuples of the user. */
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
    this.#tables = new ConditionTables(graph, batch, this.#kids)
  }

  /**
   * What can become of the access of a user of the batch (its position in the graph's users, or -1; and its bit of a word) to a node that conditions
   * decide in both models: `undecided` also when it is too much to find out.
   */
  changeOf(old: number, next: number, user: number, word: number, bit: number): UndecidedChange {
    this.#setUser(user)
    if (old !== nobody && next !== nobody) {
      const [a, b] = [this.#support(old, word, bit), this.#support(next, word, bit)]
      const isSame = a !== undefined && b !== undefined && a.size === b.size
      if (isSame && [...a].every((each) => b.has(each))) return "unchanged"
    }
    return this.triedChangeOf(old, next, user, word, bit) ?? "undecided"
  }

  /** The same by trying; undefined when it is too much. */
  triedChangeOf(
    old: number,
    next: number,
    user: number,
    word: number,
    bit: number,
  ): UndecidedChange | undefined {
    this.#setUser(user)
    const found = this.#tables.compare(old, next, this.#own, word, bit)
    if (found === undefined) return undefined
    if (found.gains) return found.loses ? "undecided" : "may-gain"
    return found.loses ? "may-lose" : "unchanged"
  }

  #setUser(user: number): void {
    // Everybody of one type follows everybody of another.
    if (user >= 0 && user === this.#user) return
    const { nodes, conditions, everyone } = this.#graph.users
    this.#user = user
    this.#own = new Map()
    const add = (reference: number, condition: number) => {
      if ((reference & 1) === 1)
        this.#own.set(reference >> 1, [...(this.#own.get(reference >> 1) ?? []), condition])
    }
    if (user >= 0)
      for (let at = nodes.starts[user] as number; at < (nodes.starts[user + 1] as number); at++)
        add(nodes.values[at] as number, conditions.values[at] as number)
    const all = everyone.get(this.#batch.type)
    for (let at = 0; at < (all?.nodes.length ?? 0); at++)
      add(all?.nodes.array[at] as number, all?.conditions.array[at] as number)
  }

  /** What decides a node for the user; undefined when it is too much. */
  #support(root: number, word: number, bit: number): Set<string> | undefined {
    const { kinds, gates } = this.#graph
    const { values, stride, upper } = this.#batch
    const found = new Set<string>()
    const visited = new Set([root])
    for (const node of visited) {
      if (visited.size > nodesMax) return undefined
      if (kinds.array[node] !== anyNode) {
        found.add(`node ${node}`)
        continue
      }
      for (const condition of this.#own.get(node) ?? []) found.add(`tuple ${condition}`)
      const gate = gates.get(node)
      for (let at = this.#kids.starts[node] as number; at < (this.#kids.starts[node + 1] as number); at++) {
        const kid = (this.#kids.values[at] as number) >> 1
        if (((values[stride * kid + upper + word] as number) & bit) === 0) continue
        if (gate === undefined) visited.add(kid)
        else found.add(`gate ${gate} ${kid}`)
      }
    }
    return found
  }
}
