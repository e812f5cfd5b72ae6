import { NodeTable } from "./node-table.ts"
import type { AnyPart, ProgramPart } from "./program.ts"
import { type EngineQuestion, isError, isFalse, isMiss, isTrue } from "./question.ts"

/** Truth values in order: false < error < true. So union is the maximum, intersection the minimum, and negation the mirror image. */
export const no = 0
export const unsure = 1
export const yes = 2

/** A node's part with its tuples filled in. `refs` are node numbers; a ref under an edge with an error counts as an error at most. */
export type Formula =
  | { op: "any"; value: number; problem: number; refs: number[]; unsureRefs: number[]; parts: Formula[] }
  | { op: "all"; parts: Formula[] }
  | { op: "but"; base: Formula; subtract: Formula }

export interface FixpointNode {
  readonly object: number
  readonly relation: number
  /** Least number of hops from the question's node. */
  depth: number
  formula: Formula | undefined
  readonly dependents: number[]
}

/**
 * The slow path, exact for every graph. It collects all nodes that the question depends on, and computes their well-founded model by the
 * alternating fixpoint of Van Gelder. What remains undefined (a cycle through negation) is denied. Errors are a third truth value between
 * false and true, with the same monotonicity. A node more than `depthMax` hops away by the shortest path is an error, so that the answer
 * does not depend on the order of evaluation.
 *
 * Yields now and then. Returns a truth value of question.ts, with `question.problem` for an error. Returns a miss when a collected node was
 * not in memory; `question.misses` then contains everything that was missing.
 */
export function* fixpoint(
  question: EngineQuestion,
  object: number,
  relation: number,
  depthMax: number,
): Generator<void, number> {
  const solution = yield* fixpointOfAll(question, [object, relation], depthMax)
  const value = solution?.value(0) ?? isMiss
  if (value === isError) question.problem = solution?.problem(0) ?? -1
  return value
}

/** The result of each node, by its position in the list of requested nodes. */
export interface Solution {
  /** True, false or error. */
  value(at: number): number
  /** The problem of an error. */
  problem(at: number): number
}

/**
 * The same for many nodes at once, given as pairs of object and relation; undefined when something was not in memory. A node's distance is
 * the one from the nearest of them.
 */
export function* fixpointOfAll(
  question: EngineQuestion,
  roots: readonly number[],
  depthMax: number,
): Generator<void, Solution | undefined> {
  const collector = new Collector(question, depthMax)
  const numbers = yield* collector.collect(roots)
  if (collector.missed) return undefined
  const solver = new Solver(collector.nodes, question)
  const values = yield* solver.solve()
  return {
    value: (at) => {
      const value = values[numbers[at] as number]
      return value === yes ? isTrue : value === unsure ? isError : isFalse
    },
    problem: (at) => solver.problemOf(numbers[at] as number),
  }
}

/** The nodes that a question depends on, with their tuples filled in. */
export class Collector {
  readonly nodes: FixpointNode[] = []
  missed = false
  readonly #question: EngineQuestion
  readonly #depthMax: number
  readonly #nodesMax: number
  readonly #numbers = new NodeTable()
  #level: number[] = []
  #next: number[] = []

  constructor(question: EngineQuestion, depthMax: number, nodesMax = Number.POSITIVE_INFINITY) {
    this.#question = question
    this.#depthMax = depthMax
    this.#nodesMax = nodesMax
  }

  /** There were more nodes than allowed, so only a part is collected. */
  get overflowed(): boolean {
    return this.nodes.length > this.#nodesMax
  }

  /** The number of a node; -1 when it was not collected. */
  numberOf(object: number, relation: number): number {
    const at = this.#numbers.find(object, relation)
    return at < 0 ? -1 : this.#numbers.state(at)
  }

