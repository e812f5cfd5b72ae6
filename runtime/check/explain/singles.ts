import type { Formula } from "../evaluate/fixpoint.ts"
import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import type { AnyFormula, Edits } from "./edits.ts"
import type { Decided } from "./proof.ts"
import type { Settled } from "./settled.ts"
import type { Repair } from "./ways.ts"

/** A set of edits, as bits by id. -1: all edits. */
type EditSet = bigint
const all: EditSet = -1n
const none: EditSet = 0n

/** Maximum rounds in which needs and blocks are computed from each other. */
const roundsMax = 4
/** Maximum computed values: per node, and in addition. */
const valuesPerNode = 8
const valuesMore = 1_000
const readsMax = 400_000

/**
 * For each node, every edit that alone makes it true; for subtracted nodes, every edit that alone makes it false, at any distance and in
 * any number. An intersection or an exclusion needs two things at once. An edit that provides both may be far from either, so the few best
 * edits of each would not include it.
 *
 * Edits that make a node true are a least fixpoint: a cycle contributes nothing. Edits that make a node false are a greatest fixpoint:
 * nodes of a cycle that only support each other have no support. Each is read where the other has a negation, so they alternate. Side
 * effects of an edit are ignored, so each one must be tried.
 */
export class Singles {
  /** Something was omitted because there was too much. */
  cut = false
  readonly #decided: Decided
  readonly #settled: Settled
  readonly #edits: Edits
  readonly #needs: EditSet[] = []
  readonly #adding = new Map<AnyFormula, EditSet>()
  #blocks = new Map<number, EditSet>()
  /** Nodes whose blocks are needed. */
  readonly #wanted = new Set<number>()
  #fresh: number[] = []
  /** The blocks of a node until they are computed. */
  #unknown = none
  #left: number
  #reads = 0

  constructor(decided: Decided, settled: Settled, edits: Edits) {
    this.#decided = decided
    this.#settled = settled
    this.#edits = edits
    this.#left = valuesPerNode * decided.collector.nodes.length + valuesMore
  }

