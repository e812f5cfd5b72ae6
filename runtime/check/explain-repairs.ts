import { Closure } from "./closure.ts"
import type { Decided } from "./explain-proof.ts"
import { slotOf } from "./explain-tuples.ts"
import { type Formula, no, yes } from "./fixpoint.ts"
import type { AnyPart, Hop, Part, Test } from "./program.ts"
import { isFalse, isTrue } from "./question.ts"

/** The most tuples of one repair. */
export const editsMax = 3

/** One tuple written or deleted. `slot` is of the plan. */
export interface Edit {
  readonly id: number
  readonly adds: boolean
  readonly object: number
  readonly slot: number
  readonly other: number
  /** The same for all edits of one tuple's key. */
  readonly key: string
}

/** A set of edits that may turn a deny into an allow, in order of their ids. The smaller the cost, the more likely it is what somebody meant. */
export interface Repair {
  readonly edits: readonly Edit[]
  readonly cost: number
}

/** Best ones kept per node. */
const keptMax = 8
/** Elements looked at of one list. */
const listMax = 1_000
/** Places of the user's own proposed for a relation, how many are tried for it, and how far they are looked for. */
const placesMax = 3
const candidatesMax = 12
const placeStepsMax = 3_000
/** Steps of looking for what would make something false. */
const blockStepsMax = 3_000

/** One more tuple counts more than any distance; a tuple of the user itself is preferred to another for its group, that to a new place of the object. */
const costs = { edit: 10_000, hop: 10, conditioned: 40, wildcard: 120, userset: 60, from: 90, remove: 20 }

type AnyFormula = Extract<Formula, { op: "any" }>
/** The nodes that are being broken further up. */
type Path = ReadonlySet<number>

const nowhere: Path = new Set()
const pathMax = 20

const nothing: readonly Repair[] = [{ edits: [], cost: 0 }]

/**
 * Proposes what would have to be written or deleted for a node to become true, read from its formulas. It only proposes: what a proposal would change besides is
 * not looked at, so each has to be tried.
 */
export class Repairs {
  readonly #decided: Decided
  readonly #needs: (readonly Repair[])[] = []
  readonly #edits = new Map<string, Edit>()
  readonly #places = new Map<number, readonly number[]>()
  readonly #targets = new Map<number, Set<number>>()
  readonly #holds: (object: number, relation: number) => boolean
  #blockSteps = 0
  /** Something was left out because there was too much. */
  cut = false

  /** `holds` says whether the user has a relation on an object. */
  constructor(
    decided: Decided,
    edits: Map<string, Edit>,
    holds: (object: number, relation: number) => boolean,
  ) {
    this.#decided = decided
    this.#holds = holds
    this.#edits = edits
  }

