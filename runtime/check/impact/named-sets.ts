import { NodeTable } from "../evaluate/node-table.ts"
import type { Graph } from "../graph/graph.ts"
import { typeOfMark } from "../graph/slots.ts"
import type { PairedProgram } from "./paired-program.ts"

/** Ids between two yields. */
const idsAtOnce = 4_096

/** The sets (`group:eng#member`) that tuples name as subjects. A check may ask for them as for users. */
export class NamedSets {
  readonly #table = new NodeTable()
  /** By id: 1 if a set of the object is named. */
  #named = new Uint8Array(0)

  get count(): number {
    return this.#table.size
  }

  /** Finds those whose relation one of the models has; yields now and then. */
  *read(graph: Graph, program: PairedProgram): Generator<void> {
    const numbers = new Map(program.relations.map(({ name, number }) => [name, number]))
    const relationOf = graph.slots.map(
      ({ subjectType, subjectRelation }) => numbers.get(`${subjectType}#${subjectRelation}`) ?? -1,
    )
    const types = new Set(
      graph.slots.flatMap(({ subjectType }, slot) =>
        (relationOf[slot] ?? -1) < 0 ? [] : [graph.typeId(subjectType)],
      ),
    )
    const { names, reverse } = graph
    this.#named = new Uint8Array(names.idsEnd)
    if (types.size === 0) return
    for (let id = 0; id < names.idsEnd; id++) {
      if (id % idsAtOnce === 0) yield
      if (!types.has(typeOfMark(names.mark(id)))) continue
      reverse.eachSlot(id, (slot) => {
        const relation = relationOf[slot] ?? -1
        if (relation >= 0) this.#add(id, relation)
      })
    }
  }

  #add(object: number, relation: number): void {
    this.#named[object] = 1
    if (this.#table.find(object, relation) < 0) this.#table.add(object, relation, this.count, 0)
  }

  /** The number of a set; -1 if no tuple names it. */
  find(object: number, relation: number): number {
    const at = this.#table.find(object, relation)
    return at < 0 ? -1 : this.#table.state(at)
  }

  /** Whether a set of the object is named. */
  hasAny(object: number): boolean {
    return this.#named[object] === 1
  }
}