  *solve(): Generator<void> {
    for (let round = 0; round < roundsMax; round++) {
      const more = yield* this.#solveNeeds()
      if (!more || this.#wanted.size === 0) return
      const blocks = yield* this.#solveBlocks()
      if (blocks === undefined) return
      const same = [...blocks].every(([number, set]) => set === this.#blocks.get(number))
      this.#blocks = blocks
      if (same) return
    }
    this.cut = true
  }

  /** The edits that make a node true, best first. */
  needs(number: number): readonly Repair[] {
    return this.#repairs(this.#needs[number] ?? none)
  }

  /** The edits that make a node false, best first. */
  blocks(number: number): readonly Repair[] {
    return this.#repairs(this.#blocks.get(number) ?? none)
  }

  #repairs(set: EditSet): readonly Repair[] {
    if (set <= none) return []
    const digits = set.toString(2)
    const found: Repair[] = []
    for (let at = digits.indexOf("1"); at >= 0; at = digits.indexOf("1", at + 1)) {
      const repair = this.#edits.alone(digits.length - 1 - at)
      if (repair !== undefined) found.push(repair)
    }
    return found.sort((a, b) => a.cost - b.cost)
  }

  /** Returns true when something has changed. */
  *#solveNeeds(): Generator<void, boolean> {
    const { nodes } = this.#decided.collector
    const dirty = new Uint8Array(nodes.length).fill(1)
    let ever = false
    for (let changed = true; changed; ) {
      changed = false
      for (let at = nodes.length - 1; at >= 0; at--) {
        if ((at & 15) === 0) yield
        if (dirty[at] === 0) continue
        dirty[at] = 0
        if (this.#exhausted()) return ever
        const set = this.#ofNode(at, true)
        if (set === this.#needs[at]) continue
        this.#needs[at] = set
        changed = true
        ever = true
        for (const dependent of nodes[at]?.dependents ?? []) dirty[dependent] = 1
      }
    }
    return ever
  }

  /** Undefined when it was too much: an unfinished computation contains too many edits. */
  *#solveBlocks(): Generator<void, Map<number, EditSet> | undefined> {
    const { nodes } = this.#decided.collector
    const before = this.#blocks
    const found = new Map<number, EditSet>()
    this.#blocks = found
    this.#unknown = all
    const dirty = new Set(this.#wanted)
    for (const at of dirty) {
      dirty.delete(at)
      yield
      if (this.#exhausted()) break
      const set = this.#ofNode(at, false)
      for (const other of this.#fresh.splice(0)) dirty.add(other)
      if (set === (found.get(at) ?? all)) continue
      found.set(at, set)
      for (const dependent of nodes[at]?.dependents ?? [])
        if (this.#wanted.has(dependent)) dirty.add(dependent)
    }
    this.#blocks = before
    this.#unknown = none
    for (const at of this.#wanted) if (!found.has(at)) found.set(at, all)
    return this.cut ? undefined : found
  }

  #exhausted(): boolean {
    if (--this.#left >= 0 && this.#reads < readsMax) return false
    this.cut = true
    return true
  }

  #ofNode(number: number, needed: boolean): EditSet {
    const { question, collector } = this.#decided
    const { object, relation, formula } = collector.nodes[number] as (typeof collector.nodes)[number]
    const { program, subject } = question
    const part = program.parts[relation]
    if (formula === undefined) return none
    // A userset contains itself, whatever is written.
    if (part === undefined || (relation === program.own && object === subject))
      return (needed ? this.#settled.holds(formula) : this.#settled.fails(formula)) ? all : none
    return needed ? this.#need(part, formula, number) : this.#block(part, formula, number)
  }

  #need(part: ProgramPart, formula: Formula, number: number): EditSet {
    if (this.#settled.holds(formula)) return all
    if (part.op === "all" && formula.op === "all") {
      let set = all
      part.children.forEach((child, at) => {
        if (set !== none) set &= this.#need(child, formula.parts[at] as Formula, number)
      })
      return set
    }
    if (part.op === "but" && formula.op === "but") {
      const base = this.#need(part.base, formula.base, number)
      return base === none ? none : base & this.#block(part.subtract, formula.subtract, number)
    }
    if (part.op !== "any" || formula.op !== "any") return none
    let set = this.#addingTo(part, formula, number)
    for (const refs of [formula.refs, formula.unsureRefs])
      for (const ref of refs) set |= this.#needs[ref] ?? none
    this.#reads += formula.refs.length
    part.branches.forEach((branch, at) => {
      const inner = formula.parts[at]
      if (inner !== undefined) set |= this.#need(branch, inner, number)
    })
    return set
  }

  #addingTo(part: AnyPart, formula: AnyFormula, number: number): EditSet {
    const known = this.#adding.get(formula)
    if (known !== undefined) return known
    const set = this.#edits.adding(part, formula, number).reduce((sum, repair) => sum | bitOf(repair), none)
    this.#adding.set(formula, set)
    return set
  }

  #block(part: ProgramPart, formula: Formula, number: number): EditSet {
    if (this.#settled.fails(formula)) return all
    if (part.op === "all" && formula.op === "all")
      return part.children.reduce(
        (set, child, at) => set | this.#block(child, formula.parts[at] as Formula, number),
        none,
      )
    if (part.op === "but" && formula.op === "but")
      return (
        this.#block(part.base, formula.base, number) | this.#need(part.subtract, formula.subtract, number)
      )
    return part.op === "any" && formula.op === "any" ? this.#blockAny(part, formula, number) : none
  }

  #blockAny(part: AnyPart, formula: AnyFormula, number: number): EditSet {
    const { question, collector } = this.#decided
    if (part.self && collector.nodes[number]?.object === question.subject) return none
    let set = all
    for (const { node, without } of this.#edits.supports(part, formula, number)) {
      this.#reads++
      const support = node === undefined ? none : this.#blocksOf(node)
      set &= without === undefined ? support : support | bitOf(without)
      if (set === none) return none
    }
    formula.parts.forEach((inner, at) => {
      if (set !== none) set &= this.#block(part.branches[at] as ProgramPart, inner, number)
    })
    return set
  }

  #blocksOf(number: number): EditSet {
    const formula = this.#decided.collector.nodes[number]?.formula
    // A node that was not collected did not matter; trying the edit shows whether the rest is enough.
    if (formula === undefined || this.#settled.fails(formula)) return all
    if (!this.#wanted.has(number)) this.#fresh.push(number)
    this.#wanted.add(number)
    return this.#blocks.get(number) ?? this.#unknown
  }
}

function bitOf({ edits: [edit] }: Repair): EditSet {
  return edit === undefined ? none : 1n << BigInt(edit.id)
}