  /** The best for a node. */
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
          this.cut = true
          return this.#needs[number] ?? []
        }
        dirty[at] = 0
        const found = this.#node(at)
        if (sameRepairs(found, this.#needs[at] ?? [])) continue
        this.#needs[at] = found
        changed = true
        for (const dependent of nodes[at]?.dependents ?? []) dirty[dependent] = 1
      }
    }
    return this.#needs[number] ?? []
  }

  #node(number: number): readonly Repair[] {
    const { question, collector, solver } = this.#decided
    const { relation, formula } = collector.nodes[number] as (typeof collector.nodes)[number]
    const part = question.program.parts[relation]
    if (part === undefined || formula === undefined) return []
    return solver.truth(formula) === yes ? nothing : this.#need(part, formula, number, nowhere)
  }

  #need(part: Part, formula: Formula, number: number, path: Path): readonly Repair[] {
    const { solver } = this.#decided
    if (solver.truth(formula) === yes) return nothing
    if (part.op === "all" && formula.op === "all") {
      let found = nothing
      part.children.forEach((child, at) => {
        if (found.length > 0)
          found = this.#both(found, this.#need(child, formula.parts[at] as Formula, number, path))
      })
      return found
    }
    if (part.op === "but" && formula.op === "but") {
      const base = this.#need(part.base, formula.base, number, path)
      if (base.length === 0) return base
      return this.#both(base, this.#block(part.subtract, formula.subtract, number, path))
    }
    return part.op === "any" && formula.op === "any" ? this.#needAny(part, formula, number, path) : []
  }

  #needAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): readonly Repair[] {
    const { question, collector } = this.#decided
    const { object, depth } = collector.nodes[number] as (typeof collector.nodes)[number]
    const near = costs.hop * Math.max(depth, 0)
    const found: Repair[] = []
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      this.#add(found, test, object, other, near + (test.wildcard ? costs.wildcard : 0))
    }
    for (const ref of part.refs) found.push(...(this.#needs[collector.numberOf(object, ref)] ?? []))
    for (const hop of part.hops) {
      for (const other of this.#listOf(object, hop)) {
        if (hop.condition !== undefined && this.#edge(object, hop, other) === isFalse) continue
        found.push(...(this.#needs[collector.numberOf(other, hop.target)] ?? []))
      }
      const isFrom = slotOf(question, hop.slot).subjectRelation === ""
      const extra = isFrom ? costs.from : costs.userset
      const places = isFrom ? this.#placesBehind(hop.slot) : this.#placesOf(hop.target)
      for (const other of places) this.#add(found, hop, object, other, near + extra)
    }
    part.branches.forEach((branch, at) => {
      const inner = formula.parts[at]
      if (inner !== undefined) found.push(...this.#need(branch, inner, number, path))
    })
    return this.#best(found)
  }

  /** A tuple that is not there yet, if its condition does not forbid it. */
  #add(found: Repair[], { slot, condition }: Test | Hop, object: number, other: number, cost: number): void {
    const { question } = this.#decided
    if (other < 0) return
    for (const { id } of slotOf(question, slot).base.slots)
      if (question.has(object, id, other) !== isFalse) return
    const outcome = condition === undefined ? true : question.judge(condition, undefined)
    if (outcome === false || (outcome !== true && "error" in outcome)) return
    const edit = this.#edit(true, object, slot, other)
    const extra = condition === undefined ? 0 : costs.conditioned
    found.push({ edits: [edit], cost: costs.edit + cost + extra })
  }

  /** What would make a part false: every way in which it may be true has to go. `path` are the nodes this is asked for. */
  #block(part: Part, formula: Formula, number: number, path: Path): readonly Repair[] {
    const { solver } = this.#decided
    if (solver.possible(formula) === no) return nothing
    if (++this.#blockSteps > blockStepsMax) {
      this.cut = true
      return []
    }
    if (part.op === "all" && formula.op === "all")
      return this.#best(
        part.children.flatMap((child, at) => this.#block(child, formula.parts[at] as Formula, number, path)),
      )
    if (part.op === "but" && formula.op === "but")
      return this.#best([
        ...this.#block(part.base, formula.base, number, path),
        ...this.#need(part.subtract, formula.subtract, number, path),
      ])
    return part.op === "any" && formula.op === "any" ? this.#blockAny(part, formula, number, path) : []
  }

  #blockAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): readonly Repair[] {
    const { question, collector } = this.#decided
    const { object } = collector.nodes[number] as (typeof collector.nodes)[number]
    if (part.self && object === question.subject) return []
    let found = nothing
    const without = (ways: readonly Repair[]) => {
      found = this.#both(found, ways)
      return found.length === 0
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
        if (target === nothing) continue
        if (without(this.#best([...this.#remove(object, hop.slot, other), ...target]))) return found
      }
    for (let at = 0; at < formula.parts.length; at++)
      if (without(this.#block(part.branches[at] as Part, formula.parts[at] as Formula, number, path)))
        return found
    return found
  }

  /** A node that is already being broken further up gives no support of its own. */
  #blockNode(number: number, path: Path): readonly Repair[] {
    const { collector, question, solver } = this.#decided
    const node = collector.nodes[number]
    const part = node === undefined ? undefined : question.program.parts[node.relation]
    if (node?.formula === undefined || path.has(number) || solver.possible(node.formula) === no)
      return nothing
    if (part === undefined || (node.relation === question.program.own && node.object === question.subject))
      return []
    if (path.size >= pathMax) {
      this.cut = true
      return []
    }
    return this.#block(part, node.formula, number, new Set([...path, number]))
  }

  #remove(object: number, slot: number, other: number): readonly Repair[] {
    return [{ edits: [this.#edit(false, object, slot, other)], cost: costs.edit + costs.remove }]
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
      this.cut = true
      return new Int32Array(0)
    }
    const { list, listStart, listEnd } = question
    if (listEnd - listStart > listMax) this.cut = true
    return list.slice(listStart, Math.min(listEnd, listStart + listMax))
  }

  /**
   * Places for a tuple of a tupleset: where the user has any relation that is read through it, because the same tuple may be what gives the others. A userset has its relation on its
   * own object.
   */
  #placesBehind(slot: number): ReadonlySet<number> {
    const { program, subject } = this.#decided.question
    const found = new Set<number>()
    for (const target of this.#targetsOf(slot)) {
      if (target === program.own) found.add(subject)
      for (const place of this.#placesOf(target)) found.add(place)
    }
    return found
  }

  /** The relations that are read through the tuples of a slot. */
  #targetsOf(slot: number): ReadonlySet<number> {
    if (this.#targets.size === 0)
      for (const part of this.#decided.question.program.parts)
        for (const hop of part === undefined ? [] : hopsOf(part)) {
          const targets = this.#targets.get(hop.slot) ?? new Set()
          this.#targets.set(hop.slot, targets.add(hop.target))
        }
    return this.#targets.get(slot) ?? new Set()
  }

  /** Some objects on which the user has a relation already, those nearest to the user. */
  #placesOf(target: number): readonly number[] {
    const known = this.#places.get(target)
    if (known !== undefined) return known
    const places = this.#candidatesOf(target).filter((object) => this.#holds(object, target))
    if (places.length > placesMax) this.cut = true
    this.#places.set(target, places.slice(0, placesMax))
    return places.slice(0, placesMax)
  }

  /** Where the user may have the relation: backwards from the user. */
  #candidatesOf(target: number): number[] {
    const { question } = this.#decided
    const found = new Set<number>()
    // Pages of where a user stands may be large, and an explanation should not push others out of memory.
    if (question.graph.pages !== undefined) {
      this.cut = true
      return []
    }
    const closure = new Closure(question, target)
    const stepsMax = question.steps + placeStepsMax
    const enough = () => found.size >= candidatesMax || question.steps > stepsMax
    while (!closure.exhausted && !enough())
      for (const _ of closure.grow((object, relation) => {
        if (relation === target && found.size < candidatesMax) found.add(object)
      }))
        if (enough()) break
    if (!closure.exhausted) this.cut = true
    if (target === question.program.own) found.delete(question.subject)
    return [...found]
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

  #both(one: readonly Repair[], two: readonly Repair[]): readonly Repair[] {
    if (one === nothing) return two
    if (two === nothing) return one
    const found: Repair[] = []
    for (const first of one)
      for (const second of two) {
        const joined = join(first, second)
        if (joined !== undefined) found.push(joined)
        else this.cut = true
      }
    return this.#best(found)
  }

  #best(found: readonly Repair[]): readonly Repair[] {
    const byKey = new Map<string, Repair>()
    for (const repair of found) {
      const key = keyOf(repair.edits)
      const known = byKey.get(key)
      if (known === undefined || known.cost > repair.cost) byKey.set(key, repair)
    }
    const sorted = [...byKey.values()].sort((a, b) => a.cost - b.cost)
    if (sorted.length <= keptMax) return sorted
    this.cut = true
    return sorted.slice(0, keptMax)
  }
}

/** All hops of a relation, wherever they stand. The depth is that of the limit on models. */
function* hopsOf(part: Part): Generator<Hop> {
  if (part.op === "all") for (const child of part.children) yield* hopsOf(child)
  else if (part.op === "but") {
    yield* hopsOf(part.base)
    yield* hopsOf(part.subtract)
  } else if (part.op === "any") {
    yield* part.hops
    for (const branch of part.branches) yield* hopsOf(branch)
  }
}

/** The same edits have the same key. */
export function keyOf(edits: readonly Edit[]): string {
  return edits.map(({ id }) => id).join()
}

/** Undefined when it would be too many, or two of one key. */
export function join(one: Repair, two: Repair): Repair | undefined {
  const edits = [...new Set([...one.edits, ...two.edits])].sort((a, b) => a.id - b.id)
  if (edits.length > editsMax || new Set(edits.map(({ key }) => key)).size < edits.length) return undefined
  // Common edits are paid for once.
  const twice = one.edits.length + two.edits.length - edits.length
  return { edits, cost: one.cost + two.cost - twice * costs.edit }
}

function sameRepairs(one: readonly Repair[], two: readonly Repair[]): boolean {
  return (
    one.length === two.length &&
    one.every(
      (repair, at) => repair.cost === two[at]?.cost && keyOf(repair.edits) === keyOf(two[at]?.edits ?? []),
    )
  )
}
