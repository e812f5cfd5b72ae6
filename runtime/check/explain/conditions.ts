import { type Formula, no, unsure } from "../evaluate/fixpoint.ts"
import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import { isTrue } from "../evaluate/question.ts"
import type { ConditionedTuple } from "../ports.ts"
import type { Decided } from "./proof.ts"
import { seen, type TuplePlace, tupleIn } from "./tuples.ts"

const conditionsMax = 20
const nodesMax = 2_000
const listMax = 1_000

/**
 * Sorted names of all values that could decide a question that ended in an error: those missing in tuples' conditions, along nodes and
 * operands with errors. With all of them the question has a result, unless a condition fails for another reason.
 */
export function missingNames(decided: Decided): readonly string[] {
  const walk = new UnsureWalk(decided)
  walk.visit(0, false)
  return [...walk.names].sort()
}

class UnsureWalk {
  readonly names = new Set<string>()
  readonly #decided: Decided
  readonly #seen = new Set<number>()
  readonly #waiting: [number: number, negated: boolean][] = []

  constructor(decided: Decided) {
    this.#decided = decided
  }

  visit(number: number, negated: boolean): void {
    this.#meet(number, negated)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      const node = this.#decided.collector.nodes[next[0]]
      const part = this.#decided.question.program.parts[node?.relation ?? -1]
      if (node?.formula !== undefined && part !== undefined)
        this.#part(part, node.formula, node.object, next[1])
    }
  }

  /** Under a negation, use the possible value. */
  #value(formula: Formula, negated: boolean): number {
    const { solver } = this.#decided
    return negated ? solver.possible(formula) : solver.truth(formula)
  }

  #meet(number: number, negated: boolean): void {
    const formula = this.#decided.collector.nodes[number]?.formula
    const key = 2 * number + (negated ? 1 : 0)
    if (formula === undefined || this.#seen.has(key) || this.#value(formula, negated) !== unsure) return
    this.#seen.add(key)
    this.#waiting.push([number, negated])
  }

  #part(part: ProgramPart, formula: Formula, object: number, negated: boolean): void {
    if (this.#value(formula, negated) !== unsure) return
    if (part.op === "all" && formula.op === "all")
      part.children.forEach((child, at) => {
        this.#part(child, formula.parts[at] as Formula, object, negated)
      })
    else if (part.op === "but" && formula.op === "but") {
      this.#part(part.base, formula.base, object, negated)
      this.#part(part.subtract, formula.subtract, object, !negated)
    } else if (part.op === "any" && formula.op === "any") {
      this.#any(part, object, negated)
      for (const ref of [...formula.refs, ...formula.unsureRefs]) this.#meet(ref, negated)
      part.branches.forEach((branch, at) => {
        const inner = formula.parts[at]
        if (inner !== undefined) this.#part(branch, inner, object, negated)
      })
    }
  }

  #any(part: AnyPart, object: number, negated: boolean): void {
    const { question, collector } = this.#decided
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      if (question.has(object, question.slots[test.slot] as number, other) === isTrue)
        this.#tuple(test, object, other)
    }
    for (const hop of part.hops) {
      if (hop.condition === undefined || !question.open(object, hop.slot)) continue
      for (const other of question.list.slice(question.listStart, question.listEnd)) {
        const formula = collector.nodes[collector.numberOf(other, hop.target)]?.formula
        if (formula !== undefined && this.#value(formula, negated) !== no) this.#tuple(hop, object, other)
      }
    }
  }

  #tuple({ slot, condition }: TuplePlace, object: number, other: number): void {
    const { question } = this.#decided
    if (condition === undefined) return
    const stored = question.storedContext(object, question.slots[slot] as number, other)
    const outcome = question.judge(condition, stored)
    if (typeof outcome === "object" && "missing" in outcome)
      for (const name of outcome.missing) this.names.add(name)
  }
}

/** Tuples that do not count because of their condition, where the node they lead to might have held; nearest first. */
export function untrueConditions({ question, collector, solver }: Decided): ConditionedTuple[] {
  const found: ConditionedTuple[] = []
  const take = ({ slot, condition }: TuplePlace, object: number, other: number) => {
    if (condition === undefined || found.length >= conditionsMax) return
    if (question.has(object, question.slots[slot] as number, other) !== isTrue) return
    const stored = question.storedContext(object, question.slots[slot] as number, other)
    const said = seen(question, condition, stored)
    if (said.outcome !== "true")
      found.push({ tuple: tupleIn(question, slot, object, other), condition: said })
  }
  for (const { object, relation } of collector.nodes.slice(0, nodesMax)) {
    for (const { tests, hops } of anyPartsOf(question.program.parts[relation])) {
      for (const test of tests) take(test, object, test.wildcard ? question.wildcard : question.subject)
      for (const hop of hops) {
        if (hop.condition === undefined || !question.open(object, hop.slot)) continue
        const end = Math.min(question.listEnd, question.listStart + listMax)
        for (const other of question.list.slice(question.listStart, end)) {
          const formula = collector.nodes[collector.numberOf(other, hop.target)]?.formula
          // A tuple with a false condition was not followed.
          if (formula === undefined || solver.possible(formula) !== no) take(hop, object, other)
        }
      }
    }
    if (found.length >= conditionsMax) break
  }
  return found
}

/** The parts with tuples of their own. */
function anyPartsOf(root: ProgramPart | undefined): AnyPart[] {
  const found: AnyPart[] = []
  const parts = root === undefined ? [] : [root]
  for (const part of parts) {
    if (part.op === "all") parts.push(...part.children)
    else if (part.op === "but") parts.push(part.base, part.subtract)
    else {
      found.push(part)
      parts.push(...part.branches)
    }
  }
  return found
}
