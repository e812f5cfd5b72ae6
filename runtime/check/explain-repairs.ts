import { Places } from "./explain-places.ts"
import type { Decided } from "./explain-proof.ts"
import { slotOf } from "./explain-tuples.ts"
import {
  already,
  costs,
  type Edit,
  impossible,
  type Repair,
  sameWays,
  WaySets,
  type Ways,
} from "./explain-ways.ts"
import { type Formula, no, yes } from "./fixpoint.ts"
import type { AnyPart, Hop, Part, Test } from "./program.ts"
import { isFalse, isTrue } from "./question.ts"

/** Elements looked at of one list. */
const listMax = 1_000
/** Steps of looking for what would make something false. */
const blockStepsMax = 3_000

type AnyFormula = Extract<Formula, { op: "any" }>
/** The nodes that are being broken further up. */
type Path = ReadonlySet<number>

const nowhere: Path = new Set()
const pathMax = 20

/**
 * Proposes what would have to be written or deleted for a node to become true, read from its formulas. It only proposes: what a proposal would change besides is
 * not looked at, so each has to be tried.
 */
export class Repairs {
  readonly #decided: Decided
  readonly #ways = new WaySets()
  readonly #needs: Ways[] = []
  readonly #edits: Map<string, Edit>
  readonly #places: Places
  #blockSteps = 0
  #cut = false

  /** `holds` says whether the user has a relation on an object. */
  constructor(
    decided: Decided,
    edits: Map<string, Edit>,
    holds: (object: number, relation: number) => boolean,
  ) {
    this.#decided = decided
    this.#places = new Places(decided.question, holds)
    this.#edits = edits
  }

  /** Something was left out because there was too much. */
  get cut(): boolean {
    return this.#cut || this.#ways.cut || this.#places.cut
  }

  /** The best for a node, and every single tuple that is enough, as long as they are not too many. */
  *of(number: number): Generator<void, readonly Repair[]> {
    const { nodes } = this.#decided.collector
    const dirty = new Uint8Array(nodes.length).fill(1)
    let left = 8 * nodes.length + 1_000
    for (let changed = true; changed; ) {
      changed = false
      for (let at = nodes.length - 1; at >= 0; at--) {
        if ((at & 15) === 0) yield
        if (dirty[at] === 0) continue
        if (--left < 0) {
          this.#cut = true
          return this.#ways.told(this.#needs[number] ?? impossible)
        }
        dirty[at] = 0
        const found = this.#node(at)
        if (sameWays(found, this.#needs[at] ?? impossible)) continue
        this.#needs[at] = found
        changed = true
        for (const dependent of nodes[at]?.dependents ?? []) dirty[dependent] = 1
      }
    }
    return this.#ways.told(this.#needs[number] ?? impossible)
  }

  #node(number: number): Ways {
    const { question, collector, solver } = this.#decided
    const { relation, formula } = collector.nodes[number] as (typeof collector.nodes)[number]
    const part = question.program.parts[relation]
    if (part === undefined || formula === undefined) return impossible
    return solver.truth(formula) === yes ? already : this.#need(part, formula, number, nowhere)
  }

  #need(part: Part, formula: Formula, number: number, path: Path): Ways {
    const { solver } = this.#decided
    if (solver.truth(formula) === yes) return already
    if (part.op === "all" && formula.op === "all") {
      let found = already
      part.children.forEach((child, at) => {
        if (found.best.length > 0)
          found = this.#ways.both(found, this.#need(child, formula.parts[at] as Formula, number, path))
      })
      return found
    }
    if (part.op === "but" && formula.op === "but") {
      const base = this.#need(part.base, formula.base, number, path)
      if (base.best.length === 0) return base
      return this.#ways.both(base, this.#block(part.subtract, formula.subtract, number, path))
    }
    return part.op === "any" && formula.op === "any" ? this.#needAny(part, formula, number, path) : impossible
  }

