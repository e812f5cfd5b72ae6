import type { Formula } from "../evaluate/fixpoint.ts"
import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import { type AnyFormula, Edits } from "./edits.ts"
import { ReachedPlaces } from "./places.ts"
import type { Decided } from "./proof.ts"
import { Settled } from "./settled.ts"
import { Singles } from "./singles.ts"
import { already, distinct, type Edit, type Repair, sameRepairs, Ways } from "./ways.ts"

/** Maximum steps of the search for edits that make something false. */
const blockStepsMax = 3_000
/** Maximum single tuples listed for the question's node. */
const singlesMax = 64
/** Single tuples of each other node that are candidates, in addition to combined repairs. */
const singlesOfNode = 8

/** The nodes that are already being broken further up. */
type Path = ReadonlySet<number>

const nowhere: Path = new Set()
const pathMax = 20

/**
 * Proposes tuples to write or delete so that a node becomes true, read from its formulas. It ignores side effects of a proposal, so each
 * one must be tried.
 */
export class Repairs {
  readonly #decided: Decided
  readonly #settled: Settled
  readonly #places: ReachedPlaces
  readonly #edits: Edits
  readonly #singles: Singles
  readonly #ways = new Ways()
  readonly #needs: (readonly Repair[])[] = []
  #blockSteps = 0
  #cut = false

  /** `edits` contains the edits that already have ids; `holds` tells whether the user has a relation on an object. */
  constructor(
    decided: Decided,
    edits: Map<string, Edit>,
    holds: (object: number, relation: number) => boolean,
  ) {
    this.#decided = decided
    this.#settled = new Settled(decided.solver)
    this.#places = new ReachedPlaces(decided.question, holds)
    this.#edits = new Edits(decided, this.#places, edits)
    this.#singles = new Singles(decided, this.#settled, this.#edits)
  }

  /** Something was omitted because there was too much. */
  get cut(): boolean {
    return [this.#ways, this.#places, this.#edits, this.#singles].some(({ cut }) => cut) || this.#cut
  }

  /** The best repairs of a node, and every single tuple that is enough up to the limit; best first. */
  *of(number: number): Generator<void, readonly Repair[]> {
    yield* this.#singles.solve()
    yield* this.#solve()
    const singles = this.#singles.needs(number)
    if (singles.length > singlesMax) this.#cut = true
    return distinct([...(this.#needs[number] ?? []), ...singles.slice(0, singlesMax)])
  }

  *#solve(): Generator<void> {
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
          return
        }
        dirty[at] = 0
        const found = this.#node(at)
        if (sameRepairs(found, this.#needs[at] ?? [])) continue
        this.#needs[at] = found
        changed = true
        for (const dependent of nodes[at]?.dependents ?? []) dirty[dependent] = 1
      }
    }
  }

  #node(number: number): readonly Repair[] {
    const { question, collector } = this.#decided
    const { relation, formula } = collector.nodes[number] as (typeof collector.nodes)[number]
    const part = question.program.parts[relation]
    if (part === undefined || formula === undefined) return []
    if (this.#settled.holds(formula)) return already
    const found = this.#need(part, formula, number, nowhere)
    return this.#withSingles(found, this.#singles.needs(number))
  }

  #withSingles(found: readonly Repair[], singles: readonly Repair[]): readonly Repair[] {
    return singles.length === 0 ? found : this.#ways.best([...found, ...singles.slice(0, singlesOfNode)])
  }

  #need(part: ProgramPart, formula: Formula, number: number, path: Path): readonly Repair[] {
    if (this.#settled.holds(formula)) return already
    if (part.op === "all" && formula.op === "all") {
      let found = already
      part.children.forEach((child, at) => {
        if (found.length > 0)
          found = this.#ways.both(found, this.#need(child, formula.parts[at] as Formula, number, path))
      })
      return found
    }
    if (part.op === "but" && formula.op === "but") {
      const base = this.#need(part.base, formula.base, number, path)
      if (base.length === 0) return base
      return this.#ways.both(base, this.#block(part.subtract, formula.subtract, number, path))
    }
    return part.op === "any" && formula.op === "any" ? this.#needAny(part, formula, number, path) : []
  }

  #needAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): readonly Repair[] {
    const found = [...this.#edits.adding(part, formula, number)]
    for (const refs of [formula.refs, formula.unsureRefs])
      for (const ref of refs) found.push(...(this.#needs[ref] ?? []))
    part.branches.forEach((branch, at) => {
      const inner = formula.parts[at]
      if (inner !== undefined) found.push(...this.#need(branch, inner, number, path))
    })
    return this.#ways.best(found)
  }

  /** Repairs that make a part false: they must remove every way in which it can be true. `path` contains the nodes in progress. */
  #block(part: ProgramPart, formula: Formula, number: number, path: Path): readonly Repair[] {
    if (this.#settled.fails(formula)) return already
    if (++this.#blockSteps > blockStepsMax) {
      this.#cut = true
      return []
    }
    if (part.op === "all" && formula.op === "all")
      return this.#ways.best(
        part.children.flatMap((child, at) => this.#block(child, formula.parts[at] as Formula, number, path)),
      )
    if (part.op === "but" && formula.op === "but")
      return this.#ways.best([
        ...this.#block(part.base, formula.base, number, path),
        ...this.#need(part.subtract, formula.subtract, number, path),
      ])
    return part.op === "any" && formula.op === "any" ? this.#blockAny(part, formula, number, path) : []
  }

  #blockAny(part: AnyPart, formula: AnyFormula, number: number, path: Path): readonly Repair[] {
    const { question, collector } = this.#decided
    if (part.self && collector.nodes[number]?.object === question.subject) return []
    let found = already
    for (const { node, without } of this.#edits.supports(part, formula, number)) {
      const target = node === undefined ? [] : this.#blockNode(node, path)
      if (target === already) continue
      found = this.#ways.both(found, without === undefined ? target : this.#ways.best([without, ...target]))
      if (found.length === 0) return found
    }
    for (let at = 0; at < formula.parts.length; at++) {
      const inner = this.#block(part.branches[at] as ProgramPart, formula.parts[at] as Formula, number, path)
      found = this.#ways.both(found, inner)
      if (found.length === 0) return found
    }
    return found
  }

  /** A node that is already being broken further up gives no support of its own. */
  #blockNode(number: number, path: Path): readonly Repair[] {
    const { collector, question } = this.#decided
    const node = collector.nodes[number]
    const part = node === undefined ? undefined : question.program.parts[node.relation]
    if (node?.formula === undefined || path.has(number) || this.#settled.fails(node.formula)) return already
    if (part === undefined || (node.relation === question.program.own && node.object === question.subject))
      return []
    const singles = this.#singles.blocks(number)
    if (path.size >= pathMax) {
      this.#cut = true
      return this.#withSingles([], singles)
    }
    const found = this.#block(part, node.formula, number, new Set([...path, number]))
    return found === already ? found : this.#withSingles(found, singles)
  }
}