  /**
   * Collects level by level, so that each node is opened at its least depth; computed relations of one object stay on its level. Returns
   * the numbers of the requested nodes.
   */
  *collect(roots: readonly number[]): Generator<void, number[]> {
    const numbers: number[] = []
    for (let at = 0; at < roots.length; at += 2)
      numbers.push(this.#number(roots[at] as number, roots[at + 1] as number, 0, -1))
    let depth = 0
    while (this.#level.length > 0) {
      for (let at = 0; at < this.#level.length; at++) {
        const number = this.#level[at] as number
        const node = this.nodes[number] as FixpointNode
        if (node.formula !== undefined) continue
        node.depth = depth
        yield* this.#open(node, number)
        yield
        if (!this.overflowed) continue
        // These nodes have unknown values. Results that follow from the other nodes alone stay true.
        for (const waiting of this.nodes) waiting.formula ??= constant(unsure, -1)
        return numbers
      }
      this.#level = this.#next
      this.#next = []
      depth++
    }
    return numbers
  }

  #number(object: number, relation: number, hops: number, dependent: number): number {
    const known = this.#numbers.find(object, relation)
    let number: number
    if (known >= 0) number = this.#numbers.state(known)
    else {
      number = this.nodes.length
      this.#numbers.add(object, relation, number, 0)
      this.nodes.push({ object, relation, depth: -1, formula: undefined, dependents: [] })
    }
    const node = this.nodes[number] as FixpointNode
    // A node that waits for the next level may still be reached on this one.
    if (node.formula === undefined && (known < 0 || hops === 0))
      (hops === 0 ? this.#level : this.#next).push(number)
    if (dependent >= 0) node.dependents.push(dependent)
    return number
  }

  *#open(node: FixpointNode, number: number): Generator<void> {
    const { program, subject } = this.#question
    this.#question.steps++
    if (node.depth > this.#depthMax) {
      node.formula = constant(unsure, this.#question.tooDeepProblem())
      return
    }
    const part = program.parts[node.relation]
    if (node.relation === program.own && node.object === subject) node.formula = constant(yes, -1)
    else node.formula = part === undefined ? constant(no, -1) : yield* this.#part(part, node.object, number)
  }

  *#part(part: ProgramPart, object: number, number: number): Generator<void, Formula> {
    if (part.op === "any") return yield* this.#any(part, object, number)
    if (part.op === "but") {
      const base = yield* this.#part(part.base, object, number)
      return { op: "but", base, subtract: yield* this.#part(part.subtract, object, number) }
    }
    const parts: Formula[] = []
    for (const child of part.children) parts.push(yield* this.#part(child, object, number))
    return { op: "all", parts }
  }

  *#any(part: AnyPart, object: number, number: number): Generator<void, Formula> {
    const question = this.#question
    const direct = question.tests(object, part)
    if (direct === isTrue) return constant(yes, -1)
    if (direct === isMiss) this.missed = true
    const formula = constant(direct === isError ? unsure : no, question.problem)
    for (const relation of part.refs) formula.refs.push(this.#number(object, relation, 0, number))
    for (const hop of part.hops) {
      if (!question.open(object, hop.slot)) {
        this.missed = true
        continue
      }
      const ids = question.list.slice(question.listStart, question.listEnd)
      for (let at = 0; at < ids.length; at++) {
        const other = ids[at] as number
        let edge = isTrue
        if (hop.condition !== undefined)
          edge = question.edge(object, question.slots[hop.slot] as number, other, hop.condition)
        question.steps++
        if (edge === isFalse) continue
        const refs = edge === isTrue ? formula.refs : formula.unsureRefs
        if (edge !== isTrue) formula.problem = question.worse(formula.problem, question.problem)
        refs.push(this.#number(other, hop.target, 1, number))
        if ((at & 255) !== 255) continue
        yield
        if (!this.overflowed) continue
        // The unread rest of the list may contain anything.
        formula.value = Math.max(formula.value, unsure)
        break
      }
    }
    for (const branch of part.branches) formula.parts.push(yield* this.#part(branch, object, number))
    return formula
  }
}

function constant(value: number, problem: number): Extract<Formula, { op: "any" }> {
  return { op: "any", value, problem, refs: [], unsureRefs: [], parts: [] }
}

/** The well-founded model of collected nodes. */
export class Solver {
  readonly #nodes: readonly FixpointNode[]
  readonly #question: EngineQuestion
  #low: Uint8Array
  #high: Uint8Array
  /** Per node: the round in which it was found true, and the one in which it was ruled out; 0: in none. */
  readonly trueRound: Int32Array
  readonly falseRound: Int32Array
  /** Per node found true: its position among the true nodes. The nodes that it depends on come before it. */
  readonly trueOrder: Int32Array
  #found = 0

  constructor(nodes: readonly FixpointNode[], question: EngineQuestion) {
    this.#nodes = nodes
    this.#question = question
    this.#low = new Uint8Array(nodes.length)
    this.#high = this.#low
    this.trueRound = new Int32Array(nodes.length)
    this.falseRound = new Int32Array(nodes.length)
    this.trueOrder = new Int32Array(nodes.length)
  }

  /** `yes` for true; `unsure` for true unless an error decides otherwise. */
  truth(formula: Formula): number {
    return this.#value(formula, this.#low, this.#high)
  }

  /** `no` for false; a node that is neither true nor false is possible. */
  possible(formula: Formula): number {
    return this.#value(formula, this.#high, this.#low)
  }

  /** Values of all nodes in the limit of the underestimates. */
  *solve(): Generator<void, Uint8Array> {
    for (let round = 1; ; round++) {
      this.#high = yield* this.#least(this.#low, 0)
      for (let at = 0; at < this.#high.length; at++)
        if (this.#high[at] === no && this.falseRound[at] === 0) this.falseRound[at] = round
      const low = yield* this.#least(this.#high, round)
      if (low.every((value, at) => value === this.#low[at])) return low
      this.#low = low
    }
  }

  /**
   * The least model when nodes under a negation are read from `fixed`. `round` is the number of an underestimate, 0 for an overestimate.
   */
  *#least(fixed: Uint8Array, round: number): Generator<void, Uint8Array> {
    const values = new Uint8Array(this.#nodes.length)
    const dirty = new Uint8Array(this.#nodes.length).fill(1)
    for (let changed = true; changed; ) {
      changed = false
      // Nodes were collected from the question outwards, so in reverse order most dependencies come first.
      for (let at = this.#nodes.length - 1; at >= 0; at--) {
        if ((at & 255) === 0) yield
        if (dirty[at] === 0 || values[at] === yes) continue
        dirty[at] = 0
        const { formula, dependents } = this.#nodes[at] as FixpointNode
        const value = this.#value(formula as Formula, values, fixed)
        if (value === values[at]) continue
        values[at] = value
        if (value === yes && round > 0 && this.trueRound[at] === 0) this.#foundTrue(at, round)
        changed = true
        this.#question.steps += dependents.length
        for (const dependent of dependents) dirty[dependent] = 1
      }
    }
    return values
  }

  #foundTrue(at: number, round: number): void {
    this.trueRound[at] = round
    this.trueOrder[at] = ++this.#found
  }

  #value(formula: Formula, values: Uint8Array, fixed: Uint8Array): number {
    if (formula.op === "all") {
      let least = yes
      for (const part of formula.parts) least = Math.min(least, this.#value(part, values, fixed))
      return least
    }
    if (formula.op === "but") {
      const base = this.#value(formula.base, values, fixed)
      // A subtraction swaps the sides: a node that is subtracted twice is positive again.
      return Math.min(base, yes - this.#value(formula.subtract, fixed, values))
    }
    let greatest = formula.value
    this.#question.steps += formula.refs.length
    for (const ref of formula.refs) {
      if (greatest === yes) return yes
      greatest = Math.max(greatest, values[ref] as number)
    }
    for (const ref of formula.unsureRefs)
      greatest = Math.max(greatest, Math.min(unsure, values[ref] as number))
    for (const part of formula.parts) greatest = Math.max(greatest, this.#value(part, values, fixed))
    return greatest
  }

  /** The problem to report for a node with an error: the worst one found along nodes that have, or under a negation may have, an error. */
  problemOf(root: number): number {
    let worst = -1
    const seen = new Set([root])
    for (const number of seen) {
      const formulas: Formula[] = [this.#nodes[number]?.formula as Formula]
      for (let formula = formulas.pop(); formula !== undefined; formula = formulas.pop()) {
        if (formula.op === "all") formulas.push(...formula.parts)
        else if (formula.op === "but") formulas.push(formula.base, formula.subtract)
        else {
          worst = this.#question.worse(worst, formula.problem)
          for (const ref of [...formula.refs, ...formula.unsureRefs])
            if (this.#low[ref] === unsure || this.#high[ref] === unsure) seen.add(ref)
          formulas.push(...formula.parts)
        }
      }
    }
    return worst
  }
}
