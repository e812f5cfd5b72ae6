import type { Formula } from "../evaluate/fixpoint.ts"
import type { AnyPart, Hop, Test } from "../evaluate/program.ts"
import { isFalse, isTrue } from "../evaluate/question.ts"
import type { ReachedPlaces } from "./places.ts"
import type { Decided } from "./proof.ts"
import { slotOf } from "./tuples.ts"
import { costs, type Edit, type Repair } from "./ways.ts"

/** Elements to read of one list. */
const listMax = 1_000

export type AnyFormula = Extract<Formula, { op: "any" }>

/** One way in which a place can be true: a tuple alone, the node of a computed relation, or a tuple and the node it leads to. */
export interface Support {
  /** Number of the node; -1 when it was not collected; undefined: the tuple alone is enough. */
  readonly node: number | undefined
  /** The deletion of the tuple. */
  readonly without: Repair | undefined
}

/** The tuples that could be written or deleted at each place of a question, each as a repair of its own. */
export class Edits {
  /** Something was omitted because there was too much. */
  cut = false
  readonly #decided: Decided
  readonly #places: ReachedPlaces
  readonly #known: Map<string, Edit>
  /** By edit: the cheapest repair. */
  readonly #cheapest: Repair[] = []
  readonly #adding = new Map<AnyFormula, readonly Repair[]>()
  readonly #supports = new Map<AnyFormula, readonly Support[]>()

  /** `known` contains the edits that already have ids. */
  constructor(decided: Decided, places: ReachedPlaces, known: Map<string, Edit>) {
    this.#decided = decided
    this.#places = places
    this.#known = known
  }

  /** The edit with that id as a repair of its own; undefined when it did not occur here. */
  alone(id: number): Repair | undefined {
    return this.#cheapest[id]
  }

  /** The tuples whose writing can make a part of a node true. */
  adding(part: AnyPart, formula: AnyFormula, number: number): readonly Repair[] {
    const known = this.#adding.get(formula)
    if (known !== undefined) return known
    const { question, collector } = this.#decided
    const { object, depth } = collector.nodes[number] as (typeof collector.nodes)[number]
    const near = costs.hop * Math.max(depth, 0)
    const found: Repair[] = []
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      this.#add(found, test, object, other, near + (test.wildcard ? costs.wildcard : 0))
    }
    for (const hop of part.hops) {
      const isFrom = slotOf(question, hop.slot).subjectRelation === ""
      const extra = isFrom ? costs.from : costs.userset
      const places = isFrom ? this.#places.behind(hop.slot) : this.#places.of(hop.target)
      for (const other of places) this.#add(found, hop, object, other, near + extra)
    }
    this.#adding.set(formula, found)
    return found
  }

  /** The current supports that can make a part of a node true, except its branches. */
  supports(part: AnyPart, formula: AnyFormula, number: number): readonly Support[] {
    const known = this.#supports.get(formula)
    if (known !== undefined) return known
    const { question, collector } = this.#decided
    const { object } = collector.nodes[number] as (typeof collector.nodes)[number]
    const found: Support[] = []
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      if (this.#isTrue(object, test, other))
        found.push({ node: undefined, without: this.#remove(object, test.slot, other) })
    }
    for (const ref of part.refs) found.push({ node: collector.numberOf(object, ref), without: undefined })
    for (const hop of part.hops)
      for (const other of this.#listOf(object, hop)) {
        if (hop.condition !== undefined && this.#edge(object, hop, other) === isFalse) continue
        const node = collector.numberOf(other, hop.target)
        found.push({ node, without: this.#remove(object, hop.slot, other) })
      }
    this.#supports.set(formula, found)
    return found
  }

  /** A tuple that does not exist yet, unless its condition is false. */
  #add(found: Repair[], { slot, condition }: Test | Hop, object: number, other: number, cost: number): void {
    const { question } = this.#decided
    if (other < 0) return
    for (const { id } of slotOf(question, slot).base.slots)
      if (question.has(object, id, other) !== isFalse) return
    const outcome = condition === undefined ? true : question.judge(condition, undefined)
    if (outcome === false || (outcome !== true && "error" in outcome)) return
    const extra = condition === undefined ? 0 : costs.conditioned
    found.push(this.#repairOf(this.#edit(true, object, slot, other), cost + extra))
  }

  #remove(object: number, slot: number, other: number): Repair {
    return this.#repairOf(this.#edit(false, object, slot, other), costs.remove)
  }

  #isTrue(object: number, test: Test, other: number): boolean {
    const { question } = this.#decided
    if (question.has(object, question.slots[test.slot] as number, other) !== isTrue) return false
    return test.condition === undefined || this.#edge(object, test, other) !== isFalse
  }

  #edge(object: number, { slot, condition }: Test | Hop, other: number): number {
    const { question } = this.#decided
    if (condition === undefined) return isTrue
    return question.edge(object, question.slots[slot] as number, other, condition)
  }

  #listOf(object: number, hop: Hop): Int32Array {
    const { question } = this.#decided
    if (!question.open(object, hop.slot)) {
      this.cut = true
      return new Int32Array(0)
    }
    const { list, listStart, listEnd } = question
    if (listEnd - listStart > listMax) this.cut = true
    return list.slice(listStart, Math.min(listEnd, listStart + listMax))
  }

  #edit(adds: boolean, object: number, slot: number, other: number): Edit {
    const name = `${adds ? "+" : "-"}${object}/${slot}/${other}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const { base } = slotOf(this.#decided.question, slot)
    const id = this.#known.size
    const made: Edit = { id, adds, object, slot, other, key: `${object}/${base.id}/${other}` }
    this.#known.set(name, made)
    return made
  }

  #repairOf(edit: Edit, cost: number): Repair {
    const made: Repair = { edits: [edit], cost: costs.edit + cost }
    const known = this.#cheapest[edit.id]
    if (known === undefined || known.cost > made.cost) this.#cheapest[edit.id] = made
    return made
  }
}
