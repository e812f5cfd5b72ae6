import type { Graph } from "../graph/graph.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import type { NamedSets } from "./named-sets.ts"
import type { DirectSlot, PairedProgram } from "./paired-program.ts"
import type { TupleConditions } from "./tuple-conditions.ts"

/** What names users. */
interface NamedUsersTerms {
  readonly graph: Graph
  readonly program: PairedProgram
  readonly sets: NamedSets
}

/** No condition of a tuple is undecided. */
export const certain = -1

/**
 * Users that tuples name, and the nodes that they have by these tuples. A reference to a node is `2 * node`, plus 1 if the tuple's condition is
 * undecided.
 */
export class NamedUsers {
  /**
   * Ids of the users, in the order in which they were met; users of one type are not together. A set (`group:eng#member`) is a user too, by the id
   * of its object.
   */
  readonly ids = new IntBuffer()
  /** The type of each; of a set `-1 - relation`. */
  readonly types = new IntBuffer()
  /** By user (its position in `ids`): references to nodes that name it. */
  nodes!: Grouped
  /** In the order of `nodes`: what decides the tuple, or `certain`. */
  conditions!: Grouped
  /** By type: references to nodes that everybody of the type has by a tuple, and what decides these. */
  readonly everyone = new Map<number, { readonly nodes: IntBuffer; readonly conditions: IntBuffer }>()
  readonly #terms: NamedUsersTerms
  /** By id: the user's position in `ids`, plus 1. */
  readonly #numbers: Int32Array
  /** By set: its position in `ids`, plus 1. */
  readonly #setNumbers: Int32Array
  #users = new IntBuffer()
  #references = new IntBuffer()
  #conditions = new IntBuffer()

  constructor(terms: NamedUsersTerms) {
    this.#terms = terms
    this.#numbers = new Int32Array(terms.graph.names.idsEnd)
    this.#setNumbers = new Int32Array(terms.sets.count)
  }

  get count(): number {
    return this.ids.length
  }

  get bytes(): number {
    const lists = [this.ids, this.types, this.#users, this.#references, this.#conditions]
    return lists.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** The position of a user in `ids`; -1 if nothing names it. */
  numberOf(id: number): number {
    return (this.#numbers[id] as number) - 1
  }

  /** `user:ann`, or `group:eng#member`. */
  name(at: number): string {
    const { graph, program } = this.#terms
    const name = graph.names.text(this.ids.array[at] as number)
    const type = this.types.array[at] as number
    return type < 0 ? `${name}#${program.relations[-1 - type]?.relation ?? ""}` : name
  }

  /** Adds the users of all tuples of a slot on an object. Returns the bits of the conditions that are undecided. */
  addSlot(object: number, direct: DirectSlot, node: number, conditions: TupleConditions): number {
    const { graph } = this.#terms
    const { subjectType } = graph.slots[direct.slot] as { subjectType: string }
    const type = graph.typeId(subjectType)
    const value = graph.forward.find(object, direct.slot)
    let bits = 0
    const add = (other: number) => {
      const truth = conditions.judge(object, direct, other)
      if (truth === false) return
      if (truth !== true) bits |= conditions.bitOf(truth)
      const reference = 2 * node + (truth === true ? 0 : 1)
      const condition = truth === true ? certain : truth
      if (direct.wildcard) this.#addEveryone(type, reference, condition)
      else this.#add(this.#userOf(other, type), reference, condition)
    }
    if (value >= 0) add(value)
    else {
      const { array, start, end } = graph.forward.stretch(value)
      for (let at = start; at < end; at++) add(array[at] as number)
    }
    return bits
  }

  /** Adds the sets of an object by these relations, which have the node. */
  addSets(object: number, relations: readonly number[], node: number): void {
    for (const relation of relations) {
      const set = this.#terms.sets.find(object, relation)
      let number = (this.#setNumbers[set] as number) - 1
      if (number < 0) {
        number = this.count
        this.#setNumbers[set] = number + 1
        this.ids.push(object)
        this.types.push(-1 - relation)
      }
      this.#add(number, 2 * node, certain)
    }
  }

  /** Ends the adding. */
  group(): void {
    this.nodes = new Grouped(this.#users, this.#references, this.count)
    this.conditions = new Grouped(this.#users, this.#conditions, this.count)
    this.#users = new IntBuffer()
    this.#references = new IntBuffer()
    this.#conditions = new IntBuffer()
  }

  #userOf(id: number, type: number): number {
    const known = this.numberOf(id)
    if (known >= 0) return known
    this.#numbers[id] = this.count + 1
    this.ids.push(id)
    this.types.push(type)
    return this.count - 1
  }

  #add(user: number, reference: number, condition: number): void {
    this.#users.push(user)
    this.#references.push(reference)
    this.#conditions.push(condition)
  }

  #addEveryone(type: number, reference: number, condition: number): void {
    const found = this.everyone.get(type) ?? { nodes: new IntBuffer(), conditions: new IntBuffer() }
    this.everyone.set(type, found)
    found.nodes.push(reference)
    found.conditions.push(condition)
  }
}