  #needAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): Ways {
    const { question, collector } = this.#decided
    const { object, depth } = collector.nodes[number] as (typeof collector.nodes)[number]
    const near = costs.hop * Math.max(depth, 0)
    const found: Ways[] = []
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      this.#add(found, test, object, other, near + (test.wildcard ? costs.wildcard : 0))
    }
    for (const ref of part.refs) found.push(this.#needs[collector.numberOf(object, ref)] ?? impossible)
    for (const hop of part.hops) {
      for (const other of this.#listOf(object, hop)) {
        if (hop.condition !== undefined && this.#edge(object, hop, other) === isFalse) continue
        found.push(this.#needs[collector.numberOf(other, hop.target)] ?? impossible)
      }
      const isFrom = slotOf(question, hop.slot).subjectRelation === ""
      const extra = isFrom ? costs.from : costs.userset
      const places = isFrom ? this.#places.behind(hop.slot) : this.#places.of(hop.target)
      for (const other of places) this.#add(found, hop, object, other, near + extra)
    }
    part.branches.forEach((branch, at) => {
      const inner = formula.parts[at]
      if (inner !== undefined) found.push(this.#need(branch, inner, number, path))
    })
    return this.#ways.either(found)
  }

  /** A tuple that is not there yet, if its condition does not forbid it. */
  #add(found: Ways[], { slot, condition }: Test | Hop, object: number, other: number, cost: number): void {
    const { question } = this.#decided
    if (other < 0) return
    for (const { id } of slotOf(question, slot).base.slots)
      if (question.has(object, id, other) !== isFalse) return
    const outcome = condition === undefined ? true : question.judge(condition, undefined)
    if (outcome === false || (outcome !== true && "error" in outcome)) return
    const edit = this.#edit(true, object, slot, other)
    const extra = condition === undefined ? 0 : costs.conditioned
    found.push(this.#ways.one(edit, cost + extra))
  }

  /** What would make a part false: every way in which it may be true has to go. `path` are the nodes this is asked for. */
  #block(part: Part, formula: Formula, number: number, path: Path): Ways {
    const { solver } = this.#decided
    if (solver.possible(formula) === no) return already
    if (++this.#blockSteps > blockStepsMax) {
      this.#cut = true
      return impossible
    }
    if (part.op === "all" && formula.op === "all")
      return this.#ways.either(
        part.children.map((child, at) => this.#block(child, formula.parts[at] as Formula, number, path)),
      )
    if (part.op === "but" && formula.op === "but")
      return this.#ways.either([
        this.#block(part.base, formula.base, number, path),
        this.#need(part.subtract, formula.subtract, number, path),
      ])
    return part.op === "any" && formula.op === "any"
      ? this.#blockAny(part, formula, number, path)
      : impossible
  }

  #blockAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): Ways {
    const { question, collector } = this.#decided
    const { object } = collector.nodes[number] as (typeof collector.nodes)[number]
    if (part.self && object === question.subject) return impossible
    let found = already
    const without = (ways: Ways) => {
      found = this.#ways.both(found, ways)
      return found.best.length === 0
    }
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      if (!this.#stands(object, test, other)) continue
      if (without(this.#remove(object, test.slot, other))) return found
    }
    for (const ref of part.refs)
      if (without(this.#blockNode(collector.numberOf(object, ref), path))) return found
    for (const hop of part.hops)
      for (const other of this.#listOf(object, hop)) {
        if (hop.condition !== undefined && this.#edge(object, hop, other) === isFalse) continue
        const target = this.#blockNode(collector.numberOf(other, hop.target), path)
        if (target === already) continue
        if (without(this.#ways.either([this.#remove(object, hop.slot, other), target]))) return found
      }
    for (let at = 0; at < formula.parts.length; at++)
      if (without(this.#block(part.branches[at] as Part, formula.parts[at] as Formula, number, path)))
        return found
    return found
  }

  /** A node that is already being broken further up gives no support of its own. */
  #blockNode(number: number, path: Path): Ways {
    const { collector, question, solver } = this.#decided
    const node = collector.nodes[number]
    const part = node === undefined ? undefined : question.program.parts[node.relation]
    if (node?.formula === undefined || path.has(number) || solver.possible(node.formula) === no)
      return already
    if (part === undefined || (node.relation === question.program.own && node.object === question.subject))
      return impossible
    if (path.size >= pathMax) {
      this.#cut = true
      return impossible
    }
    return this.#block(part, node.formula, number, new Set([...path, number]))
  }

  #remove(object: number, slot: number, other: number): Ways {
    return this.#ways.one(this.#edit(false, object, slot, other), costs.remove)
  }

  #stands(object: number, test: Test, other: number): boolean {
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
      this.#cut = true
      return new Int32Array(0)
    }
    const { list, listStart, listEnd } = question
    if (listEnd - listStart > listMax) this.#cut = true
    return list.slice(listStart, Math.min(listEnd, listStart + listMax))
  }

  #edit(adds: boolean, object: number, slot: number, other: number): Edit {
    const key = `${adds ? "+" : "-"}${object}/${slot}/${other}`
    const known = this.#edits.get(key)
    if (known !== undefined) return known
    const { base } = slotOf(this.#decided.question, slot)
    const made: Edit = {
      id: this.#edits.size,
      adds,
      object,
      slot,
      other,
      key: `${object}/${base.id}/${other}`,
    }
    this.#edits.set(key, made)
    return made
  }
}
